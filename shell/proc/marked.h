/* Processes that are known by a variable of the environment that they were started with (proc_pid_environ(5)). */
#pragma once

#include <stdint.h>

/*
 * Send KILL to each that has a variable, until there is none, or ms have passed: mark is NAME=VALUE, of at most MARKED_MAX bytes.
 * Processes whose environment cannot be read are skipped, and so is this one. Reads all of /proc: for threads.
 */
#define MARKED_MAX 8192u
void marked_kill(const char *mark, uint64_t ms);

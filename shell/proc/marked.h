/* Processes that are known by a variable of the environment that they were started with (proc_pid_environ(5)). */
#pragma once

#include <stddef.h>

/*
 * Send KILL to each that has a variable: mark is NAME=VALUE, of at most MARKED_MAX bytes. Processes whose environment cannot be
 * read are skipped, and so is this one. Returns how many there were: those that are killed are there for a moment still. Reads
 * all of /proc: for threads.
 */
#define MARKED_MAX 8192u
size_t marked_kill(const char *mark);

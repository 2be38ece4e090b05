/* Processes that are known by a variable of the environment that they were started with (proc_pid_environ(5)). */
#pragma once

#include <stddef.h>

/*
 * Send KILL to each that has a variable: mark is NAME=VALUE. Of those that may not be looked at nothing is known. Returns how
 * many there were: those that are killed are there for a moment still. Reads all of /proc: for threads.
 */
size_t marked_kill(const char *mark);

/* Kills processes by a variable of their initial environment (proc_pid_environ(5)). */
#pragma once

#include <stdint.h>

#define MARKED_MAX 8192u /* bytes of a mark */

/*
 * Send SIGKILL to all processes that have the variable, until none is left or ms have passed. mark:
 * NAME=VALUE of at most MARKED_MAX bytes. Skips this process, and any environment that it cannot
 * read. Reads all of /proc: call it on a thread.
 */
void marked_kill(const char *mark, uint64_t ms);

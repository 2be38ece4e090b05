/* What /proc says about processes, and children that a benchmark starts. A failure ends the benchmark. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Say what failed, with errno if it is set, and end the benchmark with status 1. */
_Noreturn void die(const char *what);

/* CPU time of all threads so far, in seconds. */
double process_cpu(pid_t pid);

pid_t process_parent(pid_t pid);

/* A field of /proc/PID/smaps_rollup or status in KiB, such as "Pss:" or "VmPTE:". */
double process_kib(pid_t pid, const char *file, const char *field);

/* What a memfd of that name takes that the process has open, in KiB; 0 when it has none. */
double process_memfd_kib(pid_t pid, const char *name);

/* A child that dies with the benchmark. fork(), to be called as such. */
pid_t process_fork(void);

/* Kill and reap a child. */
void process_kill(pid_t pid);

/* Start program on a PTY of 24 x 80 as a shell would be started. Returns its pid. */
pid_t process_on_pty(const char *program, int *ret_master);

/* Read the PTY until text has come, and throw that away. */
void process_expect(int master, const char *text);

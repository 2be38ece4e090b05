/* Figures of processes from /proc, and children of a benchmark. A failure ends the benchmark. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Print what failed, with errno if it is set, and exit with status 1. */
_Noreturn void die(const char *what);

/* CPU time of all threads so far, in seconds. */
double process_cpu(pid_t pid);

pid_t process_parent(pid_t pid);

/* A field of /proc/PID/smaps_rollup or status in KiB, such as "Pss:" or "VmPTE:". */
double process_kib(pid_t pid, const char *file, const char *field);

/* The memory of a memfd that the process has open, in KiB; 0 if it has none of that name. */
double process_memfd_kib(pid_t pid, const char *name);

/* Fork a child that dies with the benchmark. Returns as fork(). */
pid_t process_fork(void);

/* Kill and reap a child. */
void process_kill(pid_t pid);

/* Start a program on a PTY of 24 x 80, as a shell is started. Returns its pid. */
pid_t process_on_pty(const char *program, int *ret_master);

/* Read from the PTY until text has come, and discard the output. */
void process_expect(int master, const char *text);

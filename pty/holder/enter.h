/* --enter, see pty/enter.h, and the part of it that starts of shells and commands share. */
#pragma once

#include "pty/enter.h"

#include <stdint.h>

/* Control group and resource limits of a process, see setrlimit(2). 0 = no limit. */
struct enter_limits {
	int group_fd;    /* cgroup.procs of the control group, borrowed; -1: keep the current one */
	uint64_t tasks;  /* RLIMIT_NPROC: all processes and threads of the user; root is exempt */
	uint64_t memory; /* RLIMIT_AS: bytes of address space of each process */
};

/* Apply the limits to this process. Async-signal-safe. Returns 0 or a negative errno. */
int enter_limits(const struct enter_limits *limits);

/* Keep only the hidden environment variables and remove their prefix. Async-signal-safe. */
void enter_unhide_environment(void);

/* Run --enter. argv[0] is ENTER_OPTION, its arguments follow. */
_Noreturn void enter(int argc, char **argv);

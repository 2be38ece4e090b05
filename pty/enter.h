/*
 * Sets control group, limits and user of a process and then executes a program. posix_spawn(3)
 * cannot do this, so ringside-holder does, when it is executed as
 *
 *   ringside-holder --enter [--group FD] [--tasks N] [--memory BYTES] [--cwd DIR]
 *       [--user UID --gid GID [--groups GID,...]] [--show] -- PROGRAM ARGUMENT...
 *
 * On failure it prints the reason and exits with ENTER_EXIT.
 *
 * Hidden environment variables: a client's variables travel with the prefix ENTER_HIDDEN_PREFIX, so that
 * they (LD_PRELOAD, say) have no effect on the programs in between, which still have the server's
 * rights or are not yet in the sandbox. With --show, PROGRAM gets the hidden variables, without the
 * prefix, and no other ones.
 */
#pragma once

#include <stdint.h>

#define ENTER_OPTION "--enter"
#define ENTER_HIDDEN_PREFIX "ringside." /* no loader or library reads such names */
#define ENTER_EXIT 126

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

/*
 * What a program is before it begins: in a control group, within limits, of another user. posix_spawn(3) knows none of
 * this, so the holder's own program does it, when it is started as
 *
 *   ringside-holder --enter [--group FD] [--tasks N] [--memory BYTES] [--cwd DIR]
 *       [--user UID --gid GID [--groups GID,...]] [--show] -- PROGRAM ARGUMENT...
 *
 * and becomes that program, or says why not and ends with ENTER_EXIT. With --show the program gets those variables whose
 * names begin with ENTER_HIDDEN, without that, and no others. Until then what a driver has set means nothing to any program
 * on the way: not to one that still has our rights, nor to one that is not yet in its sandbox.
 */
#pragma once

#include <stdint.h>

#define ENTER_OPTION "--enter"
#define ENTER_HIDDEN "ringside." /* no loader or library looks for such names */
#define ENTER_EXIT 126

/* Limits where there are no control groups, see setrlimit(2). 0 = none. */
struct enter_limits {
	int group_fd; /* cgroup.procs of a control group, not closed; -1: stay where we are */
	uint64_t tasks; /* RLIMIT_NPROC: processes and threads of the user, all together; binds no root */
	uint64_t memory; /* RLIMIT_AS: bytes of address space, of each process */
};

/* Have this process and its children within them. Only async-signal-safe calls. Returns 0 or a negative errno. */
int enter_limits(const struct enter_limits *limits);

/* Replace the environment by what is hidden in it, under its own names. Async-signal-safe. */
void enter_show_environment(void);

/* argv: ENTER_OPTION, and what stands behind it. */
_Noreturn void enter(int argc, char **argv);

/*
 * Starting a holder: posix_spawn (a fork of a big server takes tens of ms), everything prepared before, and
 * nothing inherited but the directory and the report pipe.
 */
#pragma once

#include "pty/wire.h"

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SPAWN_DIR_FD 3 /* the directory, in the holder */
#define SPAWN_FILTER_FD \
	11 /* what bwrap reads its filter of system calls from; above enum wire_place */
#define SPAWN_GROUP_FD 12 /* what a process writes "0" to, to be in its control group */

#define SPAWN_WRAPPER_MAX 400 /* words */

/* What a new session is to be. All strings are borrowed for the call. */
struct spawn_options {
	const char *holder;  /* path of ringside-holder */
	int dir_fd;          /* the session's directory, existing and empty */
	const char *cwd;     /* absolute */
	char *const *argv;   /* the shell and its arguments */
	char *const *envp;   /* the shell's environment, hidden: see pty/enter.h */
	unsigned rows, cols; /* 1 to 1000 */
	size_t ring_size;    /* bytes */
	size_t control_size; /* bytes */
	unsigned ttl_s;      /* 0 = for ever */
	long nofile;         /* soft limit of descriptors for the shell; 0 = as the server's */
	char *const *wrapper; /* what the shell is started by, up to a starter; NULL: the holder starts it */
	uid_t owner;          /* whose the shell is */
	int filter_fd; /* what the wrapper gets as SPAWN_FILTER_FD, to be read from its beginning; 0: nothing */
	int group_fd; /* cgroup.procs of the group that the shell is to be in; 0: the holder's */
	uint64_t tasks, memory; /* limits of the shell, as ENTER_TASKS and ENTER_MEMORY; 0 = none */
	bool respawn;           /* a new shell when it ends: see pty/wire.h */
	bool no_flow;           /* Ctrl-S and Ctrl-Q do not stop and start its terminal */
};

/*
 * Start a holder. *ret_report_fd becomes readable when it is ready or has failed: one struct report, or
 * end of file if it died before; it is the caller's to close.
 * Returns 0, or a negative errno and nothing is left.
 */
int spawn_holder(const struct spawn_options *options, pid_t *ret_pid, int *ret_report_fd);

/*
 * Fill in what all that we start has: a session of its own, no blocked signals, every disposition the default
 * (libwebsockets ignores SIGPIPE). Returns 0 or a negative errno.
 */
int spawn_attributes(posix_spawnattr_t *attributes);

/*
 * Put the words of a wrapper (NULL: none) in front of a command, which is to follow; argv has room for SPAWN_WRAPPER_MAX. They
 * stay the wrapper's. Returns how many, or -E2BIG.
 */
int spawn_wrap(char **argv, char *const *wrapper);

/*
 * Have a child get what a wrapper wants, and nothing else from first on: the file as SPAWN_FILTER_FD, from its beginning, and
 * group_fd as SPAWN_GROUP_FD (0: none). Returns 0 or an errno, as posix_spawn does.
 */
int spawn_lend(posix_spawn_file_actions_t *actions, int first, int filter_fd, int group_fd);

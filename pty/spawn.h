/*
 * Starts a holder with posix_spawn, because a fork of a big server takes tens of ms. The holder
 * inherits only the descriptors below and the report pipe.
 */
#pragma once

#include "pty/wire.h"

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The session's directory in the holder. */
#define SPAWN_DIR_FD 3
/* The seccomp filter that bwrap reads; above enum wire_fixed_fd. */
#define SPAWN_FILTER_FD 11
/* cgroup.procs: a process that writes "0" there joins the control group. */
#define SPAWN_GROUP_FD 12
/* Our copies of a child's descriptors lie above, so that dup2 in the child overwrites none. */
#define SPAWN_FIRST_FREE_FD 16
/* Most words of a wrapper. */
#define SPAWN_WRAPPER_MAX 400

/* What to start. All pointers and descriptors are borrowed for the call. */
struct spawn_options {
	const char *holder;   /* path of ringside-holder */
	int dir_fd;           /* the session's directory, existing and empty */
	const char *cwd;      /* absolute */
	char *const *argv;    /* the shell and its arguments */
	char *const *envp;    /* the shell's environment, hidden: see pty/enter.h */
	unsigned rows, cols;  /* 1 to 1000 */
	size_t ring_size;     /* bytes */
	size_t control_size;  /* bytes */
	unsigned ttl_s;       /* seconds to keep an ended session; 0 = for ever */
	long nofile;          /* soft limit of descriptors for the shell; 0 = the server's */
	char *const *wrapper; /* words that execute a starter; NULL: the holder starts the shell */
	uid_t owner;          /* user of the shell */
	int filter_fd;        /* the wrapper's SPAWN_FILTER_FD, read from offset 0; 0: none */
	int group_fd;         /* cgroup.procs of the shell's control group; 0: the holder's */
	uint64_t tasks, memory; /* limits of the shell, see struct enter_limits; 0 = none */
	bool respawn;           /* start a new shell when one ends: see pty/wire.h */
	bool no_flow;           /* Ctrl-S and Ctrl-Q do not stop and start the terminal */
};

/*
 * Start a holder. *ret_report_fd, owned by the caller, becomes readable when the holder is ready or
 * has failed: one struct report, or end of file if the holder died before. Returns 0, or a negative
 * errno and nothing is left.
 */
int spawn_holder(const struct spawn_options *options, pid_t *ret_pid, int *ret_report_fd);

/*
 * Start a program with its own kernel session, no blocked signals and default signal actions
 * (libwebsockets ignores SIGPIPE). fill adds its file actions and returns 0 or a negative errno.
 * Returns 0 or a negative errno.
 */
int spawn_program(const char *program, char *const *argv, char *const *envp,
	int (*fill)(posix_spawn_file_actions_t *actions, const void *user), const void *user,
	pid_t *ret_pid);

/*
 * Move fd to SPAWN_FIRST_FREE_FD or above. Takes fd; if it is negative, errno says why. Returns the
 * descriptor or a negative errno.
 */
int spawn_move_fd_high(int fd);

/*
 * Copy the words of a wrapper (NULL: none) to argv, which has space for SPAWN_WRAPPER_MAX; the
 * strings are borrowed. Returns the number of words, or -E2BIG.
 */
int spawn_wrap(char **argv, char *const *wrapper);

/*
 * Add actions that close all descriptors from first on, except that filter_fd is reopened at its
 * beginning as SPAWN_FILTER_FD and group_fd becomes SPAWN_GROUP_FD (0: none). Returns 0 or a
 * positive errno, as posix_spawn(3) does.
 */
int spawn_add_fds(posix_spawn_file_actions_t *actions, int first, int filter_fd, int group_fd);

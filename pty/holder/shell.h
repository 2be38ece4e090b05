/*
 * Starting a shell on the slave of a terminal: fork, a session with that terminal, exec. The holder does it, and the
 * starter where the holder cannot be the parent of a shell.
 */
#pragma once

#include "pty/enter.h"
#include "pty/wire.h"

#include <stdint.h>
#include <sys/types.h>

struct shell_options {
	char *const *argv;    /* the shell and its arguments; found along PATH */
	const char *cwd;      /* where it starts; "", or one that cannot be entered: in fallback */
	const char *fallback; /* absolute */
	long nofile;          /* soft limit of descriptors; 0 = as inherited */
	const struct enter_limits *limits; /* NULL: none */
	int announce_fd; /* socket on which the child says STARTER_ENTERED before it is the shell; -1: none */
};

/*
 * Start it and wait until it has been executed. The environment is what enter_show_environment() makes of ours.
 * Returns 0 with *ret_pid, or a negative errno with *ret_stage saying what failed.
 */
int shell_start(const struct shell_options *options, int slave, pid_t *ret_pid,
	enum report_stage *ret_stage);

/* Set the soft limit of descriptors; 0 leaves it. */
void shell_limit_descriptors(long most);

/* In a child between fork and exec: every signal has its default action, and none is blocked. */
void shell_reset_signals(void);

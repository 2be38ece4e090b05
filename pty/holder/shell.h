/*
 * Starts a shell on the slave of a terminal: fork, a new kernel session with that terminal, exec.
 * Used by the holder, and by the starter.
 */
#pragma once

#include "pty/holder/enter.h"
#include "pty/wire.h"

#include <stdint.h>
#include <sys/types.h>

/* What to start. */
struct shell_options {
	char *const *argv;    /* the shell and its arguments; searched in PATH */
	const char *cwd;      /* where it starts; if "" or not accessible: in fallback */
	const char *fallback; /* absolute */
	long nofile;          /* soft limit of descriptors; 0 = as inherited */
	const struct enter_limits *limits; /* NULL: none */
	int announce_fd; /* socket on which the child sends STARTER_ENTERED before exec; -1: none */
};

/*
 * Start a shell and wait until it has been executed. Its environment: see enter_unhide_environment().
 * Returns 0 with *ret_pid, or a negative errno with *ret_stage saying what failed.
 */
int shell_start(const struct shell_options *options, int slave, pid_t *ret_pid,
	enum report_stage *ret_stage);

/* Set the soft limit of descriptors; 0: keep it. */
void shell_limit_descriptors(long most);

/* In a child between fork and exec: set default signal actions and unblock all signals. */
void shell_reset_signals(void);

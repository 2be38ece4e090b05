/*
 * How a session's shell is started: its arguments, the init file that gives it the integration (shell/exec/integration.h),
 * and what of its environment leads it there.
 */
#pragma once

#include "shell/session/session.h"

#include <limits.h>

#define LAUNCH_WORDS (SESSION_ARGV_MAX + 6) /* with the NULL */

struct launch {
	char *argv[LAUNCH_WORDS];        /* borrowed from the session, and from here */
	char init[PATH_MAX];             /* of the init file */
	char command[2 * PATH_MAX + 16]; /* what it runs first */
};

/*
 * Write the init file, if its shell is to have one, and say how to start it. directory: the session's, as a path.
 * environment: owned by the caller, a list as environment_create() makes it; may be changed. Returns 0 or a negative
 * errno.
 */
int session_launch(struct session *session, const char *directory, char ***environment,
	struct launch *ret_launch);

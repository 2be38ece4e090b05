/*
 * How a session's shell is started: arguments, the init file with the integration (shell/exec/integration.h), and the
 * environment variables that lead the shell to it.
 */
#pragma once

#include "shell/session/session.h"

#include <limits.h>

#define LAUNCH_WORDS (SESSION_ARGV_MAX + 6) /* with the NULL */

/* The arguments of a shell, and memory for them. */
struct launch {
	char *argv[LAUNCH_WORDS];        /* borrowed from the session and this struct */
	char init[PATH_MAX];             /* path of the init file */
	char command[2 * PATH_MAX + 16]; /* that fish runs first */
};

/*
 * Write the init file, if the shell has an integration, and set the arguments. directory: path of the session's
 * directory. environment: a list as of environment_create(), owned by the caller; may be replaced. Returns 0 or a
 * negative errno.
 */
int launch_prepare(struct session *session, const char *directory, char ***environment,
	struct launch *ret_launch);

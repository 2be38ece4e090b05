/* Where sessions run and where their files are: what follows from the options, before anything is started or locked. */
#pragma once

#include "shell/bounds.h"
#include "shell/isolation.h"
#include "shell/user.h"
#include "ws/serve/options.h"

#include <limits.h>

/* Not to be moved, because bounds points into it. */
struct setup {
	struct isolation *isolation;
	struct bounds bounds;
	struct user user;   /* of --session-user; bounds.user points to it */
	char **environment; /* of shells */
	char runtime_dir[PATH_MAX], holder[PATH_MAX], workspace[PATH_MAX];
	char socket[PATH_MAX]; /* of the command line; in the environment of sessions */
	char cwd[PATH_MAX]; /* default directory: the workspace, or another one if sandboxes do not contain it */
};

/* Find all of it, and make the runtime directory. Returns 0, or -1 after printing an error. */
int setup_find(struct serve_options *options, struct setup *ret);

/* Free what it owns. */
void setup_finish(struct setup *p);

/*
 * --check: find all of it, and read the files that the options name, such as the certificate. Returns the exit status: 0 after
 * printing that it is all right and the version, 1 after printing an error.
 */
int setup_check(struct serve_options *options, const char *version);

/*
 * A clone of a repository, as a run (shell/run/run.h): beside every session, in no terminal that somebody could be asked on.
 * What is asked for credentials is asked of nobody, and fails.
 */
#pragma once

#include "shell/git/url.h"
#include "shell/run/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLONE_TEXT_MAX ((size_t)16 << 10) /* bytes of what git says that are kept */

/* What is asked for; all is borrowed for the call. */
struct clone_options {
	const char *url;    /* valid, as all that follows */
	const char *branch; /* NULL: that of the repository */
	const char *target; /* absolute */
	const char *cwd;    /* where git is started */
	uint64_t depth;     /* 0: all */
	uint64_t timeout_ms;
	bool progress; /* git tells how far it is */
};

/*
 * Start it. What git prints to standard output is the branch that the clone is at; to standard error, all else. Returns as
 * run_start().
 */
int clone_start(struct runs *all, const struct clone_options *options,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run);

/* What an end means. */
enum clone_end {
	CLONE_DONE,
	CLONE_NETWORK, /* it took too long */
	CLONE_NO_REPOSITORY,
	CLONE_NO_BRANCH,
	CLONE_NOT_ALLOWED,
	CLONE_REFUSED, /* git gave up */
	CLONE_NO_GIT,
	CLONE_FAILED
};

/* Tell it by the exit code and what git has said. Pure. */
enum clone_end clone_judge(int code, const char *said);

/*
 * Clones a repository in a run (shell/run/run.h), outside of sessions and without a terminal: git
 * cannot prompt for credentials, so it fails if they are missing.
 */
#pragma once

#include "shell/git/url.h"
#include "shell/run/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLONE_TEXT_MAX ((size_t)16 << 10) /* bytes kept of git's output */

/* Arguments; all borrowed for the call. */
struct clone_options {
	const char *url;    /* must be valid, like all fields */
	const char *branch; /* NULL: the repository's default */
	const char *target; /* absolute path */
	const char *cwd;    /* git's working directory */
	uint64_t depth;     /* commits of history; 0: all */
	uint64_t timeout_ms;
	bool progress; /* git prints its progress */
};

/*
 * Start a clone. Its standard output is the name of the branch, its standard error is all other
 * output of git. Returns as run_start().
 */
int clone_start(struct runs *all, const struct clone_options *options,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run);

/* The result of a clone. */
enum clone_end {
	CLONE_DONE,
	CLONE_NETWORK, /* it took too long */
	CLONE_NO_REPOSITORY,
	CLONE_NO_BRANCH,
	CLONE_NOT_ALLOWED,
	CLONE_REFUSED, /* git failed with its general error code */
	CLONE_NO_GIT,
	CLONE_FAILED
};

/* Classify the result by the exit code and git's output. Pure. */
enum clone_end clone_classify(int code, const char *output);

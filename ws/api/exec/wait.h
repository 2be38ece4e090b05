/* Requests that are answered when an exec is done or a time limit is reached. */
#pragma once

#include "shell/exec/exec.h"
#include "ws/access.h"

#include <uv.h>

#define EXEC_TIME_MAX_MS (UINT64_C(30) * 24 * 3600 * 1000) /* the longest time limit */

/* When and how to answer. */
struct exec_wait_options {
	uv_loop_t *loop;
	bool limited; /* answer after limit_ms at the latest */
	uint64_t limit_ms;
	/* Also answer when this many bytes (0: ignored) can be read at the offset `from`. */
	uint64_t from, bytes;
	bool until_unkillable; /* also answer when a cancelled exec could not be killed */
	/* Answer r. Called once, unless the exec is discarded in the meantime. */
	void (*done)(void *user, struct request *r, struct exec *e);
	void *user;
	/*
	 * Make the target of a GET with the same answer, which waits for wait_ms at most; owned by the caller. NULL: there is none.
	 */
	char *(*target)(void *user, const struct exec *e, uint64_t wait_ms);
};

/* Claim a place in the quota of commands for options->claim. Returns false if r has been answered. */
bool exec_wait_claim(struct access *a, struct request *r, struct exec_options *options);

/* Wait for e. done may be called from inside. */
void exec_wait(struct request *r, struct exec *e, const struct exec_wait_options *options);

/* Start a command and wait for it. Returns 0, or the error of exec_start(): then r is not answered. */
int exec_wait_start(struct request *r, struct session *s, const struct exec_options *command,
	const struct exec_wait_options *options, struct exec **ret_exec);

/* Answering a request when an exec is done, or when the time is up. */
#pragma once

#include "shell/exec/exec.h"
#include "ws/access.h"

#include <uv.h>

struct exec_wait_options {
	uv_loop_t *loop;
	bool limited; /* wait no longer than limit_ms */
	uint64_t limit_ms;
	/* Also no longer than until so many bytes (0: never mind) can be read from the offset `from` on. */
	uint64_t from, bytes;
	bool until_unkillable; /* also no longer than it is being cancelled */
	/* Answer r; e is done, or the time is up. Once; not called when the exec is forgotten meanwhile. */
	void (*done)(void *user, struct request *r, struct exec *e);
	void *user;
};

/* A command takes its place in the queue: options->claim. Returns whether it may; otherwise r has been answered. */
bool exec_wait_claim(struct access *a, struct request *r, struct exec_options *options);

/* Wait for e. done may be called from inside. */
void exec_wait(struct request *r, struct exec *e, const struct exec_wait_options *options);

/* Ask for a command and wait for it. Returns 0 with the exec, or what exec_start() returns: then r is not answered. */
int exec_wait_start(struct request *r, struct session *s, const struct exec_options *command,
	const struct exec_wait_options *options, struct exec **ret_exec);

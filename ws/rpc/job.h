/*
 * A call of the SDK's as a request: made of the arguments, handed to the dispatcher, and its answer, or its stream, handed
 * back to the caller.
 */
#pragma once

#include "ws/dispatcher.h"
#include "ws/rpc/engine.h"
#include "ws/rpc/methods.h"

#define JOB_SILENT_S \
	300u /* after so much silence a stream of the caller's is given up, as the SDK gives up ours */

struct job;

/* On whose behalf jobs are done. */
struct jobs {
	struct dispatcher *dispatcher; /* borrowed, like all here */
	const struct principal *principal;
	const char *peer;
	void (*due)(void *user); /* something can be sent; not in the middle of anything */
	void *user;
	struct job *list;
};

/* Do it; c is answered now or later. */
void job_start(struct jobs *all, struct rpc_call *c);

/* Go on with what calls functions of the caller's. To be done when something can be sent. */
void jobs_run(struct jobs *all);

/* Nobody waits for its answer any more. */
void job_cancel(struct job *j);

/* Once a second: streams that have been silent for quiet_s say so, and those of the caller's for too long are given up. */
void jobs_sweep(struct jobs *all, unsigned quiet_s);

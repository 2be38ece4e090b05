/*
 * A call of the SDK as a request to the dispatcher: its arguments become the request, and the reply
 * or its stream becomes the result of the call.
 */
#pragma once

#include "ws/dispatcher.h"
#include "ws/rpc/engine.h"
#include "ws/rpc/methods.h"

#define JOB_SILENT_S 300u /* a stream from the client that is silent for so long is aborted */

/* A call in progress. */
struct job;

/* The jobs of one connection. */
struct jobs {
	struct dispatcher *dispatcher;     /* borrowed, as all pointers here */
	const struct principal *principal; /* gives the requests their rights */
	const char *peer;                  /* address of the client */
	void (*due)(void *user);           /* there may be something to send */
	void *user;
	struct job *list;
};

/* Start the request of a call, which is answered now or later. */
void job_start(struct jobs *all, struct rpc_call *c);

/* Pass pending events to callback functions of the client. Call it when messages can be sent. */
void jobs_run(struct jobs *all);

/* Abandon a job after its call was cancelled. */
void job_cancel(struct job *j);

/* Once a second: keepalives on streams silent for quiet_s; uploads end after JOB_SILENT_S. */
void jobs_sweep(struct jobs *all, unsigned quiet_s);

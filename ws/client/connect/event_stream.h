/* A request that is answered by a stream of server-sent events. */
#pragma once

#include "ws/client/connect/call.h"
#include "ws/client/connect/events.h"

/* The caller sets cli, event and user, and zeroes the rest. */
struct event_stream {
	struct cli *cli;
	struct client_call *call;
	struct events events;
	struct answer answer;                           /* if the answer is not a stream */
	void (*event)(void *user, const json_t *event); /* called for each event */
	void *user;
	bool streaming; /* the answer is a stream */
	bool over;
	int error; /* 0, or a negative errno if the stream broke off */
};

/* Start the request. Takes path (NULL: out of memory) and body. Returns 0 or a negative errno. */
int event_stream_start(struct event_stream *f, const char *method, char *path, json_t *body);

/*
 * Run the loop until the stream is over. Returns 0, -EPROTO if the answer is not a stream, or
 * another negative errno, such as -ECONNRESET, if it broke off.
 */
int event_stream_wait(struct event_stream *f);

/* Cancel the request if it is not over, and free what it owns. */
void event_stream_finish(struct event_stream *f);

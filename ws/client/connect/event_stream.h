/* A request whose answer is a stream of events, followed to its end. */
#pragma once

#include "ws/client/connect/call.h"
#include "ws/client/connect/events.h"

struct event_stream {
	struct cli *cli;
	struct client_call *call;
	struct events events;
	struct answer answer; /* where it is no stream */
	void (*event)(void *user, const json_t *event);
	void *user;
	bool streaming, over;
	int error; /* 0, or a negative errno when the stream broke off */
};

/*
 * Begin. path and body are taken; event gets each event. Returns 0 or a negative errno.
 */
int event_stream_start(struct event_stream *f, const char *method, char *path, json_t *body);

/* Turn the loop until it is over. Returns 0, -ECONNRESET when it broke off, -EPROTO when it is no stream. */
int event_stream_wait(struct event_stream *f);

/* Give it up, if it is not over, and free what it holds. */
void event_stream_finish(struct event_stream *f);

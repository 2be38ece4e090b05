/* A request whose answer is a stream of events, followed to its end. */
#pragma once

#include "ws/client/connect/call.h"
#include "ws/client/connect/events.h"

struct follow {
	struct line *line;
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
int follow_start(struct follow *f, const char *method, char *path, json_t *body);

/* Turn the loop until it is over. Returns 0, -ECONNRESET when it broke off, -EPROTO when it is no stream. */
int follow_wait(struct follow *f);

/* Give it up, if it is not over, and free what it holds. */
void follow_finish(struct follow *f);

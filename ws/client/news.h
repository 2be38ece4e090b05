/*
 * The stream of the Model Context Protocol on which the server sends its own messages (GET /mcp).
 * When it ends, for example with the server, it is opened again.
 */
#pragma once

#include "ws/client/connect/cli.h"
#include "ws/client/connect/events.h"

struct client_call;

/* Must not move while open. The caller sets the first group of fields and zeroes the rest. */
struct news {
	struct cli *cli;
	void (*message)(void *user, const char *text, size_t length); /* text is borrowed */
	void *user;

	char *path;               /* owned; NULL: not wanted */
	struct client_call *call; /* NULL: no request is under way */
	struct events events;
	uv_timer_t retry;
	uint64_t wait_ms; /* until the next attempt */
	int status;       /* HTTP status; 0: no answer yet */
};

/* Initialize. The stream is opened by news_follow(). */
void news_open(struct news *n);

/*
 * Open the stream, or replace it. path is copied. A server without such streams is asked only once.
 */
void news_follow(struct news *n, const char *path);

/* Close it. The timer belongs to the loop until the loop has run once. */
void news_close(struct news *n);

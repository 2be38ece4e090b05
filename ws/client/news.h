/*
 * The stream on which the server tells a client of the Model Context Protocol what happens meanwhile (GET /mcp), for as long
 * as that is wanted: one that ends, as with its server, is asked for again.
 */
#pragma once

#include "ws/client/connect/cli.h"
#include "ws/client/connect/events.h"

struct client_call;

/* Embedded, at an address that stays; zeroed but for the first group, which is the caller's. */
struct news {
	struct cli *cli;
	void (*message)(void *user, const char *text, size_t length);
	void *user;

	char *path;               /* owned; NULL: it is not wanted */
	struct client_call *call; /* NULL: none is under way */
	struct events events;
	uv_timer_t retry;
	uint64_t wait_ms; /* until the next attempt */
	int status;       /* of HTTP; 0: there was no answer */
};

void news_open(struct news *n);

/* From now on; path is copied. A server that has no such stream is not asked again. */
void news_follow(struct news *n, const char *path);

/* The timer is the loop's until it has run once more. */
void news_close(struct news *n);

/* A request that reads its body from a descriptor and sends it piece by piece. */
#pragma once

#include "ws/client/connect/call.h"

#include <uv.h>

#define BODY_STREAM_PIECE ((size_t)64 << 10) /* bytes read at once */

struct client_call;

/*
 * Must not move while it is open. The caller sets the first group of fields before it opens it, and
 * may read the others.
 */
struct body_stream {
	struct cli *cli;
	int fd;                /* borrowed */
	const char *first;     /* bytes to send before those of fd; borrowed until they are sent */
	size_t first_length;   /* 0: none */
	struct answer *answer; /* borrowed; filled in */

	struct client_call *call;
	uv_poll_t poll;
	bool pollable;
	bool over;      /* the request has been answered or has failed */
	int read_error; /* of fd, or 0: a negative errno */
	int error;      /* of the request, or 0: a negative errno */
	uint64_t size;  /* bytes read so far, including the first ones */
	char piece[BODY_STREAM_PIECE];
};

/*
 * Start a PUT request. If that fails, over and error are set. Takes path (NULL: out of memory). Call
 * body_stream_close() in any case.
 */
void body_stream_open(struct body_stream *s, char *path);

/* Cancel the request if it is not over, and close the poll handle. */
void body_stream_close(struct body_stream *s);

/* A request whose body is what a descriptor has, sent as it comes, in the memory of one piece. */
#pragma once

#include "ws/client/connect/call.h"

#include <uv.h>

#define BODY_STREAM_PIECE ((size_t)64 << 10)

struct client_call;

/* Embedded, at an address that stays. Fields are to be read; those of the first group are the caller's, before it is opened. */
struct body_stream {
	struct cli *cli;
	int fd;                /* borrowed */
	const char *first;     /* bytes that go before those of fd; borrowed until they are sent */
	size_t first_length;   /* 0: none */
	struct answer *answer; /* borrowed: filled in */

	struct client_call *call;
	uv_poll_t poll;
	bool pollable;
	bool over;      /* there is an answer, or there will be none */
	int read_error; /* of fd, or 0: a negative errno */
	int error;      /* of the request, or 0: a negative errno */
	uint64_t size;  /* bytes that have been read, first ones among them */
	char piece[BODY_STREAM_PIECE];
};

/* Begin. Whatever fails is over, with an error. path: taken. body_stream_close() has to follow. */
void body_stream_open(struct body_stream *s, const char *method, char *path);

/* Give it up, where it is not over. */
void body_stream_close(struct body_stream *s);

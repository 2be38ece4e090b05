/*
 * A stream of events that follows an exec with its own cursor into the session's ring. It holds the ring
 * (ring/holds.h), so that a client that keeps reading gets everything. Lost bytes are reported where they are missing,
 * and in the last event.
 */
#pragma once

#include "shell/exec/exec.h"
#include "ws/request.h"

/* The format of the events. */
enum exec_stream_kind {
	EXEC_STREAM_NATIVE, /* start, output | stdout | stderr, truncated, end: with the exec's JSON */
	EXEC_STREAM_SANDBOX, /* the container's: start, stdout, stderr, truncated, complete | error */
};

/* What a stream contains. */
struct exec_stream_options {
	enum exec_stream_kind kind;
	bool bytes;                       /* output in base64, without loss */
	const struct outline_place *from; /* where an earlier stream stopped; NULL: the beginning */
};

/* Answer r with the stream of e. */
void exec_stream_open(struct request *r, struct exec *e, const struct exec_stream_options *options);

/*
 * Parse the "cursor" of an event, with which a client resumes after that event. Returns false if it is invalid. Pure.
 */
bool exec_stream_parse_cursor(const char *text, struct outline_place *ret_place);

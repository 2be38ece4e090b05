/*
 * A stream of events that follows an exec: it has a cursor of its own into the session's ring and no queue. It holds
 * the ring for its reader, who so gets everything as long as they read (ring/holds.h); what is lost all the same is told
 * in its place, and with the end.
 */
#pragma once

#include "shell/exec/exec.h"
#include "ws/request.h"

/* In whose words. */
enum exec_stream_kind {
	EXEC_STREAM_NATIVE, /* start, output | stdout | stderr, truncated, end: with the exec's JSON */
	EXEC_STREAM_SANDBOX, /* start, stdout, stderr, truncated, complete | error: the container's */
};

struct exec_stream_options {
	enum exec_stream_kind kind;
	bool bytes; /* its output as base64, so that nothing of it can get lost */
	const struct outline_place *from; /* where an earlier stream has come to; NULL: the beginning */
};

/* Answer r with the stream of e. */
void exec_stream_open(struct request *r, struct exec *e, const struct exec_stream_options *options);

/* The "cursor" of an event: what lies before it has been told. Returns false when text is none. Pure. */
bool exec_stream_parse_cursor(const char *text, struct outline_place *ret_place);

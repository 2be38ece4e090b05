/*
 * A stream of events that follows an exec: it has a cursor of its own into the session's ring and no queue, so a
 * reader that is slow costs nothing, and one that the ring leaves behind is told what it has missed.
 */
#pragma once

#include "shell/exec.h"
#include "ws/request.h"

/* In whose words. */
enum exec_stream_kind {
	EXEC_STREAM_NATIVE, /* start, output | stdout | stderr, lost, end: with the exec's JSON */
	EXEC_STREAM_SANDBOX, /* start, stdout, stderr, truncated, complete | error: the container's */
};

/* Answer r with the stream of e. bytes: its output as base64, so that nothing of it can get lost. */
void exec_stream_open(struct request *r, struct exec *e, enum exec_stream_kind kind, bool bytes);

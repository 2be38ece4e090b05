/*
 * A stream that follows an exec. Each step reads a part of the ring, splits it by stream with an outline, and queues
 * the events until the transport pulls them. The stream ends when the exec is done or discarded.
 */
#include "ws/api/exec/stream.h"

#include "shell/clock.h"
#include "shell/session/sessions.h"
#include "ws/api/later/event_queue.h"
#include "ws/json/exec.h"
#include "ws/json/session.h"
#include "ws/base64.h"
#include "ws/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP ((size_t)16 << 10) /* bytes of the ring in a step */

struct follower {
	struct request *request;
	struct exec *exec; /* NULL once it is discarded */
	struct exec_watcher watcher;
	enum exec_stream_kind kind;
	bool bytes; /* output as base64 */
	struct outline outline;
	struct hold hold;                                  /* bytes that it has not read yet */
	struct outline_place previous_cursor, last_cursor; /* that were sent to the client */
	uint64_t lost;                                     /* bytes not delivered */
	bool resumed;                                      /* starts at `from` */
	struct outline_place from;
	bool outlined, start_sent, end_sent;
	struct text_decoder decoders[EXEC_STREAMS];
	uint8_t *pieces;          /* STEP bytes for output of one stream; NULL: memory is short */
	size_t gathered;          /* bytes in pieces */
	int gathering;            /* their stream */
	struct event_queue queue; /* events of the last step */
};

/* Queue event, which is taken. bytes: size of its output, which is lost if memory is short. */
static void put_output(struct follower *f, json_t *event, size_t bytes)
{
	json_object_set_new(event, "timestamp", time_json(clock_wall_ms()));
	if (!event_queue_put(&f->queue, event, bytes))
		f->lost += bytes;
}

static void put_event(struct follower *f, json_t *event)
{
	put_output(f, event, 0);
}

static const char *stream_name(const struct follower *f, int stream)
{
	if (stream == EXEC_ERROR)
		return "stderr";
	return f->kind == EXEC_STREAM_NATIVE && f->exec->plan.streams == EXEC_TERMINAL ? "output"
										       : "stdout";
}

static void put_text(struct follower *f, int stream, const void *bytes, size_t length, bool last)
{
	json_t *text = f->bytes ? base64_json(bytes, length)
				: text_json(&f->decoders[stream], bytes, length, last);
	if (!text)
		f->lost += length;
	else if (json_string_length(text) > 0)
		put_output(f, json_pack("{s:s, s:O}", "type", stream_name(f, stream), "data", text),
			length);
	json_decref(text);
}

/* Put the gathered pieces into one event. There is a piece for each line if CRs are removed. */
static void flush(struct follower *f)
{
	size_t length = f->gathered;
	f->gathered = 0;
	if (length > 0)
		put_text(f, f->gathering, f->pieces, length, false);
}

static void gather(struct follower *f, int stream, const void *bytes, size_t length)
{
	if (f->gathering != stream || f->gathered + length > STEP)
		flush(f);
	if (!f->pieces || length > STEP) {
		put_text(f, stream, bytes, length, false);
		return;
	}
	f->gathering = stream;
	memcpy(f->pieces + f->gathered, bytes, length);
	f->gathered += length;
}

static void on_text(
	void *user, enum event_source source, uint64_t offset, const void *bytes, size_t length)
{
	struct follower *f = user;
	enum exec_stream stream = exec_clip_output(f->exec, source, offset, &bytes, &length);
	if (stream != EXEC_STREAMS)
		gather(f, (int)stream, bytes, length);
}

static void on_lost(void *user, uint64_t bytes)
{
	struct follower *f = user;
	flush(f);
	f->lost += bytes;
	put_event(f, json_pack("{s:s, s:I}", "type", "truncated", "bytes", (json_int_t)bytes));
}

static const struct outline_callbacks callbacks = {.text = on_text, .lost = on_lost};

static void put_start(struct follower *f)
{
	struct exec *e = f->exec;
	f->start_sent = true;
	if (f->kind == EXEC_STREAM_NATIVE)
		put_event(f, json_pack("{s:s, s:o}", "type", "start", "data", exec_json(e)));
	else
		put_event(f,
			json_pack("{s:s, s:s, s:s}", "type", "start", "command", e->command,
				"sessionId", session_id(session_of_exec(e))));
}

static void put_end(struct follower *f)
{
	struct exec *e = f->exec;
	f->end_sent = true;
	for (int i = 0; i < EXEC_STREAMS; i++)
		put_text(f, i, "", 0, true);
	if (f->kind == EXEC_STREAM_NATIVE)
		put_event(f,
			json_pack("{s:s, s:I, s:o}", "type", "end", "lost", (json_int_t)f->lost,
				"data", exec_json(e)));
	else if (f->lost > 0)
		put_event(f,
			json_pack("{s:s, s:s, s:I, s:o}", "type", "error", "data",
				"Some of the output is lost: it was not read in time", "lost",
				(json_int_t)f->lost, "exitCode",
				e->status < 0 ? json_null() : json_integer(e->status)));
	else if (e->end <= EXEC_END_PROMPT || exec_has_replaced_shell(e))
		put_event(f,
			json_pack("{s:s, s:i, s:o*}", "type", "complete", "exitCode", e->status,
				"suspect", e->suspect ? json_true() : NULL));
	else
		put_event(f,
			json_pack("{s:s, s:s, s:o}", "type", "error", "data", exec_end_reason(e),
				"exitCode", e->status < 0 ? json_null() : json_integer(e->status)));
	reply_stream_complete(f->request);
}

/* Start reading. The exec must have a start offset. */
static void outline(struct follower *f)
{
	struct exec *e = f->exec;
	f->outlined = true;
	exec_outline(e, f->resumed ? &f->from : NULL, &f->outline);
	exec_hold(e, &f->hold, &f->outline);
	outline_place(&f->outline, &f->last_cursor);
	f->previous_cursor = f->last_cursor;
}

/* Whether events have cursors, with which a client can resume on another connection. */
static bool has_cursors(const struct follower *f)
{
	return f->bytes && f->kind == EXEC_STREAM_NATIVE;
}

/* Put a cursor into the last event of a step. */
static void put_place(struct follower *f, const struct outline_place *place)
{
	char cursor[64];
	if (!f->queue.list && place->offset < f->last_cursor.offset + STEP)
		return;
	if (!f->queue.list)
		put_event(f, json_pack("{s:s}", "type", "cursor"));
	if (!f->queue.list)
		return;
	snprintf(cursor, sizeof cursor, "%" PRIu64 ".%" PRIu64 ".%d", place->offset,
		place->position, (int)place->source);
	json_object_set_new(event_queue_last(&f->queue), "cursor", json_string(cursor));
	f->previous_cursor = f->last_cursor;
	f->last_cursor = *place;
}

/*
 * Read a part of the ring. Returns whether more can be read at once. With cursors, the ring is held from the last but
 * one: events after it may not have reached the client.
 */
static bool read_some(struct follower *f)
{
	struct exec *e = f->exec;
	struct outline_place place;
	bool more = outline_read(&f->outline, session_ring(session_of_exec(e)), exec_readable(e),
		STEP, &callbacks, f);
	flush(f);
	bool whole = outline_place(&f->outline, &place);
	if (!has_cursors(f))
		exec_hold_moved(e, &f->hold, &place);
	else if (whole)
		put_place(f, &place);
	if (has_cursors(f))
		exec_hold_moved(e, &f->hold, &f->previous_cursor);
	return more;
}

/* Returns whether another step may follow at once. */
static bool step(struct follower *f)
{
	struct exec *e = f->exec;
	if (!f->outlined && (e->state == EXEC_RUNNING || e->state == EXEC_DONE))
		outline(f);
	if (!f->start_sent && (e->state == EXEC_RUNNING || e->state == EXEC_DONE)) {
		put_start(f);
		return true;
	}
	bool more = f->outlined && exec_has_ring(e) && read_some(f);
	if (!more && e->state == EXEC_DONE)
		put_end(f);
	return more;
}

static char *next_event(void *user)
{
	struct follower *f = user;
	while (!f->queue.list && f->exec && !f->end_sent && step(f))
		;
	return event_queue_take(&f->queue, &f->lost);
}

static void on_changed(void *user, struct exec *e)
{
	struct follower *f = user;
	(void)e;
	reply_stream_more(f->request);
}

static void on_gone(void *user)
{
	struct follower *f = user;
	if (!f->end_sent && !f->queue.list)
		put_event(f,
			json_pack("{s:s, s:s}", "type", "error", "data",
				"The session has been deleted"));
	exec_unhold(f->exec, &f->hold, false);
	f->exec = NULL;
	if (!f->end_sent)
		reply_stream_complete(f->request);
	f->end_sent = true;
}

static void on_closed(void *user)
{
	struct follower *f = user;
	struct request *r = f->request;
	if (f->exec) {
		exec_unhold(f->exec, &f->hold, !f->end_sent);
		exec_unwatch(f->exec, &f->watcher);
	}
	event_queue_clear(&f->queue);
	free(f->pieces);
	free(f);
	request_unref(r);
}

void exec_stream_open(struct request *r, struct exec *e, const struct exec_stream_options *o)
{
	struct follower *f = request_alloc(r, sizeof *f);
	if (!f)
		return;
	f->pieces = malloc(STEP);
	f->request = request_ref(r);
	f->exec = e;
	f->kind = o->kind;
	f->bytes = o->bytes;
	if (o->from) {
		f->resumed = true;
		f->from = *o->from;
	}
	f->watcher = (struct exec_watcher){.changed = on_changed, .gone = on_gone, .user = f};
	exec_watch(e, &f->watcher);
	if (e->state == EXEC_RUNNING || e->state == EXEC_DONE)
		outline(f);
	else
		exec_hold_expect(e);
	reply_stream(r, &(struct event_stream){.next = next_event, .closed = on_closed, .user = f});
}

bool exec_stream_parse_cursor(const char *text, struct outline_place *ret_place)
{
	uint64_t numbers[3];
	for (int i = 0; i < 3; i++) {
		char *end;
		if (*text < '0' || *text > '9')
			return false;
		errno = 0;
		numbers[i] = strtoull(text, &end, 10);
		if (errno != 0 || *end != (i < 2 ? '.' : '\0'))
			return false;
		text = end + 1;
	}
	*ret_place = (struct outline_place){numbers[0], numbers[1], (enum event_source)numbers[2]};
	return numbers[2] <= EVENT_SOURCE_STDERR_PTY && numbers[1] % 8 == 0;
}

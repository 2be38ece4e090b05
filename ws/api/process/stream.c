/*
 * The output of a process as a stream of events. A follower has a cursor into the ring, which holds the bytes that it
 * has not read (ring/holds.h). An event reports lost bytes.
 *
 * Stages: info -> output -> exit -> done.
 */
#include "ring/utf8.h"
#include "shell/clock.h"
#include "shell/output/streams.h"
#include "ws/json/process.h"
#include "ws/json/session.h"
#include "ws/api/process/process.h"
#include "ws/api/read/query.h"
#include "ws/api/rows.h"
#include "ws/base64.h"
#include "ws/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define EVENT_PIECE ((size_t)16 << 10) /* bytes in one event */

enum follow_stage { FOLLOW_INFO, FOLLOW_OUTPUT, FOLLOW_EXIT, FOLLOW_DONE };

struct follower {
	struct process_viewer viewer;
	struct request *request;
	struct process *process; /* NULL once it is gone */
	enum follow_stage stage;
	uint64_t cursor, lost;
	struct hold hold;  /* bytes that it has not read yet */
	uint64_t position; /* in the event log: labels of the bytes after cursor */
	struct text_decoder decoders[API_STREAMS];
	bool base64;
	bool follow;   /* go on beyond `end` */
	uint64_t end;  /* of the output when the stream began */
	char *pending; /* event to send after a report of lost bytes */
	char id[NAME_ID_MAX + 1];
};

static char *event_text(json_t *event)
{
	if (event)
		json_object_set_new(event, "timestamp", time_json(clock_wall_ms()));
	return dump_json(event);
}

static char *info_event(const struct follower *f)
{
	const struct process *p = f->process;
	return event_text(json_pack("{s:s, s:s, s:s, s:s, s:I}", "type", "process_info",
		"processId", p->held.id, "command", p->command, "status", process_status(p),
		"cursor", (json_int_t)f->cursor));
}

static char *data_event(const struct follower *f, int stream, json_t *data)
{
	if (json_string_length(data) == 0) {
		json_decref(data);
		return NULL;
	}
	return event_text(json_pack("{s:s, s:o, s:s, s:I}", "type",
		stream == API_STDOUT ? "stdout" : "stderr", "data", data, "processId", f->id,
		"cursor", (json_int_t)f->cursor));
}

static char *bytes_event(const struct follower *f, int stream, const uint8_t *bytes, size_t length)
{
	return event_text(json_pack("{s:s, s:o, s:s, s:I}", "type",
		stream == API_STDOUT ? "stdout" : "stderr", "base64", base64_json(bytes, length),
		"processId", f->id, "cursor", (json_int_t)f->cursor));
}

static char *exit_event(const struct follower *f)
{
	const struct process *p = f->process;
	char text[96];
	int code;
	if (process_exit_code(p, &code))
		snprintf(text, sizeof text, "Process %s with exit code %d", process_status(p), code);
	else
		snprintf(text, sizeof text, "Process %s", process_status(p));
	json_t *event = json_pack("{s:s, s:s, s:o, s:s, s:s}", "type", "exit", "processId",
		p->held.id, "exitCode", process_exit_json(p), "data", text, "status",
		process_status(p));
	if (event && p->timed_out)
		json_object_set_new(event, "timedOut", json_true());
	if (event && process_exit_code(p, &code) && WIFSIGNALED(p->wait_status))
		json_object_set_new(event, "signal", signal_json(WTERMSIG(p->wait_status)));
	if (event)
		json_object_set_new(event, "cursor", json_integer((json_int_t)f->cursor));
	if (event)
		json_object_set_new(event, "lost", json_integer((json_int_t)f->lost));
	return event_text(event);
}

static char *lost_event(struct follower *f, uint64_t lost)
{
	f->lost += lost;
	return event_text(json_pack("{s:s, s:s, s:I, s:I}", "type", "truncated", "processId", f->id,
		"lost", (json_int_t)lost, "cursor", (json_int_t)f->cursor));
}

/* The event of a piece. NULL if the piece completes no character. */
static char *piece_event(struct follower *f, const struct streams_piece *piece, const uint8_t *bytes)
{
	int stream = api_process_stream_of(piece->source);
	struct text_decoder *decoder = &f->decoders[stream];
	size_t skip = 0;
	if (f->base64)
		return bytes_event(f, stream, bytes, piece->length);
	if (piece->lost > 0) {
		memset(f->decoders, 0, sizeof f->decoders);
		skip = utf8_leading_continuations(bytes, piece->length, 3);
	}
	return data_event(f, stream, text_json(decoder, bytes + skip, piece->length - skip, false));
}

static char *next_output(struct follower *f)
{
	struct process *p = f->process;
	struct streams_piece piece;
	uint8_t bytes[EVENT_PIECE];
	uint64_t end = process_command_end(p);
	struct streams_range range = process_range(
		p, f->follow || end < f->end ? end : f->end, STREAMS_COMMAND);
	while (streams_read(&range, &f->cursor, bytes, sizeof bytes, &piece)) {
		char *event = piece_event(f, &piece, bytes);
		if (piece.lost > 0) {
			f->pending = event;
			return lost_event(f, piece.lost);
		}
		if (event)
			return event;
	}
	if (p->ended_ms > 0 && (f->follow || end <= f->end))
		f->stage = FOLLOW_EXIT;
	else if (!f->follow)
		f->stage = FOLLOW_DONE;
	return piece.lost > 0 ? lost_event(f, piece.lost) : NULL;
}

/* The events after all output: incomplete characters, then the exit. */
static char *next_end(struct follower *f)
{
	for (int i = 0; i < API_STREAMS; i++) {
		char rest[4];
		size_t n = text_decode_end(&f->decoders[i], rest);
		if (n > 0)
			return data_event(f, i, json_stringn(rest, n));
	}
	f->stage = FOLLOW_DONE;
	return exit_event(f);
}

static char *next_event(void *user)
{
	struct follower *f = user;
	char *event = f->pending;
	f->pending = NULL;
	if (event)
		return event;
	if (!f->process) {
		if (f->stage == FOLLOW_DONE)
			return NULL;
		f->stage = FOLLOW_DONE;
		return event_text(json_pack("{s:s, s:s, s:s}", "type", "error", "processId", f->id,
			"error", "The process has been removed"));
	}
	if (f->stage == FOLLOW_INFO) {
		f->stage = FOLLOW_OUTPUT;
		return info_event(f);
	}
	if (f->stage == FOLLOW_OUTPUT) {
		event = next_output(f);
		f->request->stream_complete = f->stage == FOLLOW_DONE;
		process_hold_moved(f->process, &f->hold, f->cursor, &f->position);
	}
	if (!event && f->stage == FOLLOW_EXIT) {
		event = next_end(f);
		/* No reply_stream_complete() here: the transport is already pulling. */
		f->request->stream_complete = f->stage == FOLLOW_DONE;
	}
	return event;
}

static void on_follow_more(void *user)
{
	struct follower *f = user;
	reply_stream_more(f->request);
}

static void on_follow_gone(void *user)
{
	struct follower *f = user;
	bool done = f->stage == FOLLOW_DONE;
	if (f->stage == FOLLOW_EXIT && !f->pending) {
		f->pending = exit_event(f);
		f->stage = FOLLOW_DONE;
	}
	process_unhold(f->process, &f->hold);
	f->process = NULL;
	if (!done)
		reply_stream_complete(f->request);
}

static void on_follow_closed(void *user)
{
	struct follower *f = user;
	struct request *r = f->request;
	if (f->process) {
		process_unhold(f->process, &f->hold);
		process_detach(f->process, &f->viewer);
	}
	free(f->pending);
	free(f);
	request_unref(r);
}

static void stream_process(struct request *r)
{
	struct api *a = api_of(r);
	uint64_t cursor = 0;
	bool follow = true, replay = true, base64 = false;
	if (!query_number(r, "cursor", INT64_MAX, &cursor) || !query_flag(r, "follow", &follow) ||
		!query_flag(r, "replay", &replay) || !query_encoding(r, &base64))
		return;
	struct process *p = api_process_find_output(a, r);
	if (p && cursor > p->head) {
		process_close_output(p);
		reply_invalid(r, "cursor", "The cursor is beyond the end of the output", "invalid");
		return;
	}
	struct follower *f = p ? request_alloc(r, sizeof *f) : NULL;
	if (!f) {
		if (p)
			process_close_output(p);
		return;
	}
	f->request = request_ref(r);
	f->process = p;
	f->cursor = replay ? cursor : p->head;
	f->base64 = base64;
	f->follow = follow;
	f->end = p->head;
	f->viewer = (struct process_viewer){
		.more = on_follow_more, .gone = on_follow_gone, .user = f};
	snprintf(f->id, sizeof f->id, "%s", p->held.id);
	process_attach(p, &f->viewer);
	f->position = process_hold(p, &f->hold, f->cursor);
	reply_stream(r,
		&(struct event_stream){.next = next_event, .closed = on_follow_closed, .user = f});
}

const struct route_row api_process_stream_rows[] = {
	{METHOD_GET, "/api/process/{}/stream", ROUTE_OWNER, .plain = stream_process,
		.place = PLACE_PROCESS},
	{.path = NULL},
};

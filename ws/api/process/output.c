/*
 * The output of processes: all of it (logs) and pieces from a cursor on (output). Clients have cursors into the ring: a
 * slow client loses old bytes, and the answer says how many.
 */
#include "ring/utf8.h"
#include "shell/memory_stream.h"
#include "shell/output/streams.h"
#include "ws/json/process.h"
#include "ws/api/later/pending.h"
#include "ws/api/process/process.h"
#include "ws/api/read/query.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/base64.h"
#include "ws/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOGS_MAX ((size_t)8 << 20)         /* bytes of the ring that one answer holds */
#define OUTPUT_DEFAULT ((size_t)256 << 10) /* bytes of output in one answer */
#define OUTPUT_MAX ((size_t)1 << 20)
#define TAIL_MAX ((size_t)4 << 10) /* bytes of output in an error */
#define WAIT_MAX_MS 60000u

/* Bytes of one stream. */
struct gathered {
	uint8_t *bytes;
	size_t length, capacity;
};

/* Reserve `more` bytes at the end. Returns them, NULL when memory is short. */
static uint8_t *reserve(struct gathered *g, size_t more)
{
	if (g->capacity - g->length < more) {
		size_t capacity = 2 * g->capacity + more;
		uint8_t *bytes = realloc(g->bytes, capacity);
		if (!bytes)
			return NULL;
		g->bytes = bytes;
		g->capacity = capacity;
	}
	return g->bytes + g->length;
}

/* The bytes as text. torn: they may begin within a character. */
static json_t *gathered_json(const struct gathered *g, bool torn)
{
	struct text_decoder decoder = {0};
	size_t skip = torn ? utf8_leading_continuations(g->bytes, g->length, 3) : 0;
	if (g->length == 0)
		return json_string("");
	return text_json(&decoder, g->bytes + skip, g->length - skip, true);
}

json_t *api_process_tail_json(const struct process *p, unsigned sources)
{
	struct gathered g = {0};
	struct streams_piece piece;
	uint8_t buffer[4096];
	uint64_t cursor = process_oldest(p);
	struct streams_range range = process_range(p, process_command_end(p), sources);
	/* Read everything, and keep the last TAIL_MAX to 2 * TAIL_MAX bytes. */
	while (streams_read(&range, &cursor, buffer, sizeof buffer, &piece)) {
		uint8_t *to = reserve(&g, piece.length);
		if (!to)
			break;
		memcpy(to, buffer, piece.length);
		g.length += piece.length;
		if (g.length > 2 * TAIL_MAX) {
			memmove(g.bytes, g.bytes + g.length - TAIL_MAX, TAIL_MAX);
			g.length = TAIL_MAX;
		}
	}
	if (g.length > TAIL_MAX) {
		memmove(g.bytes, g.bytes + g.length - TAIL_MAX, TAIL_MAX);
		g.length = TAIL_MAX;
	}
	json_t *text = gathered_json(&g, true);
	free(g.bytes);
	return text;
}

static void show_process_logs(struct request *r)
{
	struct api *a = api_of(r);
	struct gathered g[API_STREAMS] = {{0}};
	struct streams_piece piece;
	uint8_t buffer[4096];
	struct process *p = api_process_find_output(a, r);
	if (!p)
		return;
	uint64_t cursor = process_oldest(p), lost, end = p->head;
	if (end > LOGS_MAX && cursor < end - LOGS_MAX)
		cursor = end - LOGS_MAX;
	lost = cursor;
	struct streams_range range = process_range(p, end, STREAMS_COMMAND);
	while (streams_read(&range, &cursor, buffer, sizeof buffer, &piece)) {
		struct gathered *to = &g[api_process_stream_of(piece.source)];
		uint8_t *space = reserve(to, piece.length);
		if (!space)
			break;
		memcpy(space, buffer, piece.length);
		to->length += piece.length;
		lost += piece.lost;
	}
	process_close_output(p);
	json_t *body = json_pack("{s:s, s:o, s:o, s:I, s:I}", "processId", p->held.id, "stdout",
		gathered_json(&g[API_STDOUT], lost > 0), "stderr",
		gathered_json(&g[API_STDERR], lost > 0), "cursor", (json_int_t)cursor, "lost",
		(json_int_t)lost);
	free(g[API_STDOUT].bytes);
	free(g[API_STDERR].bytes);
	if (body)
		reply_success(r, body);
	else
		refuse_memory(r);
}

/* Pieces: GET .../output */

struct output {
	struct process_viewer viewer;
	struct pending pending;
	struct process *process; /* NULL once it is gone */
	uint64_t cursor, lost;
	size_t limit;
	unsigned sources;
	bool base64, both;
};

/* Add a chunk. The decoder keeps an incomplete character for the next chunk of the stream. */
static void add_chunk(const struct output *o, json_t *chunks, struct text_decoder *decoder,
	enum event_source source, const struct gathered *g)
{
	json_t *data = o->base64 ? base64_json(g->bytes, g->length)
				 : text_json(decoder, g->bytes, g->length, false);
	if (g->length > 0 && data)
		json_array_append_new(chunks,
			json_pack("{s:s, s:o}", "stream", process_stream_name(source),
				o->base64 ? "base64" : "data", data));
	else
		json_decref(data);
}

/*
 * Collect chunks from the cursor on, up to the limit. In text, an incomplete character at the end is left for the next
 * request, unless the process has ended.
 */
static json_t *collect(struct output *o, const struct process *p)
{
	struct text_decoder decoders[API_STREAMS] = {{{0}}};
	struct gathered g = {0};
	struct streams_piece piece;
	struct streams_range range = process_range(p, p->head, o->sources);
	json_t *chunks = json_array();
	uint8_t buffer[4096];
	enum event_source source = EVENT_SOURCE_STDOUT;
	uint64_t after = o->cursor;
	size_t total = 0, last = 0;
	while (total < o->limit) {
		size_t cap = o->limit - total < sizeof buffer ? o->limit - total : sizeof buffer;
		bool some = streams_read(&range, &o->cursor, buffer, cap, &piece);
		o->lost += piece.lost;
		if (!some)
			break;
		if (piece.source != source) {
			add_chunk(o, chunks, &decoders[api_process_stream_of(source)], source, &g);
			g.length = 0;
			source = piece.source;
		}
		uint8_t *space = reserve(&g, piece.length);
		if (!space)
			break;
		memcpy(space, buffer, piece.length);
		g.length += piece.length;
		total += piece.length;
		last = piece.length;
		after = o->cursor;
	}
	size_t open = o->base64 ? 0 : utf8_incomplete(g.bytes, g.length);
	bool final = p->ended_ms > 0 && o->cursor >= process_command_end(p);
	if (open > 0 && open <= last && !final && total > open) {
		g.length -= open;
		o->cursor = after - open; /* the beginning of a character holds no CR and no LF */
	}
	add_chunk(o, chunks, &decoders[api_process_stream_of(source)], source, &g);
	for (int i = 0; i < API_STREAMS; i++) {
		char rest[4];
		size_t n = text_decode_end(&decoders[i], rest);
		if (n > 0)
			json_array_append_new(chunks,
				json_pack("{s:s, s:s#}", "stream",
					i == API_STDOUT ? "stdout" : "stderr", "data", rest, (int)n));
	}
	free(g.bytes);
	return chunks;
}

/* Set field to the joined texts of the chunks, for a single stream. */
static void set_joined(json_t *body, const json_t *chunks, const char *field)
{
	json_t *chunk;
	size_t index, length = 0;
	char *text = NULL;
	FILE *f = memory_stream(&text, &length);
	json_array_foreach (chunks, index, chunk) {
		const json_t *data = json_object_get(chunk, field);
		if (f)
			fwrite(json_string_value(data), 1, json_string_length(data), f);
	}
	if (f && fclose(f) == 0)
		json_object_set_new(body, field, json_stringn(text, length));
	free(text);
}

static void reply_output(struct output *o)
{
	struct process *p = o->process;
	uint64_t from = o->cursor;
	json_t *chunks = collect(o, p);
	bool ended = p->ended_ms > 0 && o->cursor >= process_command_end(p);
	json_t *body = json_pack("{s:s, s:s, s:I, s:I, s:I, s:b}", "processId", p->held.id,
		"status", process_status(p), "cursor", (json_int_t)from, "nextCursor",
		(json_int_t)o->cursor, "lost", (json_int_t)o->lost, "ended", ended);
	if (ended)
		json_object_set_new(body, "exitCode", process_exit_json(p));
	if (o->both)
		json_object_set(body, "chunks", chunks);
	else
		set_joined(body, chunks, o->base64 ? "base64" : "data");
	json_decref(chunks);
	reply_success(o->pending.request, body);
}

static void finish_output(struct output *o)
{
	if (o->process)
		process_detach(o->process, &o->viewer);
	o->process = NULL;
	o->pending.request->gone = NULL;
	pending_end(&o->pending);
}

/* Whether there is output, a loss or the end to report. Skips bytes of the other stream. */
static bool has_output(struct output *o)
{
	struct streams_piece piece;
	uint8_t byte[1];
	uint64_t at = o->cursor;
	const struct process *p = o->process;
	struct streams_range range = process_range(p, p->head, o->sources);
	bool some = streams_read(&range, &at, byte, sizeof byte, &piece);
	if (!some && piece.lost == 0)
		o->cursor = at;
	return some || piece.lost > 0 || p->tree == PROCESS_TREE_GONE ||
		(p->ended_ms > 0 && at >= process_command_end(p));
}

static void on_output_more(void *user)
{
	struct output *o = user;
	if (!o->pending.request || !has_output(o))
		return;
	reply_output(o);
	finish_output(o);
}

static void on_output_gone(void *user)
{
	struct output *o = user;
	o->process = NULL;
	if (!o->pending.request)
		return;
	reply_error(o->pending.request, "PROCESS_NOT_FOUND", "The process has been removed", NULL);
	finish_output(o);
}

static void on_client_gone(void *user)
{
	finish_output(user);
}

static void on_output_due(void *user)
{
	struct output *o = user;
	reply_output(o);
	finish_output(o);
}

static bool parse_output(struct request *r, struct output *o, uint64_t *ret_wait_ms)
{
	const char *stream = request_param(r, "stream"), *encoding = request_param(r, "encoding");
	uint64_t limit = OUTPUT_DEFAULT;
	*ret_wait_ms = 0;
	if (!query_number(r, "cursor", INT64_MAX, &o->cursor) ||
		!query_number(r, "limit", OUTPUT_MAX, &limit) ||
		!query_number(r, "waitMs", WAIT_MAX_MS, ret_wait_ms))
		return false;
	o->limit = limit > 0 ? (size_t)limit : 1;
	o->both = !stream || strcmp(stream, "both") == 0;
	bool out = stream && strcmp(stream, "stdout") == 0;
	bool err = stream && strcmp(stream, "stderr") == 0;
	o->sources = out ? STREAMS_STDOUT : err ? STREAMS_STDERR : STREAMS_COMMAND;
	o->base64 = encoding && strcmp(encoding, "base64") == 0;
	if (!o->both && !out && !err)
		return reply_invalid(r, "stream", "Must be stdout, stderr or both", "invalid");
	if (encoding && !o->base64 && strcmp(encoding, "text") != 0)
		return reply_invalid(r, "encoding", "Must be text or base64", "invalid");
	return true;
}

static void show_process_output(struct request *r)
{
	struct api *a = api_of(r);
	uint64_t wait_ms;
	struct process *p = api_process_find_output(a, r);
	struct output *o = p ? request_alloc(r, sizeof *o) : NULL;
	if (!o || !parse_output(r, o, &wait_ms)) {
		free(o);
		goto out;
	}
	o->cursor = o->cursor > p->head ? p->head : o->cursor;
	o->process = p;
	o->viewer = (struct process_viewer){
		.more = on_output_more, .gone = on_output_gone, .user = o};
	pending_open(&o->pending, a->processes->loop, r, o, NULL);
	r->gone = on_client_gone;
	r->gone_user = o;
	process_attach(p, &o->viewer);
	if (has_output(o) || wait_ms == 0)
		on_output_due(o);
	else
		pending_after(&o->pending, wait_ms, on_output_due);
	return;
out:
	if (p)
		process_close_output(p);
}

const struct route_row api_process_output_rows[] = {
	{METHOD_GET, "/api/process/{}/logs", ROUTE_OWNER, .plain = show_process_logs,
		.place = PLACE_PROCESS},
	{METHOD_GET, "/api/process/{}/output", ROUTE_OWNER, .plain = show_process_output,
		.place = PLACE_PROCESS},
	{.path = NULL},
};

/*
 * POST /api/process/ID/wait: waiting for the end of a process, for a line of its output, or for a port. A timeout and
 * an earlier end of the process are answered with errors.
 */
#include "shell/output/streams.h"
#include "shell/wait/log_match.h"
#include "ws/api/read/body.h"
#include "ws/json/process.h"
#include "ws/api/later/pending.h"
#include "ws/api/process/port.h"
#include "ws/api/process/process.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_DEFAULT_MS 60000u
#define TIMEOUT_MAX_MS (UINT64_C(24) * 3600 * 1000)
#define PROCESS_WAITS_MAX 1024u /* at once */
#define PIECE ((size_t)4 << 10)

enum wait_for { FOR_EXIT, FOR_LOG, FOR_PORT };

static const char *const names[] = {"exit", "log", "port"};

struct process_wait {
	struct process_viewer viewer;
	struct pending pending;
	struct process *process; /* NULL once it is gone */
	struct api *api;
	enum wait_for what;
	uint64_t started_ms, timeout_ms; /* loop time */
	unsigned open_handles;
	/* For a line. */
	struct pattern *pattern;
	struct log_match *matches; /* API_STREAMS of them */
	struct text_decoder decoders[API_STREAMS];
	unsigned sources;
	uint64_t cursor, lost;
	/* For a port. */
	struct port_watch port;
	bool watching;
};

static void maybe_free(void *user)
{
	struct process_wait *w = user;
	if (--w->open_handles > 0)
		return;
	pattern_destroy(w->pattern);
	free(w->matches);
	free(w);
}

/* The request has been answered, or its client has disconnected. */
static void finish_wait(struct process_wait *w)
{
	w->api->process_waits--;
	if (w->process)
		process_detach(w->process, &w->viewer);
	w->process = NULL;
	w->pending.request->gone = NULL;
	pending_end(&w->pending);
	if (w->watching) {
		w->api->port_watches--;
		port_watch_close(&w->port, maybe_free, w);
	}
}

static uint64_t elapsed(const struct process_wait *w)
{
	return uv_now(w->api->processes->loop) - w->started_ms;
}

/* The fields that all answers have. */
static json_t *common_json(const struct process_wait *w)
{
	const struct process *p = w->process;
	return json_pack("{s:s, s:s, s:s, s:I, s:o}", "processId", p->held.id, "for",
		names[w->what], "status", process_status(p), "elapsedMs", (json_int_t)elapsed(w),
		"exitCode", process_exit_json(p));
}

static void reply_timeout(struct process_wait *w)
{
	char message[96];
	snprintf(message, sizeof message, "The process was not ready within %llu ms",
		(unsigned long long)w->timeout_ms);
	json_t *context = common_json(w);
	json_object_set_new(context, "timeoutMs", json_integer((json_int_t)w->timeout_ms));
	if (w->what == FOR_LOG)
		json_object_set_new(context, "cursor", json_integer((json_int_t)w->cursor));
	reply_error(w->pending.request, "PROCESS_READY_TIMEOUT", message, context);
	finish_wait(w);
}

static void on_time_up(void *user)
{
	reply_timeout(user);
}

static void on_client_gone(void *user)
{
	finish_wait(user);
}

static void reply_exited(struct process_wait *w)
{
	json_t *context = common_json(w);
	json_object_set_new(context, "stdout", api_process_tail_json(w->process, STREAMS_STDOUT));
	json_object_set_new(context, "stderr", api_process_tail_json(w->process, STREAMS_STDERR));
	reply_error(w->pending.request, "PROCESS_EXITED_BEFORE_READY",
		"The process ended before it was ready", context);
	finish_wait(w);
}

static json_t *match_text(const struct log_match *m, size_t from, size_t to)
{
	char *text = malloc(4 * (to - from) + 1);
	json_t *json = NULL;
	if (text)
		json = json_stringn(text, log_match_text(m, from, to, text));
	free(text);
	return json;
}

static void reply_match(struct process_wait *w, const struct log_match *m, int stream)
{
	json_t *body = common_json(w);
	json_object_set_new(body, "stream", json_string(stream == API_STDOUT ? "stdout" : "stderr"));
	json_object_set_new(body, "match", match_text(m, m->match.start, m->match.end));
	json_object_set_new(body, "line", match_text(m, 0, m->count));
	json_object_set_new(body, "cursor", json_integer((json_int_t)w->cursor));
	json_object_set_new(body, "lost", json_integer((json_int_t)w->lost));
	reply_success(w->pending.request, body);
	finish_wait(w);
}

/* Feed a piece to the matcher. Returns whether a line has matched and r has been answered. */
static bool feed(struct process_wait *w, const struct streams_piece *piece, const uint8_t *bytes)
{
	char text[TEXT_SIZE(PIECE)];
	int stream = piece->source == EVENT_SOURCE_STDOUT ? API_STDOUT : API_STDERR;
	size_t n = text_decode(&w->decoders[stream], bytes, piece->length, text);
	if (!log_match_feed(&w->matches[stream], text, n))
		return false;
	reply_match(w, &w->matches[stream], stream);
	return true;
}

/* Read all new output. Returns whether the request has been answered. */
static bool read_output(struct process_wait *w)
{
	const struct process *p = w->process;
	struct streams_piece piece;
	uint8_t bytes[PIECE];
	bool ended = p->ended_ms > 0;
	uint64_t end = ended && p->end_offset < p->head ? p->end_offset : p->head;
	const struct streams_range range = process_range(p, end, w->sources);
	for (uint64_t at = w->cursor;; at = w->cursor) {
		bool some = streams_read(&range, &at, bytes, sizeof bytes, &piece);
		w->lost += piece.lost;
		/* A match answers with the cursor at the start of its piece, so that nothing is skipped. */
		if (some && feed(w, &piece, bytes))
			return true;
		w->cursor = at;
		if (!some)
			break;
	}
	for (int i = 0; ended && i < API_STREAMS; i++) {
		if (log_match_end(&w->matches[i])) {
			reply_match(w, &w->matches[i], i);
			return true;
		}
	}
	return false;
}

static void on_more(void *user)
{
	struct process_wait *w = user;
	if (!w->pending.request || (w->what == FOR_LOG && read_output(w)) ||
		w->process->ended_ms == 0)
		return;
	if (w->what != FOR_EXIT) {
		reply_exited(w);
		return;
	}
	reply_success(w->pending.request, common_json(w));
	finish_wait(w);
}

static void on_gone(void *user)
{
	struct process_wait *w = user;
	if (!w->pending.request)
		return;
	reply_error(w->pending.request, "PROCESS_NOT_FOUND", "The process has been removed",
		json_pack("{s:s}", "processId", w->process->held.id));
	w->process = NULL;
	finish_wait(w);
}

static void on_port_ready(void *user, int status)
{
	struct process_wait *w = user;
	if (!w->pending.request)
		return;
	json_t *body = common_json(w);
	json_object_set_new(body, "port", json_integer(w->port.options.port));
	if (w->port.options.http)
		json_object_set_new(body, "statusCode", json_integer(status));
	reply_success(w->pending.request, body);
	finish_wait(w);
}

/* The request */

struct params {
	enum wait_for what;
	uint64_t timeout_ms, cursor;
	unsigned sources;
	struct pattern *pattern; /* owned */
	bool whole_lines;
	struct probe_options port;
	unsigned interval_ms;
};

static bool parse_pattern(struct request *r, const json_t *body, struct params *w)
{
	const char *text, *regex, *stream, *problem;
	if (!body_text(r, body, "pattern", &text) || !body_text(r, body, "regex", &regex) ||
		!body_text(r, body, "stream", &stream) ||
		!body_number(r, body, "cursor", 0, INT64_MAX, &w->cursor))
		return false;
	const char *source = regex ? regex : text, *field = regex ? "regex" : "pattern";
	w->sources = STREAMS_COMMAND;
	if (stream && strcmp(stream, "stdout") == 0)
		w->sources = STREAMS_STDOUT;
	else if (stream && strcmp(stream, "stderr") == 0)
		w->sources = STREAMS_STDERR;
	else if (stream && strcmp(stream, "both") != 0)
		return reply_invalid(r, "stream", "Must be stdout, stderr or both", "invalid");
	if (!source || !*source || (text && regex) || strchr(source, '\n'))
		return reply_invalid(
			r, field, "A pattern or a regex for one line is required", "required");
	int rc = pattern_create(
		&w->pattern, source, strlen(source), regex ? PATTERN_REGEX : 0, &problem);
	if (rc == -EINVAL) {
		char message[256];
		snprintf(message, sizeof message, "The %s cannot be used: %s", field, problem);
		return reply_invalid(r, field, message, "invalid");
	}
	if (rc < 0)
		return refuse_memory(r);
	w->whole_lines = regex && log_match_needs_line_end(regex);
	return true;
}

static bool parse_params(struct request *r, const json_t *body, struct params *w)
{
	const char *what;
	w->timeout_ms = TIMEOUT_DEFAULT_MS;
	if (!body_text(r, body, "for", &what) ||
		!body_number(r, body, "timeoutMs", 1, TIMEOUT_MAX_MS, &w->timeout_ms))
		return false;
	for (unsigned i = 0; what && i < sizeof names / sizeof *names; i++) {
		if (strcmp(what, names[i]) != 0)
			continue;
		w->what = (enum wait_for)i;
		return w->what == FOR_EXIT ||
			(w->what == FOR_LOG ? parse_pattern(r, body, w)
					    : api_port_options(r, body, &w->port, &w->interval_ms));
	}
	return reply_invalid(r, "for", "Must be exit, log or port", what ? "invalid" : "required");
}

/* Set up matching for FOR_LOG. Takes the pattern. Returns false when memory is short. */
static bool init_matching(struct process_wait *w, struct params *params)
{
	if (params->what != FOR_LOG)
		return true;
	w->matches = malloc(API_STREAMS * sizeof *w->matches);
	if (!w->matches)
		return false;
	for (int i = 0; i < API_STREAMS; i++)
		log_match_init(&w->matches[i], params->pattern, params->whole_lines);
	w->pattern = params->pattern;
	params->pattern = NULL;
	w->sources = params->sources;
	w->cursor = params->cursor;
	return true;
}

static void begin_wait(struct api *a, struct request *r, struct process *p, struct params *params)
{
	struct process_wait *w = calloc(1, sizeof *w);
	if (!w || !init_matching(w, params)) {
		free(w);
		refuse_memory(r);
		return;
	}
	uv_loop_t *loop = a->processes->loop;
	w->api = a;
	a->process_waits++;
	w->process = p;
	w->what = params->what;
	w->started_ms = uv_now(loop);
	w->timeout_ms = params->timeout_ms;
	w->viewer = (struct process_viewer){.more = on_more, .gone = on_gone, .user = w};
	pending_open(&w->pending, loop, r, w, maybe_free);
	w->open_handles = 1;
	pending_after(&w->pending, w->timeout_ms, on_time_up);
	r->gone = on_client_gone;
	r->gone_user = w;
	if (w->what == FOR_PORT) {
		w->watching = true;
		w->open_handles++;
		a->port_watches++;
		port_watch_start(
			&w->port, loop, &params->port, params->interval_ms, on_port_ready, w);
	}
	process_attach(p, &w->viewer);
	on_more(w);
}

static void await_process(struct request *r)
{
	struct api *a = api_of(r);
	struct params params = {0};
	struct process *p = api_process_find_output(a, r);
	json_t *body = p ? body_read(r) : NULL;
	if (body && parse_params(r, body, &params)) {
		bool full = params.what == FOR_PORT && a->port_watches >= API_PORT_WATCHES_MAX;
		if (full || a->process_waits >= PROCESS_WAITS_MAX)
			reply_error(
				r, "LIMIT_REACHED", "Too many requests are waiting already", NULL);
		else
			begin_wait(a, r, p, &params);
	}
	if (p)
		process_close_output(p);
	pattern_destroy(params.pattern);
}

const struct route_row api_process_wait_rows[] = {
	{METHOD_POST, "/api/process/{}/wait", ROUTE_OWNER, .plain = await_process, .reads = true,
		.place = PLACE_PROCESS},
	{.path = NULL},
};

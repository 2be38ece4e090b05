/*
 * POST /api/execute/code: the output, results and end of a piece of code as a stream of events. The code is paused
 * while its client does not read, and abandoned if the client disconnects.
 */
#include "shell/own_error.h"
#include "ws/api/context/refuse.h"
#include "ws/api/cwd_check.h"
#include "ws/json/run.h"
#include "ws/api/later/output_queue.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/api/rows.h"
#include "ws/log.h"
#include "ws/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Bytes of waiting events beyond which results are omitted. Only code that goes on while it is paused gets there. */
#define RESULTS_MAX ((size_t)32 << 20)

/* A serialized event. */
struct ready_event {
	struct ready_event *prev, *next;
	size_t length;
	char *text; /* owned */
};

/* One request. Freed once its code has ended and the answer is finished. */
struct call {
	struct request *request; /* our reference */
	struct code *code;       /* NULL once it is over */
	uint64_t timeout_ms, started_ns;
	char *text; /* for the log; owned */
	char id[CONTEXT_ID_SIZE];
	enum language language;
	char *cwd;   /* owned */
	bool begun;  /* the answer is a stream */
	bool stream; /* the stream is open */
	bool paused;
	/* Output to send, in this order: */
	struct ready_event *ready;
	size_t ready_bytes;
	struct output_queue queue;
	struct text_decoder decoders[RUN_STREAMS];
};

static void call_free(struct call *c)
{
	struct ready_event *e, *next;
	DL_FOREACH_SAFE (c->ready, e, next) {
		free(e->text);
		free(e);
	}
	output_queue_finish(&c->queue);
	free(c->text);
	free(c->cwd);
	request_unref(c->request);
	free(c);
}

/* Events */

/* Takes text; NULL or an empty one is no event. */
static char *output_event(unsigned stream, json_t *text)
{
	if (json_string_length(text) == 0) {
		json_decref(text);
		return NULL;
	}
	return dump_json(json_pack("{s:s, s:o}", "type", run_stream_name(stream), "text", text));
}

static char *missing_event(unsigned stream, uint64_t bytes)
{
	return dump_json(json_pack("{s:s, s:s, s:I}", "type", "truncated", "stream",
		run_stream_name(stream), "bytes", (json_int_t)bytes));
}

/* NULL when a piece completes no character, or memory is short. */
static char *piece_event(struct call *c, const struct output_piece *p)
{
	struct text_decoder *d = &c->decoders[p->stream];
	if (p->dropped == 0)
		return output_event(p->stream, text_json(d, p->bytes, p->length, false));
	uint64_t missing = p->dropped + d->held_count;
	d->held_count = 0;
	return missing_event(p->stream, missing);
}

static char *next_output(struct call *c)
{
	struct output_piece *p;
	char *text = NULL;
	while (!text && (p = output_queue_take(&c->queue))) {
		text = piece_event(c, p);
		free(p);
	}
	return text;
}

/* Append an event. Takes text; NULL: memory was short. */
static void put_text(struct call *c, char *text)
{
	struct ready_event *e = text ? calloc(1, sizeof *e) : NULL;
	if (!e) {
		free(text);
		return;
	}
	e->text = text;
	e->length = strlen(text);
	c->ready_bytes += e->length;
	DL_APPEND(c->ready, e);
}

/* Append an event after all output so far. */
static void put_event(struct call *c, char *event)
{
	char *text;
	while ((text = next_output(c)))
		put_text(c, text);
	put_text(c, event);
}

/* Append the incomplete characters at the end of the output. */
static void put_rest(struct call *c)
{
	for (unsigned i = 0; i < RUN_STREAMS; i++)
		if (c->decoders[i].held_count > 0)
			put_event(c, output_event(i, text_json(&c->decoders[i], "", 0, true)));
}

static size_t waiting(const struct call *c)
{
	return c->ready_bytes + c->queue.size;
}

/* Pause or resume the code. This stream is its only reader. */
static void update_pause(struct call *c)
{
	bool pause = waiting(c) >= (c->paused ? OUTPUT_QUEUE_LOW : OUTPUT_QUEUE_HIGH);
	if (c->code && pause != c->paused) {
		c->paused = pause;
		code_pause(c->code, pause);
	}
}

static char *next_event(void *user)
{
	struct call *c = user;
	struct ready_event *e = c->ready;
	char *text;
	if (e) {
		DL_DELETE(c->ready, e);
		c->ready_bytes -= e->length;
		text = e->text;
		free(e);
	} else {
		text = next_output(c);
	}
	update_pause(c);
	return text;
}

static void on_closed(void *user)
{
	struct call *c = user;
	c->stream = false;
	if (c->code)
		code_abandon(c->code);
	call_free(c);
}

/* The client has disconnected before the code began. */
static void on_gone(void *user)
{
	struct call *c = user;
	code_abandon(c->code);
	call_free(c);
}

/* The code */

static void on_begun(void *user)
{
	struct call *c = user;
	c->request->gone = NULL;
	c->begun = c->stream = true;
	c->started_ns = uv_hrtime();
	reply_stream(c->request,
		&(struct event_stream){.next = next_event, .closed = on_closed, .user = c});
}

static void on_output(void *user, enum run_stream stream, const void *bytes, size_t length)
{
	struct call *c = user;
	output_queue_put(&c->queue, stream, bytes, length);
	update_pause(c);
	reply_stream_more(c->request);
}

static void on_missed(void *user, enum run_stream stream, uint64_t bytes)
{
	struct call *c = user;
	put_event(c, missing_event(stream, bytes));
	reply_stream_more(c->request);
}

static void on_result(void *user, json_t *result)
{
	struct call *c = user;
	bool sent = result && c->ready_bytes <= RESULTS_MAX;
	json_t *event = sent
		? json_incref(result)
		: json_pack("{s:s, s:{s:s}}", "text", "<a result was omitted>", "metadata",
			  "omitted",
			  result ? "too many results were not read yet" : "it is not JSON");
	json_object_set_new(event, "type", json_string("result"));
	put_event(c, dump_json(event));
	update_pause(c);
	reply_stream_more(c->request);
}

/* An error event that does not come from user code. */
static json_t *own_error(const char *name, const char *text)
{
	return json_pack("{s:s, s:s, s:s, s:[]}", "type", "error", "ename", name, "evalue", text,
		"traceback");
}

static json_t *end_event(const struct call *c, const struct code_end *end)
{
	const char *gone = end->lost ? "; the state of the context is gone" : "";
	char text[256];
	json_t *event;
	switch (end->how) {
	case CODE_COMPLETE:
		return json_pack("{s:s, s:I}", "type", "execution_complete", "execution_count",
			(json_int_t)end->count);
	case CODE_RAISED:
		event = end->error ? json_deep_copy(end->error) : json_object();
		json_object_set_new(event, "type", json_string("error"));
		return event;
	case CODE_TIMED_OUT:
		snprintf(text, sizeof text, "The code took more than %" PRIu64 " ms%s",
			c->timeout_ms, gone);
		return own_error("TimeoutError", text);
	case CODE_REMOVED:
		return own_error("ContextRemoved", "The context was removed");
	default:
		snprintf(text, sizeof text, "%s %s (exit code %d)%s", language_program(c->language),
			end->broken ? "violated its protocol and was killed" : "exited",
			end->exit_code, gone);
		return own_error("ExecutorDied", text);
	}
}

/* The code did not begin: there is no stream yet. */
static void refuse_code(struct call *c, const struct code_end *end)
{
	struct request *r = c->request;
	json_t *context = json_pack("{s:s}", "contextId", c->id);
	if (end->how == CODE_REMOVED) {
		api_context_refuse(r, "CONTEXT_NOT_FOUND", "The context was removed", context);
	} else if (end->start_error < 0) {
		json_decref(context);
		api_context_refuse_start(r, c->language, c->cwd, end->start_error, true);
	} else {
		api_context_refuse(r, "CODE_EXECUTION_ERROR",
			"The executor died while the code was queued; the next code starts a new one",
			context);
	}
}

static void write_log(const struct call *c, const struct code_end *end)
{
	static const char *const ends[] = {[CODE_COMPLETE] = "complete",
		[CODE_RAISED] = "raised",
		[CODE_TIMED_OUT] = "timeout",
		[CODE_DIED] = "died",
		[CODE_LOST] = "lost",
		[CODE_REMOVED] = "removed"};
	char command[LOG_COMMAND_SIZE], ms[24];
	log_command(c->text, command);
	snprintf(ms, sizeof ms, "%" PRIu64,
		c->begun ? (uv_hrtime() - c->started_ns) / 1000000 : UINT64_C(0));
	log_write(end->broken ? LOG_WARN : LOG_INFO, "context", "code", "id", c->id, "peer",
		c->request->peer, "principal", typist_author(c->request), "code", command, "end",
		ends[end->how], "ms", ms, NULL);
}

static void on_done(void *user, const struct code_end *end)
{
	struct call *c = user;
	c->code = NULL;
	write_log(c, end);
	if (!c->begun) {
		c->request->gone = NULL;
		refuse_code(c, end);
		call_free(c);
		return;
	}
	put_rest(c);
	put_event(c, dump_json(end_event(c, end)));
	reply_stream_complete(c->request); /* may close it, and free c */
}

/* The request */

static void refuse_now(struct request *r, const struct context *c, int rc)
{
	json_t *context = json_pack("{s:s}", "contextId", context_id(c));
	if (rc == -EPIPE) {
		api_context_refuse(r, "CODE_EXECUTION_ERROR",
			"The executor has died and its state is lost; the next code starts a new one",
			context);
	} else if (rc == -ERR_LIMIT) {
		json_object_set_new(context, "maxQueued", json_integer(CONTEXT_QUEUE_MAX));
		api_context_refuse(r, "LIMIT_REACHED",
			"Too much code is queued in this context, or too many runs are active",
			context);
	} else {
		json_decref(context);
		api_context_refuse_start(r, context_language(c), context_cwd(c), rc, true);
	}
}

static void start(
	struct request *r, struct context *context, const json_t *code, uint64_t timeout_ms)
{
	static const struct code_callbacks callbacks = {.begun = on_begun,
		.output = on_output,
		.missed = on_missed,
		.result = on_result,
		.done = on_done};
	struct call *c = request_alloc(r, sizeof *c);
	if (!c)
		return;
	c->request = request_ref(r);
	c->timeout_ms = timeout_ms;
	c->language = context_language(context);
	c->text = strdup(json_string_value(code));
	c->cwd = strdup(context_cwd(context));
	snprintf(c->id, sizeof c->id, "%s", context_id(context));
	if (!c->text || !c->cwd) {
		call_free(c);
		refuse_memory(r);
		return;
	}
	r->gone = on_gone;
	r->gone_user = c;
	const struct code_options options = {.text = json_string_value(code),
		.length = json_string_length(code),
		.timeout_ms = timeout_ms,
		.found = r->directory};
	int rc = code_start(context, &options, &callbacks, c, &c->code);
	if (rc < 0) {
		r->gone = NULL;
		refuse_now(r, context, rc);
		call_free(c);
	}
}

/* The field "code". Returns NULL if r has been answered. */
static const json_t *parse_code(struct request *r, const json_t *body)
{
	const json_t *code = json_object_get(body, "code");
	if (!json_is_string(code))
		reply_invalid(r, "code", code ? "Must be a string" : "Is missing",
			code ? "invalid" : "required");
	else if (json_string_length(code) > CONTEXT_CODE_MAX)
		reply_invalid(r, "code", "Must have at most 1048576 bytes", "invalid");
	else
		return code;
	return NULL;
}

/* Check that the field "language", if present, is the context's. Returns false if r has been answered. */
static bool check_language(struct request *r, const char *name, const struct context *c)
{
	enum language asked;
	char message[160];
	if (!name || (language_parse(name, &asked) && asked == context_language(c)))
		return true;
	snprintf(message, sizeof message, "The context runs %s, not %.64s",
		language_name(context_language(c)), name);
	api_context_refuse(
		r, "CODE_EXECUTION_ERROR", message, json_pack("{s:s}", "contextId", context_id(c)));
	return false;
}

static void execute_after_check(struct api *a, struct request *r, json_t *body)
{
	const char *id, *language;
	const json_t *code;
	uint64_t timeout_ms = 0;
	if (!(code = parse_code(r, body)) || !body_text(r, body, "context_id", &id) ||
		!body_text(r, body, "language", &language) ||
		!body_number(r, body, "timeout_ms", 0, BODY_TIME_MAX_MS, &timeout_ms))
		return;
	if (!id) {
		reply_invalid(r, "context_id", "Is missing", "required");
		return;
	}
	struct context *c = api_context_find(a, r, id, true);
	if (c && check_language(r, language, c))
		start(r, c, code, timeout_ms);
}

/* If the executor must be started first, check its directory, which is that of the context. */
static void execute_code(struct request *r)
{
	struct api *a = api_of(r);
	const char *id = NULL;
	json_t *body = body_read(r);
	if (!body)
		return;
	(void)body_find_text(body, "context_id", &id);
	const struct context *c = id ? contexts_find(a->contexts, id) : NULL;
	bool starts_executor = c && api_context_is_visible(r, c) && !context_has_executor(c);
	cwd_check_path(a, r, body, starts_executor ? context_cwd(c) : NULL, execute_after_check);
}

const struct route_row api_context_execute_rows[] = {
	{METHOD_POST, "/api/execute/code", ROUTE_OWNER_OR_TRUSTED, .plain = execute_code},
	{.path = NULL},
};

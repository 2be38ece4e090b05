/* Commands in the shell of a session: starting, waiting, listing, reading the output, cancelling. */
#include "shell/own_error.h"
#include "ws/api/api.h"
#include "ws/api/cwd_check.h"
#include "ws/api/read/body.h"
#include "ws/api/exec/stream.h"
#include "ws/api/exec/wait.h"
#include "ws/api/inherit.h"
#include "ws/json/exec.h"
#include "ws/json/session.h"
#include "ws/api/read/query.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/api/rows.h"
#include "ws/base64.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRACE_MAX_MS 60000u

/* The fields of a request; strings are borrowed from the body. */
struct params {
	struct exec_options options;
	struct body_environment env;
	enum exec_format format;
	uint64_t yield_ms;
	bool yields;
	unsigned char *decoded; /* input; owned */
};

static bool parse_input(struct request *r, const json_t *body, struct params *q)
{
	const json_t *text = json_object_get(body, "stdin");
	const char *base64;
	if (!body_text(r, body, "stdinBase64", &base64) ||
		!body_text(r, body, "stdinFrom", &q->options.inlet))
		return false;
	if (q->options.inlet && (text || base64))
		return reply_invalid(
			r, "stdinFrom", "Cannot be combined with stdin or stdinBase64", "invalid");
	if (base64) {
		q->options.input = q->decoded = base64_decode(base64, &q->options.input_length);
		return q->decoded || reply_invalid(r, "stdinBase64", "Must be base64", "invalid");
	}
	if (!text)
		return true;
	if (json_is_null(text)) {
		q->options.no_input = true;
		return true;
	}
	q->options.input = json_string_value(text);
	q->options.input_length = json_string_length(text);
	return q->options.input ||
		reply_invalid(r, "stdin", "Must be text, or null for none", "invalid");
}

static bool parse_history(struct request *r, const json_t *body, struct exec_options *o)
{
	bool history = false;
	if (!body_flag(r, body, "history", &history))
		return false;
	if (json_is_boolean(json_object_get(body, "history")))
		o->history = history ? EXEC_HISTORY_YES : EXEC_HISTORY_NO;
	return true;
}

static bool parse_limits(struct request *r, const json_t *body, struct params *q)
{
	uint64_t output = 0;
	struct exec_options *o = &q->options;
	q->yields = json_is_integer(json_object_get(body, "yieldMs"));
	if (!body_number(r, body, "yieldMs", 0, EXEC_TIME_MAX_MS, &q->yield_ms) ||
		!body_number(r, body, "timeoutMs", 1, EXEC_TIME_MAX_MS, &o->timeout_ms) ||
		!body_number(r, body, "queueMs", 1, EXEC_TIME_MAX_MS, &o->queue_ms) ||
		!body_number(r, body, "maxOutput", 2, EXEC_OUTPUT_MAX, &output) ||
		!body_flag(r, body, "queue", &o->queue) || !body_flag(r, body, "hold", &o->hold) ||
		!body_flag(r, body, "isolate", &o->isolated) || !parse_history(r, body, o))
		return false;
	o->output_max = (size_t)output;
	return true;
}

static bool parse_names(struct request *r, const json_t *body, struct params *q)
{
	const char *streams, *format;
	struct exec_options *o = &q->options;
	if (!body_text(r, body, "key", &o->key) || !body_text(r, body, "label", &o->label) ||
		!body_text(r, body, "lease", &o->lease) || !body_text(r, body, "cwd", &o->cwd) ||
		!body_text(r, body, "streams", &streams) || !body_text(r, body, "format", &format))
		return false;
	if (streams && !exec_streams_parse(streams, &o->streams))
		return reply_invalid(
			r, "streams", "Must be terminal, pipes or terminals", "invalid");
	if (format && !exec_format_parse(format, &q->format))
		return reply_invalid(r, "format", "Must be text, raw or base64", "invalid");
	if (o->key && (!*o->key || strlen(o->key) > EXEC_KEY_MAX))
		return reply_invalid(r, "key", "A key has 1 to 128 bytes", "invalid");
	if (o->label && (!name_is_text(o->label) || strlen(o->label) > EXEC_AUTHOR_MAX))
		return reply_invalid(r, "label",
			"A name is 1 to 128 bytes without control characters", "invalid");
	return true;
}

static bool parse_params(struct request *r, const json_t *body, struct params *q)
{
	return body_command(r, body, &q->options.command, &q->options.length) &&
		parse_names(r, body, q) && parse_limits(r, body, q) &&
		body_environment(r, body, "env", &q->env) && body_directory(r, q->options.cwd) &&
		parse_input(r, body, q);
}

static void on_waited(void *user, struct request *r, struct exec *e)
{
	enum exec_format format = (enum exec_format)(uintptr_t)user;
	json_t *data = exec_json(e);
	if (data)
		exec_json_add_output(data, e, format);
	reply_success(r, json_pack("{s:o}", "data", data));
}

/* A request for the exec, whose answer is that of the request that started it. */
static char *make_target(void *user, const struct exec *e, uint64_t wait_ms)
{
	static const char *const formats[] = {
		[EXEC_FORMAT_TEXT] = "text", [EXEC_FORMAT_RAW] = "raw", [EXEC_FORMAT_BASE64] = "base64"};
	char *target = NULL;
	if (asprintf(&target, "/api/session/%s/exec/%s?waitMs=%" PRIu64 "&format=%s",
		    session_id(session_of_exec((struct exec *)(uintptr_t)e)), e->id, wait_ms,
		    formats[(enum exec_format)(uintptr_t)user]) < 0)
		return NULL;
	return target;
}

/* Run beside the shell with its state, and answer as POST /api/run. */
static void start_fork(struct api *a, struct request *r, json_t *body, struct session *s)
{
	static const char *const excluded[] = {"queue", "isolate", "history", "key", "yieldMs"};
	for (size_t i = 0; i < sizeof excluded / sizeof *excluded; i++) {
		if (json_object_get(body, excluded[i])) {
			reply_invalid(r, excluded[i], "Cannot be combined with fork", "invalid");
			return;
		}
	}
	if (s->state != SESSION_RUNNING)
		refuse_exec(r, s, -ERR_NOT_RUNNING);
	else if (typist_check_lease(r, body, s))
		inherit_from(a, r, body, s, api_run_body);
}

static void start_in(struct api *a, struct request *r, json_t *body, struct session *s)
{
	struct params q = {0};
	struct exec *e;
	bool fork = false;
	if (!body_flag(r, body, "fork", &fork))
		return;
	if (fork) {
		start_fork(a, r, body, s);
		return;
	}
	if (!parse_params(r, body, &q))
		goto out;
	q.options.env_names = q.env.names;
	q.options.env_values = q.env.values;
	q.options.env_count = q.env.count;
	q.options.author = typist_author(r);
	q.options.peer = r->peer;
	q.options.caller = r->caller;
	struct exec_wait_options wait = {.loop = a->sessions->loop,
		.limited = q.yields,
		.limit_ms = q.yield_ms,
		.done = on_waited,
		.user = (void *)(uintptr_t)q.format,
		.target = make_target};
	if (!exec_wait_claim(a->access, r, &q.options))
		goto out;
	int rc = exec_wait_start(r, s, &q.options, &wait, &e);
	if (rc < 0) {
		claim_release(&q.options.claim);
		refuse_exec(r, s, rc);
	}
out:
	free(q.decoded);
}

/* The session may have been deleted while the directory was checked. */
static void start_after_check(struct api *a, struct request *r, json_t *body)
{
	struct session *s = sessions_find(a->sessions, r->match.id);
	if (s && auth_may_see(&r->principal, session_id(s), session_epoch(s)))
		start_in(a, r, body, s);
	else
		reply_error(r, "SESSION_DESTROYED", "The session has been deleted",
			json_pack("{s:s}", "sessionId", r->match.id));
}

static void start_exec(struct request *r, struct session *s)
{
	(void)s;
	cwd_check_body(api_of(r), r, start_after_check);
}

static void append_exec(void *user, const struct exec *e)
{
	json_array_append_new(user, exec_json(e));
}

static void list_execs(struct request *r, struct session *s)
{
	json_t *list = json_array();
	exec_each(session_executor(s), append_exec, list);
	reply_success(r, json_pack("{s:o}", "data", list));
}

/* The exec in the path. Returns NULL if r has been answered. */
static struct exec *find_exec(struct request *r, struct session *s)
{
	struct exec *e = exec_find(session_executor(s), r->match.item);
	if (!e)
		reply_error(r, "EXEC_NOT_FOUND", "There is no such command, or it is forgotten",
			json_pack("{s:s, s:s}", "sessionId", session_id(s), "execId", r->match.item));
	return e;
}

static bool parse_format(struct request *r, enum exec_format *ret_format)
{
	const char *text = request_param(r, "format");
	*ret_format = EXEC_FORMAT_TEXT;
	return !text || exec_format_parse(text, ret_format) ||
		reply_invalid(r, "format", "Must be text, raw or base64", "invalid");
}

static void show_exec(struct request *r, struct session *s)
{
	struct api *a = api_of(r);
	enum exec_format format;
	static const char too_large[] = "Must be a number that is not too large";
	uint64_t limit = 0, from = 0, bytes = 0;
	struct exec *e = find_exec(r, s);
	if (!e || !parse_format(r, &format) ||
		!query_number_or(r, "waitMs", EXEC_TIME_MAX_MS, too_large, &limit) ||
		!query_number_or(r, "from", INT64_MAX, too_large, &from) ||
		!query_number_or(r, "bytes", INT32_MAX, too_large, &bytes))
		return;
	exec_wait(r, e,
		&(struct exec_wait_options){.loop = a->sessions->loop,
			.limited = true,
			.limit_ms = limit,
			.from = from,
			.bytes = bytes,
			.done = on_waited,
			.user = (void *)(uintptr_t)format});
}

static void show_exec_output(struct request *r, struct session *s)
{
	enum exec_format format;
	struct exec *e = find_exec(r, s);
	if (!e || !parse_format(r, &format))
		return;
	json_t *data = json_pack("{s:s, s:s}", "id", e->id, "state", exec_state_name(e->state));
	if (data)
		exec_json_add_output(data, e, format);
	reply_success(r, json_pack("{s:o}", "data", data));
}

static void stream_exec(struct request *r, struct session *s)
{
	enum exec_format format;
	struct outline_place from;
	struct exec *e = find_exec(r, s);
	const char *cursor = request_param(r, "cursor");
	if (!e || !parse_format(r, &format))
		return;
	if (cursor && !exec_stream_parse_cursor(cursor, &from)) {
		reply_invalid(r, "cursor", "Must be the cursor of an event", "invalid");
		return;
	}
	exec_stream_open(r, e,
		&(struct exec_stream_options){.kind = EXEC_STREAM_NATIVE,
			.bytes = format == EXEC_FORMAT_BASE64,
			.from = cursor ? &from : NULL});
}

static void cancel_exec(struct request *r, struct session *s)
{
	struct api *a = api_of(r);
	const char *name;
	uint64_t grace = EXEC_GRACE_MS;
	struct exec *e = find_exec(r, s);
	json_t *body = e ? body_read(r) : NULL;
	if (!body || !body_text(r, body, "signal", &name) ||
		!body_number(r, body, "graceMs", 10, GRACE_MAX_MS, &grace))
		return;
	int signo = name ? signal_parse(name) : 0;
	if (signo < 0) {
		reply_invalid(r, "signal", "Must be the name of a signal, such as INT", "invalid");
		return;
	}
	/* No lease is needed to cancel one's own command before it was sent to the shell. */
	bool own = e->state == EXEC_QUEUED && strcmp(e->author, typist_author(r)) == 0;
	if (!own && !typist_check_lease(r, body, s))
		return;
	exec_cancel(e, signo, (unsigned)grace);
	/* Wait until it is done or all signals have been tried; the answer lists the signals. */
	exec_wait(r, e,
		&(struct exec_wait_options){.loop = a->sessions->loop,
			.limited = true,
			.limit_ms = 5 * grace,
			.until_unkillable = true,
			.done = on_waited,
			.user = (void *)(uintptr_t)EXEC_FORMAT_TEXT});
}

const struct route_row api_exec_rows[] = {
	{METHOD_POST, "/api/session/{}/exec", ROUTE_DRIVER, .session = start_exec},
	{METHOD_GET, "/api/session/{}/exec", ROUTE_VIEWER, .session = list_execs},
	{METHOD_GET, "/api/session/{}/exec/{}", ROUTE_VIEWER, .session = show_exec},
	{METHOD_GET, "/api/session/{}/exec/{}/output", ROUTE_VIEWER, .session = show_exec_output},
	{METHOD_GET, "/api/session/{}/exec/{}/stream", ROUTE_VIEWER, .session = stream_exec},
	{METHOD_POST, "/api/session/{}/exec/{}/cancel", ROUTE_DRIVER, .session = cancel_exec},
	{.path = NULL},
};

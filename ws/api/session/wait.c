/* POST /api/session/ID/wait: wait until a condition holds. See shell/wait/wait.h. */
#include "shell/hash.h"
#include "shell/own_error.h"
#include "shell/session/session.h"
#include "shell/wait/log_match.h"
#include "shell/wait/wait.h"
#include "ws/api/api.h"
#include "ws/json/session.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_DEFAULT_MS 30000u
#define STABLE_DEFAULT_MS 300u

/* A request that waits. */
struct call {
	struct wait_waiter waiter;
	struct api *api;
	struct request *request;
	struct session *session;
};

/* The parsed request; key is borrowed from the body. */
struct asked {
	struct wait_condition conditions[WAIT_CONDITIONS_MAX];
	struct wait_options options;
};

/* Answering */

static void release(struct call *c)
{
	request_unref(c->request);
	free(c);
}

static json_t *result_json(const struct call *c, const struct wait_result *w)
{
	struct pane_state state;
	session_state(c->session, &state);
	json_t *root = json_pack("{s:o, s:s, s:I, s:I, s:o}", "fired",
		w->fired < 0 ? json_null() : json_integer(w->fired), "type",
		w->timed_out ? "timeout" : wait_type_name(w->type), "offset", (json_int_t)w->offset,
		"elapsedMs", (json_int_t)w->elapsed_ms, "state",
		api_state_json(c->api, c->request, c->session, &state));
	if (root && !w->timed_out && w->type == WAIT_LEASE)
		json_object_set_new(root, "note", lease_note_json(session_keyboard(c->session)));
	if (root && w->has_end)
		json_object_set_new(root, "end", json_integer((json_int_t)w->end));
	if (root && w->has_place) {
		json_object_set_new(root, "row", json_integer((json_int_t)w->row));
		json_object_set_new(root, "column", json_integer((json_int_t)w->column));
	}
	if (root && w->text)
		json_object_set_new(root, "text", json_stringn(w->text, w->length));
	if (root && w->lost > 0)
		json_object_set_new(root, "lost", json_integer((json_int_t)w->lost));
	return root;
}

static void on_done(void *user, const struct wait_result *result)
{
	struct call *c = user;
	c->request->gone = NULL;
	reply_success(c->request, result_json(c, result));
	release(c);
}

static void on_deleted(void *user)
{
	struct call *c = user;
	c->request->gone = NULL;
	reply_error(c->request, "SESSION_DESTROYED", "The session has been deleted", NULL);
	release(c);
}

/* The client has disconnected. A wait with a key goes on. */
static void on_gone(void *user)
{
	struct call *c = user;
	wait_leave(&c->waiter);
	release(c);
}

/* The same request, from the same place and for the rest of the time. */
static bool on_repeat(void *user, struct request_repeat *ret_repeat)
{
	const struct call *c = user;
	uint64_t from, left_ms;
	json_t *body;
	const struct request *r = c->request;
	bool short_of_memory;
	if (!wait_get_rest(&c->waiter, &from, &left_ms) || !r->body)
		return false;
	if (!ret_repeat)
		return true;
	body = body_parse(r->body, r->body_length, &short_of_memory);
	if (json_is_object(body)) {
		json_object_set_new(body, "timeoutMs", json_integer((json_int_t)left_ms));
		json_object_set_new(body, "from", json_integer((json_int_t)from));
		ret_repeat->body = json_dumps(body, JSON_COMPACT);
	}
	json_decref(body);
	return ret_repeat->body != NULL;
}

/* Parsing */

/* Answer that a field of a condition is invalid. Returns false. */
static bool refuse_condition(struct request *r, const char *field, const char *message)
{
	return reply_invalid(r, field, message, "invalid");
}

static bool parse_pattern(struct request *r, const json_t *body, struct wait_condition *c)
{
	const char *text, *on, *problem;
	bool exact = true;
	if (!body_text(r, body, "pattern", &text) || !body_text(r, body, "on", &on) ||
		!body_flag(r, body, "case", &exact))
		return false;
	if (!text || strchr(text, '\n'))
		return refuse_condition(
			r, "pattern", "A regular expression for one line is required");
	if (on && strcmp(on, "output") != 0 && strcmp(on, "screen") != 0)
		return refuse_condition(r, "on", "Must be output or screen");
	c->on_screen = on && strcmp(on, "screen") == 0;
	c->needs_line_end = log_match_needs_line_end(text);
	int rc = pattern_create(&c->pattern, text, strlen(text),
		PATTERN_REGEX | (exact ? 0 : PATTERN_ANY_CASE), &problem);
	if (rc == -EINVAL) {
		char message[256];
		snprintf(message, sizeof message, "The pattern cannot be used: %s", problem);
		return refuse_condition(r, "pattern", message);
	}
	return rc == 0 || refuse_memory(r);
}

static bool parse_kind(struct request *r, const json_t *body, struct wait_condition *c)
{
	const char *kind;
	if (!body_text(r, body, "kind", &kind))
		return false;
	for (int k = STATE_INPUT_LINE; kind && k <= STATE_INPUT_RAW; k++)
		if (strcmp(kind, state_input_name((enum state_input)k)) == 0)
			c->kind = (enum state_input)k;
	return !kind || c->kind ? true
				: refuse_condition(r, "kind", "Must be line, password or raw");
}

/* Ports belong to the machine: only principals that may list ports may wait for them. */
static bool parse_port(struct request *r, const json_t *body, struct wait_condition *c)
{
	uint64_t port = 0;
	if (!body_number(r, body, "port", 1, 65535, &port))
		return false;
	c->port = (unsigned)port;
	if (port == 0)
		return refuse_condition(r, "port", "A number from 1 to 65535 is required");
	if (access_may(api_of(r)->access, &r->principal, ROUTE_OWNER_OR_TRUSTED))
		return true;
	return reply_error(
		r, "PERMISSION_DENIED", "Only owners and trusted drivers may wait for ports", NULL);
}

static bool parse_details(struct request *r, const json_t *body, struct wait_condition *c)
{
	const char *id;
	switch (c->type) {
	case WAIT_EXEC:
		if (!body_text(r, body, "id", &id))
			return false;
		if (!id || strlen(id) > RECORD_ID_MAX)
			return refuse_condition(r, "id", "The id of a command is required");
		memcpy(c->exec, id, strlen(id) + 1);
		return true;
	case WAIT_INPUT:
		return parse_kind(r, body, c) && body_flag(r, body, "certain", &c->certain);
	case WAIT_MATCH:
		return parse_pattern(r, body, c);
	case WAIT_STABLE:
		c->ms = STABLE_DEFAULT_MS;
		return body_number(r, body, "ms", 1, WAIT_TIMEOUT_MAX_MS, &c->ms) &&
			body_flag(r, body, "ready", &c->ready);
	case WAIT_IDLE:
		return body_number(r, body, "ms", 1, WAIT_TIMEOUT_MAX_MS, &c->ms) &&
			(c->ms > 0 ||
				refuse_condition(r, "ms", "A number of milliseconds is required"));
	case WAIT_BYTES:
		return body_number(r, body, "count", 1, INT64_MAX, &c->count) &&
			(c->count > 0 ||
				refuse_condition(r, "count", "A number of bytes is required"));
	case WAIT_PORT:
		return parse_port(r, body, c);
	default:
		return true;
	}
}

static bool parse_condition(struct request *r, const json_t *body, struct wait_condition *c)
{
	const char *type = json_string_value(json_object_get(body, "type"));
	for (int k = 0; type && k < WAIT_TYPES; k++)
		if (strcmp(type, wait_type_name((enum wait_type)k)) == 0) {
			c->type = (enum wait_type)k;
			return parse_details(r, body, c);
		}
	return refuse_condition(r, "type",
		"Must be exec, prompt, input, match, stable, idle, bytes, exit, port or lease");
}

static bool parse_conditions(struct request *r, const json_t *body, struct asked *q)
{
	const json_t *list = json_object_get(body, "until"), *value;
	size_t i;
	if (!json_is_array(list) || json_array_size(list) == 0 ||
		json_array_size(list) > WAIT_CONDITIONS_MAX)
		return reply_invalid(r, "until", "Must be a list of 1 to 16 conditions",
			list ? "invalid" : "required");
	json_array_foreach (list, i, value) {
		q->options.count = (unsigned)i + 1;
		snprintf(r->within, sizeof r->within, "until[%zu]", i);
		if (!parse_condition(r, value, &q->conditions[i]))
			return false;
	}
	r->within[0] = '\0';
	q->options.conditions = q->conditions;
	return true;
}

static bool parse_offset(struct request *r, const json_t *body, const char *field, bool *ret_has,
	uint64_t *ret_offset)
{
	*ret_has = json_is_integer(json_object_get(body, field));
	return body_number(r, body, field, 0, INT64_MAX, ret_offset);
}

/* Hash of the request in canonical JSON, without key and timeoutMs. */
static uint64_t fingerprint(const json_t *body)
{
	json_t *rest = json_copy((json_t *)(uintptr_t)body);
	json_object_del(rest, "key");
	json_object_del(rest, "timeoutMs");
	char *text = json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS);
	uint64_t hash = hash_text(HASH_START, text ? text : "");
	free(text);
	json_decref(rest);
	return hash;
}

static bool parse_asked(struct request *r, const json_t *body, struct asked *q)
{
	struct wait_options *o = &q->options;
	o->timeout_ms = TIMEOUT_DEFAULT_MS;
	if (!body_number(r, body, "timeoutMs", 0, WAIT_TIMEOUT_MAX_MS, &o->timeout_ms) ||
		!parse_offset(r, body, "from", &o->has_from, &o->from) ||
		!parse_offset(r, body, "after", &o->has_after, &o->after) ||
		!body_text(r, body, "key", &o->key))
		return false;
	if (o->key && (!*o->key || strlen(o->key) > WAIT_KEY_MAX))
		return reply_invalid(r, "key", "A key has 1 to 128 bytes", "invalid");
	o->fingerprint = o->key ? fingerprint(body) : 0;
	return parse_conditions(r, body, q);
}

static void refuse_start(struct request *r, const struct session *s, int rc)
{
	json_t *context = json_pack("{s:s}", "sessionId", session_id(s));
	switch (rc) {
	case -ERR_LIMIT:
		reply_error(r, "LIMIT_REACHED", "Too many waits for this session", context);
		break;
	case -EMFILE:
		reply_error(r, "LIMIT_REACHED", "Too many waits for patterns or ports", context);
		break;
	case -ERR_KEY_IN_USE:
		reply_error(r, "KEY_IN_USE", "This key belongs to another wait", context);
		break;
	case -ENOENT:
		reply_error(
			r, "EXEC_NOT_FOUND", "There is no such command, or it is too old", context);
		break;
	case -ERR_NOT_RUNNING:
		reply_error(r, "RESOURCE_BUSY", "The session is not running yet", context);
		break;
	case -ERANGE:
		json_decref(context);
		reply_invalid(r, "from", "from and after must not exceed the length of the output",
			"invalid");
		break;
	default:
		reply_error(r, error_code_of(rc), error_text(rc), context);
	}
}

static void begin_wait(struct api *a, struct request *r, struct session *s, struct asked *q)
{
	struct call *c = calloc(1, sizeof *c);
	int rc = -ENOMEM;
	if (c) {
		c->api = a;
		c->request = request_ref(r);
		c->session = s;
		c->waiter = (struct wait_waiter){.done = on_done, .gone = on_deleted, .user = c};
		/* session_wait() may call on_done. */
		r->gone = on_gone;
		r->gone_user = c;
		r->repeat = on_repeat;
		rc = session_wait(s, &q->options, &c->waiter);
	}
	if (rc == 0) {
		q->options.count = 0; /* the session owns the patterns */
		return;
	}
	claim_release(&q->options.claim);
	r->gone = NULL;
	if (c)
		release(c);
	refuse_start(r, s, rc);
}

/* Claim the quota for a wait and its patterns. Returns false after it has answered r. */
static bool claim(struct api *a, struct request *r, struct asked *q)
{
	unsigned patterns = 0;
	for (unsigned i = 0; i < q->options.count; i++)
		patterns += q->conditions[i].pattern != NULL;
	const struct access_amount want[ACCESS_PLACES] = {
		{QUOTA_WAITS, 1}, {QUOTA_PATTERNS, patterns}};
	return access_claim_for(a->access, r, want, &q->options.claim);
}

static void await_session(struct request *r, struct session *s)
{
	struct api *a = api_of(r);
	struct asked q = {0};
	json_t *body = body_read(r);
	if (body && parse_asked(r, body, &q) && claim(a, r, &q))
		begin_wait(a, r, s, &q);
	for (unsigned i = 0; i < q.options.count; i++)
		pattern_destroy(q.conditions[i].pattern);
}

const struct route_row api_wait_rows[] = {
	{METHOD_POST, "/api/session/{}/wait", ROUTE_VIEWER, .session = await_session, .reads = true},
	{.path = NULL},
};

/*
 * See memory_call.h. It plays the transport's part as ws/net does: it reads the answer when there is one, pulls events
 * when a test wants them, and abandons the request at the end.
 */
#include "tests/lib/memory_call.h"

#include "tests/lib/json_text.h"
#include "tests/lib/memory_api.h"
#include "tests/lib/openapi_find.h"
#include "ws/error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Requests */

static void on_answered(void *user)
{
	struct call *c = user;
	cr_assert(!c->answered && !c->streaming, "%s: answered twice", c->line);
	c->answered = true;
}

static void on_streaming(void *user)
{
	struct call *c = user;
	cr_assert(!c->answered && !c->streaming, "%s: answered twice", c->line);
	c->streaming = c->more = true;
}

static void on_more(void *user)
{
	((struct call *)user)->more = true;
}

static const struct request_transport transport = {
	.answered = on_answered, .streaming = on_streaming, .more = on_more};

static void parse_line(struct call *c)
{
	char method[8];
	int length = 0;
	cr_assert_eq(sscanf(c->line, "%7[A-Z] %n", method, &length), 1, "%s", c->line);
	c->request->method = method_parse(method);
	cr_assert_eq(request_parse_target(c->request, c->line + length), 0, "%s", c->line);
}

static void set_principal(struct request *r, const struct ask *ask)
{
	static const enum role roles[] = {
		[BY_OWNER] = ROLE_OWNER, [BY_DRIVER] = ROLE_DRIVER, [BY_VIEWER] = ROLE_VIEWER};
	struct principal *p = &r->principal;
	r->auth = ask->by == BY_NOBODY ? AUTH_MISSING : AUTH_OK;
	snprintf(r->peer, sizeof r->peer, "127.0.0.1");
	request_set_session_header(r, ask->hint);
	if (ask->by == BY_NOBODY)
		return;
	p->role = roles[ask->by];
	if (ask->by != BY_OWNER)
		snprintf(p->link, sizeof p->link, "link");
	if (!ask->only)
		return;
	const struct session *s = sessions_find(&memory_api.sessions, ask->only);
	snprintf(p->session, sizeof p->session, "%s", ask->only);
	p->epoch = s ? session_epoch(s) : 0;
}

struct call *memory_api_ask(const struct ask *ask)
{
	struct call *c = calloc(1, sizeof *c);
	struct request *r = request_create();
	cr_assert(c && r);
	c->request = r;
	snprintf(c->line, sizeof c->line, "%s", ask->line);
	cr_assert_lt(strlen(ask->line), sizeof c->line, "%s", ask->line);
	parse_line(c);
	set_principal(r, ask);
	if (ask->body) {
		/* An exact copy, so that ASan finds reads beyond the end. */
		r->body_length = ask->length ? ask->length : strlen(ask->body);
		r->body = malloc(r->body_length + 1);
		cr_assert_not_null(r->body);
		memcpy(r->body, ask->body, r->body_length);
		r->body[r->body_length] = '\0';
	}
	r->transport = &transport;
	r->transport_user = c;
	LL_PREPEND(memory_api.calls, c);
	dispatcher_handle(&memory_api.dispatcher, r);
	return c;
}

static struct call *begin(const char *line, const char *body, enum asker by)
{
	char *text = body ? json_quoted(body) : NULL;
	struct call *c = memory_api_ask(&(struct ask){.line = line, .body = text, .by = by});
	free(text);
	return c;
}

struct call *memory_api_begin(const char *line, const char *body)
{
	return begin(line, body, BY_OWNER);
}

struct call *memory_api_send(const char *line, json_t *body)
{
	char *text = json_dumps(body, 0);
	json_decref(body);
	struct call *c = memory_api_ask(&(struct ask){.line = line, .body = text});
	free(text);
	return c;
}

struct call *memory_api_call(const char *line, const char *body)
{
	struct call *c = memory_api_begin(line, body);
	call_await(c);
	return c;
}

struct call *memory_api_get(const char *format, ...)
{
	char line[512];
	va_list list;
	va_start(list, format);
	vsnprintf(line, sizeof line, format, list);
	va_end(list);
	return memory_api_call(line, NULL);
}

int memory_api_status(const char *line, const char *body)
{
	struct call *c = memory_api_call(line, body);
	int status = call_status(c);
	call_end(c);
	return status;
}

/* Answers */

/* What api/openapi.json says of a route's answers with a status, or NULL. */
static const char *described(const struct route_row *row, int status)
{
	static json_t *document;
	char number[8];
	if (!document)
		document = openapi_load();
	snprintf(number, sizeof number, "%d", status);
	const json_t *responses = json_object_get(openapi_find(document, row), "responses");
	return json_string_value(json_object_get(json_object_get(responses, number), "description"));
}

static void check_error(const struct call *c, int status)
{
	const char *code = json_string_value(json_object_get(c->json, "code"));
	const char *message = json_string_value(json_object_get(c->json, "message"));
	cr_assert(code && message && *message, "%s: %s", c->line, call_body(c));
	cr_expect(json_is_object(json_object_get(c->json, "context")), "%s: %s", c->line,
		call_body(c));
	cr_expect(json_is_string(json_object_get(c->json, "timestamp")), "%s", c->line);
	cr_expect_eq(
		json_integer_value(json_object_get(c->json, "httpStatus")), status, "%s", c->line);
	cr_expect_eq(error_status(code), status, "%s: %s", c->line, code);
	/* Errors that every route can have are described only once. */
	const struct route_row *row = c->request->match.row;
	bool anywhere = strcmp(code, "INTERNAL_ERROR") == 0 || strcmp(code, "OUT_OF_MEMORY") == 0;
	const char *says = row && !anywhere ? described(row, status) : code;
	cr_expect(says && strstr(says, code), "%s: %s %d is missing in openapi.json: %s", c->line,
		code, status, says ? says : "nothing");
}

static void check_reply(struct call *c)
{
	const struct reply *reply = &c->request->reply;
	bool is_json = reply->content_type && strcmp(reply->content_type, "application/json") == 0;
	cr_assert(is_json || reply->status < 400, "%s: %d", c->line, reply->status);
	if (!is_json)
		return;
	c->json = json_loadb(
		reply->body, reply->length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	cr_assert(json_is_object(c->json), "%s: %.*s", c->line, (int)reply->length, reply->body);
	if (reply->status >= 400)
		check_error(c, reply->status);
}

void call_await(struct call *c)
{
	cr_assert(LOOP_UNTIL(&memory_api.loop, c->answered || c->streaming), "%s: no answer",
		c->line);
	if (c->answered && !c->json)
		check_reply(c);
}

void call_expect(struct call *c, int status, const char *code)
{
	call_await(c);
	cr_expect_eq(call_status(c), status, "%s: %d: %s", c->line, call_status(c), call_body(c));
	if (code)
		cr_expect_str_eq(call_code(c), code, "%s: %s", c->line, call_body(c));
}

void call_has(struct call *c, const char *json)
{
	call_await(c);
	json_has(c->json, json, c->line);
}

void call_returns(struct call *c, const char *json)
{
	call_expect(c, 200, "");
	call_has(c, json);
}

void memory_api_check(const char *line, const char *body, const char *json)
{
	struct call *c = memory_api_begin(line, body);
	call_returns(c, json);
	call_end(c);
}

void call_end(struct call *c)
{
	LL_DELETE(memory_api.calls, c);
	request_abandon(c->request);
	json_decref(c->json);
	free(c);
}

int call_status(const struct call *c)
{
	return c->streaming ? 200 : c->request->reply.status;
}

const char *call_header(const struct call *c, const char *name)
{
	const struct reply *reply = &c->request->reply;
	for (size_t i = 0; i < reply->headers_count; i++)
		if (strcasecmp(reply->headers[i].name, name) == 0)
			return reply->headers[i].value;
	return NULL;
}

const char *call_body(const struct call *c)
{
	return c->request->reply.body ? c->request->reply.body : "";
}

const json_t *call_get(const struct call *c, const char *path_in)
{
	const json_t *value = c->json;
	char copy[128], *rest = copy;
	snprintf(copy, sizeof copy, "%s", path_in);
	for (const char *name; value && (name = strsep(&rest, "."));)
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(name))
					     : json_object_get(value, name);
	return value;
}

static void complain(const struct call *c, const char *name)
{
	char *text = c->json ? json_dumps(c->json, 0) : NULL;
	cr_assert_fail("%s: %s is missing or has another type: %s", c->line, name,
		text ? text : call_body(c));
}

const char *call_text(const struct call *c, const char *name)
{
	const char *text = json_string_value(call_get(c, name));
	if (!text)
		complain(c, name);
	return text;
}

json_int_t call_number(const struct call *c, const char *name)
{
	const json_t *value = call_get(c, name);
	if (!json_is_integer(value))
		complain(c, name);
	return json_integer_value(value);
}

bool call_is_true(const struct call *c, const char *name)
{
	const json_t *value = call_get(c, name);
	if (!json_is_boolean(value))
		complain(c, name);
	return json_is_true(value);
}

bool call_is_null(const struct call *c, const char *name)
{
	return json_is_null(call_get(c, name));
}

const char *call_code(const struct call *c)
{
	const char *code = json_string_value(json_object_get(c->json, "code"));
	return code && c->answered ? code : "";
}

const char *call_field(const struct call *c)
{
	const char *field = json_string_value(call_get(c, "context.validationErrors.0.field"));
	return field ? field : "";
}

/* Streams */

/* Pull one event. Returns false if there is none yet. */
static bool pull(struct call *c)
{
	struct request *r = c->request;
	char *text = r->stream.next(r->stream.user);
	c->more = text != NULL;
	if (!text)
		return false;
	json_decref(c->json);
	c->json = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	cr_assert(json_is_object(c->json), "%s: %s", c->line, text);
	free(text);
	c->events++;
	return true;
}

bool call_event(struct call *c, const char *type)
{
	cr_assert(c->streaming, "%s: no stream", c->line);
	for (;;) {
		while (pull(c)) {
			const char *is = json_string_value(json_object_get(c->json, "type"));
			if (!type || (is && strcmp(is, type) == 0))
				return true;
		}
		if (c->request->stream_complete)
			return false;
		cr_assert(LOOP_UNTIL(&memory_api.loop, c->more), "%s: no %s", c->line,
			type ? type : "event");
	}
}

void call_event_has(struct call *c, const char *type, const char *json)
{
	cr_assert(call_event(c, type));
	json_has(c->json, json, c->line);
}

/* Tables */

void memory_api_expect_refused(const struct refused *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct refused *want = &cases[i];
		struct call *c = begin(want->line, want->body, want->by);
		call_await(c);
		const char *body = want->body ? want->body : "";
		cr_expect_eq(call_status(c), want->status, "%s %.200s: %d %s", want->line, body,
			call_status(c), call_body(c));
		cr_expect_str_eq(
			call_code(c), want->code, "%s %.200s: %s", want->line, body, call_body(c));
		if (want->field)
			cr_expect_str_eq(call_field(c), want->field, "%s %.200s: %s", want->line,
				body, call_body(c));
		call_end(c);
	}
}

/* The brackets that close what is open at the end of a text; NULL: "". */
static const char *closing(const char *text)
{
	static char brackets[8];
	char *at = &brackets[sizeof brackets - 1];
	for (; text && *text; text++)
		if (*text == '{' || *text == '[')
			*--at = *text == '{' ? '}' : ']';
		else if (*text == '}' || *text == ']')
			at++;
	return at;
}

void memory_api_expect_invalid(
	const char *in, const char *line, const char *begins, const char *const *texts)
{
	for (; *texts; texts++) {
		char whole[512], body[512], name[64], field[128];
		const char *query = begins ? NULL : strchr(*texts, '?');
		const char *from = query ? query + 1 : *texts + (**texts == '\'');
		cr_assert_eq(sscanf(from, "%63[A-Za-z0-9]", name), 1, "%s", *texts);
		snprintf(field, sizeof field, "%s%s", in, name);
		snprintf(whole, sizeof whole, "%s%s", line, begins ? "" : *texts);
		snprintf(body, sizeof body, "%s%s%s", begins ? begins : "", *texts, closing(begins));
		memory_api_expect_refused(
			&(struct refused){whole, begins ? body : NULL, INVALID, field}, 1);
	}
}

void memory_api_expect_too_long(
	const char *line, const char *begins, const char *field, size_t length)
{
	char *body = malloc(strlen(begins) + length + 80);
	cr_assert_not_null(body);
	int n = sprintf(body, "%s'%s':'/", begins, field);
	memset(body + n, 'x', length - 1);
	strcpy(body + (size_t)n + length - 1, "'}");
	memory_api_expect_refused(&(struct refused){line, body, INVALID, field}, 1);
	free(body);
}

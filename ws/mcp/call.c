/*
 * The engine that takes a call from one request to the next. A request may be answered while it is being
 * asked, or much later; a step runs in both cases with nothing of the call on the stack below it that is
 * looked at afterwards.
 */
#include "ws/mcp/call.h"

#include "ws/dispatcher.h"
#include "ws/mcp/mcp.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define DEFAULT_SESSION "agent"
#define DEPTH_MAX 16u /* of JSON that is renamed */

static void destroy(struct mcp_call *c)
{
	if (c->slot)
		*c->slot = NULL;
	if (c->request)
		request_abandon(c->request);
	json_decref(c->args);
	json_decref(c->kept);
	free(c->text);
	free(c);
}

/* Asking */

static void deliver(struct mcp_call *c)
{
	struct request *r = c->request;
	const struct reply *reply = &r->reply;
	json_t *json = reply->length > 0 && reply->content_type &&
			strcmp(reply->content_type, "application/json") == 0
		? json_loadb(reply->body, reply->length, JSON_ALLOW_NUL, NULL)
		: NULL;
	struct mcp_answer a = {.status = reply->status,
		.json = json,
		.body = reply->body,
		.length = reply->length,
		.request = r};
	c->request = NULL;
	c->next(c, &a);
	json_decref(json);
	request_unref(r);
}

static void on_answered(void *user)
{
	struct mcp_call *c = user;
	c->answered = true;
	if (!c->asking)
		deliver(c);
}

/* None of the routes that are asked streams. */
static const struct request_transport transport = {.answered = on_answered};

static struct request *make_request(const struct mcp_call *c, enum method method, const char *path,
	json_t *body, const char *const *params)
{
	struct request *r = request_create();
	if (!r)
		return NULL;
	r->method = method;
	r->path = strdup(path);
	r->body = body ? json_dumps(body, JSON_COMPACT) : NULL;
	r->body_length = r->body ? strlen(r->body) : 0;
	r->principal = c->principal;
	r->auth = AUTH_OK;
	snprintf(r->peer, sizeof r->peer, "%s", c->peer);
	bool good = r->path && (!body || r->body);
	for (; good && params && params[0]; params += 2) {
		if (!params[1] || r->params_count == REQUEST_PARAMS_MAX)
			continue;
		char *param = NULL;
		good = asprintf(&param, "%s=%s", params[0], params[1]) >= 0;
		if (good)
			r->params[r->params_count++] = param;
	}
	if (good)
		return r;
	request_unref(r);
	return NULL;
}

void mcp_ask(struct mcp_call *c, mcp_step next, enum method method, const char *path, json_t *body,
	const char *const *params)
{
	struct request *r = make_request(c, method, path, body, params);
	json_decref(body);
	if (!r) {
		mcp_fail(c, "INTERNAL_ERROR", "Out of memory", NULL);
		return;
	}
	r->transport = &transport;
	r->transport_user = c;
	c->request = r;
	c->next = next;
	c->answered = false;
	c->asking = true;
	dispatcher_handle(c->mcp->dispatcher, r);
	c->asking = false;
	if (c->answered)
		deliver(c);
}

void mcp_tell(const struct mcp_call *c, enum method method, const char *path, json_t *body)
{
	struct request *r = make_request(c, method, path, body, NULL);
	json_decref(body);
	if (!r)
		return;
	dispatcher_handle(c->mcp->dispatcher, r);
	request_unref(r);
}

/* Results */

static void end_call(struct mcp_call *c, json_t *result)
{
	void (*done)(void *user, json_t *result) = c->done;
	void *user = c->user;
	destroy(c);
	if (done)
		done(user, result);
	else
		json_decref(result);
}

static json_t *content(const char *text)
{
	json_t *value = text ? json_string(text) : NULL;
	return json_pack("[{s:s, s:o}]", "type", "text", "text",
		value ? value : json_string("(what there is to say is no text)"));
}

void mcp_finish(struct mcp_call *c, json_t *structured, char *text)
{
	json_t *result = json_pack(
		"{s:o, s:o*}", "content", content(text), "structuredContent", structured);
	free(text);
	end_call(c, result);
}

void mcp_finish_words(struct mcp_call *c, json_t *structured, char *(*words)(json_t *structured))
{
	json_incref(structured);
	mcp_finish(c, structured, words(structured));
	json_decref(structured);
}

void mcp_fail(struct mcp_call *c, const char *code, const char *message, json_t *context)
{
	json_t *value = json_string(message);
	char *more = json_object_size(context) > 0 ? json_dumps(context, JSON_COMPACT) : NULL;
	char *text = NULL;
	if (asprintf(&text, "%s: %s%s%s", code, message, more ? "\n" : "", more ? more : "") < 0)
		text = NULL;
	json_t *error = json_pack(
		"{s:s, s:o?, s:o*}", "code", code, "message", value, "context", context);
	json_t *result = json_pack("{s:o, s:{s:o}, s:b}", "content", content(text),
		"structuredContent", "error", error, "isError", 1);
	free(more);
	free(text);
	end_call(c, result);
}

bool mcp_succeeded(struct mcp_call *c, const struct mcp_answer *a)
{
	if (a->status < 400)
		return true;
	const char *code = json_string_value(json_object_get(a->json, "code"));
	const char *message = json_string_value(json_object_get(a->json, "message"));
	json_t *context = mcp_snake(json_object_get(a->json, "context"));
	json_t *exec = json_object_get(context, "exec"), *id = json_object_get(exec, "id");
	/* Who is told that a command is in the way gets its handle, and not all there is to know of it. */
	if (id) {
		json_object_set_new(context, "exec_id",
			json_sprintf("%s/%s", c->session, json_string_value(id)));
		json_object_set(context, "command", json_object_get(exec, "command"));
	}
	json_object_del(context, "exec");
	mcp_fail(c, code ? code : "INTERNAL_ERROR", message ? message : "The request failed",
		context);
	return false;
}

/* Arguments */

const char *mcp_text_arg(const struct mcp_call *c, const char *name)
{
	return json_string_value(json_object_get(c->args, name));
}

json_int_t mcp_number_arg(const struct mcp_call *c, const char *name, json_int_t fallback)
{
	const json_t *value = json_object_get(c->args, name);
	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

bool mcp_flag_arg(const struct mcp_call *c, const char *name, bool fallback)
{
	const json_t *value = json_object_get(c->args, name);
	return json_is_boolean(value) ? json_boolean_value(value) : fallback;
}

static void camel_case(const char *snake, char camel[64])
{
	size_t n = 0;
	for (; *snake && n < 62; snake++)
		if (*snake == '_' && snake[1])
			camel[n++] = (char)toupper((unsigned char)*++snake);
		else
			camel[n++] = *snake;
	camel[n] = '\0';
}

void mcp_copy_args(const struct mcp_call *c, json_t *body, const char *const *names)
{
	char camel[64];
	for (; *names; names++) {
		json_t *value = json_object_get(c->args, *names);
		camel_case(*names, camel);
		if (value)
			json_object_set(body, camel, value);
	}
}

static void snake_case(const char *camel, char snake[128])
{
	size_t n = 0;
	for (; *camel && n < 125; camel++) {
		if (isupper((unsigned char)*camel))
			snake[n++] = '_';
		snake[n++] = (char)tolower((unsigned char)*camel);
	}
	snake[n] = '\0';
}

static json_t *snake(json_t *value, unsigned depth)
{
	size_t i;
	const char *key;
	json_t *one, *copy;
	char name[128];
	if (depth > DEPTH_MAX || (!json_is_object(value) && !json_is_array(value)))
		return json_incref(value);
	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach (value, i, one)
			json_array_append_new(copy, snake(one, depth + 1));
		return copy;
	}
	copy = json_object();
	json_object_foreach (value, key, one) {
		snake_case(key, name);
		json_object_set_new(copy, name, snake(one, depth + 1));
	}
	return copy;
}

json_t *mcp_snake(json_t *value)
{
	return value ? snake(value, 0) : NULL;
}

/* Sessions */

const char *mcp_path(char *path, const struct mcp_call *c, const char *rest)
{
	snprintf(path, MCP_PATH_MAX, "/api/session/%s%s", c->session, rest);
	return path;
}

static void on_opened(struct mcp_call *c, const struct mcp_answer *a)
{
	if (mcp_succeeded(c, a))
		c->first(c, NULL);
}

void mcp_in_session(struct mcp_call *c, mcp_step first)
{
	const char *id = mcp_text_arg(c, "session_id");
	if (!id && c->principal.session[0])
		id = c->principal.session;
	if (id && !name_is_id(id)) {
		mcp_fail(c, "VALIDATION_FAILED", "session_id is no id of a session", NULL);
		return;
	}
	snprintf(c->session, sizeof c->session, "%s", id ? id : DEFAULT_SESSION);
	c->first = first;
	if (id)
		first(c, NULL);
	else
		mcp_ask(c, on_opened, METHOD_POST, "/api/session/open",
			json_pack("{s:s}", "id", DEFAULT_SESSION), NULL);
}

/* Progress */

/* What the session's state says, in words. */
static void describe(const json_t *state, char text[MCP_PROGRESS_SIZE])
{
	const json_t *program = json_object_get(state, "foreground");
	const char *status = json_string_value(json_object_get(state, "status"));
	const char *name = json_string_value(json_object_get(program, "name"));
	double quiet = json_number_value(json_object_get(state, "quietMs")) / 1000;
	snprintf(text, MCP_PROGRESS_SIZE, "%s%s%.64s, quiet for %.1f s",
		status ? status : "working", name ? ": " : "", name ? name : "", quiet);
}

void mcp_call_progress(const struct mcp_call *c, char text[MCP_PROGRESS_SIZE])
{
	char path[MCP_PATH_MAX];
	struct request *r = c->session[0]
		? make_request(c, METHOD_GET, mcp_path(path, c, "/state"), NULL, NULL)
		: NULL;
	snprintf(text, MCP_PROGRESS_SIZE, "working");
	if (!r)
		return;
	dispatcher_handle(c->mcp->dispatcher, r);
	if (r->done && r->reply.status == 200) {
		json_t *json = json_loadb(r->reply.body, r->reply.length, 0, NULL);
		describe(json_object_get(json, "state"), text);
		json_decref(json);
	}
	request_unref(r);
}

/* Life */

/* The first argument that has a NUL where no handler judges of it, or NULL. */
static const char *cut_off(json_t *args)
{
	static const char *const judged[] = {"chars", "command", "paste", "stdin", "text"};
	const char *name;
	json_t *value;
	json_object_foreach (args, name, value) {
		const char *text = json_string_value(value);
		bool known = false;
		for (size_t i = 0; i < sizeof judged / sizeof *judged; i++)
			known |= strcmp(judged[i], name) == 0;
		if (text && !known && strlen(text) != json_string_length(value))
			return name;
	}
	return NULL;
}

/* Whether the arguments are as the tool's schema wants them. */
static bool check_args(const struct mcp_call *c, char problem[MCP_PROBLEM_SIZE])
{
	if (!mcp_schema_check(c->tool->schema, c->args, "arguments", problem))
		return false;
	const char *name = cut_off(c->args);
	if (name)
		snprintf(problem, MCP_PROBLEM_SIZE, "%s must not contain NUL", name);
	return !name;
}

void mcp_call_start(const struct mcp_call_options *o)
{
	char problem[MCP_PROBLEM_SIZE];
	struct mcp_call *c = calloc(1, sizeof *c);
	if (!c) {
		json_decref(o->args);
		o->done(o->user, NULL);
		return;
	}
	c->mcp = o->mcp;
	c->principal = *o->principal;
	snprintf(c->peer, sizeof c->peer, "%s", o->peer);
	snprintf(c->author, sizeof c->author, "%s", o->author);
	snprintf(c->reader, sizeof c->reader, "%s|%s|%s", o->scope, o->principal->link, o->author);
	c->tool = o->tool;
	c->args = o->args;
	c->done = o->done;
	c->user = o->user;
	c->began_ns = uv_hrtime();
	c->slot = o->slot;
	*c->slot = c;
	if (!check_args(c, problem))
		mcp_fail(c, "VALIDATION_FAILED", problem, NULL);
	else
		o->begin(c, NULL);
}

/* Cancelling: the command is found by its key, whatever it was doing. */

static void on_interrupted(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	end_call(c, NULL);
}

static void on_listed(struct mcp_call *c, const struct mcp_answer *a)
{
	size_t i;
	json_t *exec;
	char path[MCP_PATH_MAX], rest[NAME_ID_MAX + 32];
	json_array_foreach (json_object_get(a->json, "data"), i, exec) {
		const char *key = json_string_value(json_object_get(exec, "key"));
		const char *id = json_string_value(json_object_get(exec, "id"));
		if (!key || !id || strcmp(key, c->key) != 0)
			continue;
		snprintf(rest, sizeof rest, "/exec/%s/cancel", id);
		mcp_ask(c, on_interrupted, METHOD_POST, mcp_path(path, c, rest), json_object(),
			NULL);
		return;
	}
	end_call(c, NULL);
}

void mcp_call_cancel(struct mcp_call *c, bool wanted)
{
	const char *on_cancel = mcp_text_arg(c, "on_cancel");
	char path[MCP_PATH_MAX];
	c->done = NULL;
	*c->slot = NULL;
	c->slot = NULL;
	if (wanted && c->owns_session)
		mcp_tell(c, METHOD_POST, "/api/session/delete",
			json_pack("{s:s}", "sessionId", c->session));
	if (!wanted || !c->key[0] || !on_cancel || strcmp(on_cancel, "interrupt") != 0) {
		destroy(c);
		return;
	}
	if (c->request) {
		struct request *r = c->request;
		c->request = NULL;
		request_abandon(r);
	}
	mcp_ask(c, on_listed, METHOD_GET, mcp_path(path, c, "/exec"), NULL, NULL);
}

/*
 * Runs a call from one request to the next. A reply may arrive while the request is being made, or
 * later. In both cases no function on the stack uses the call after its step has run.
 */
#include "ws/mcp/call.h"

#include "shell/hash.h"
#include "shell/json_read.h"
#include "shell/memory_stream.h"
#include "shell/session/sessions.h"
#include "ws/dispatcher.h"
#include "ws/mcp/elicit.h"
#include "ws/mcp/field_names.h"
#include "ws/mcp/lean.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/own.h"
#include "ws/mcp/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define NOTES_MAX 16u
#define LONG_ANSWER ((size_t)4 << 10) /* bytes from which handling a reply needs a turn */

/* End the turn of the call, or cancel its wait for one. */
static void end_turn(struct mcp_call *c)
{
	shift_end(&c->turn, c->turn_ns ? uv_hrtime() - c->turn_ns : 0);
	c->turn_ns = 0;
}

static void destroy(struct mcp_call *c)
{
	end_turn(c);
	if (c->slot)
		*c->slot = NULL;
	if (c->request)
		request_abandon(c->request);
	json_decref(c->args);
	json_decref(c->kept);
	json_decref(c->notes);
	free(c);
}

/* Requests */

/* Run the next step, which ends the turn. */
static void run_step(struct mcp_call *c)
{
	struct request *r = c->request;
	const struct reply *reply = &r->reply;
	bool out_of_memory = false;
	json_t *json = json_incref(reply->json);
	/* A worker's reply is text, such as one with a file: parse it. */
	if (!json && reply->length > 0 && reply->content_type &&
		strcmp(reply->content_type, "application/json") == 0)
		json = json_read(reply->body, reply->length, JSON_ALLOW_NUL, &out_of_memory);
	struct mcp_answer a = {.status = reply->status,
		.json = json,
		.body = reply->body,
		.length = reply->length,
		.request = r};
	c->request = NULL;
	if (out_of_memory)
		mcp_fail(c, "OUT_OF_MEMORY", "Out of memory: the request may have been carried out",
			NULL);
	else
		c->next(c, &a);
	json_decref(json);
	request_unref(r);
}

static void on_turn(void *user)
{
	struct mcp_call *c = user;
	c->turn_ns = uv_hrtime();
	run_step(c);
}

/* Run the next step. Converting a long reply to text occupies the loop, so links take turns for that. */
static void deliver(struct mcp_call *c)
{
	struct rota *rota = c->mcp->rota;
	int rc = 1; /* the turn has begun, see shift_request() */
	if (rota && c->principal.link[0] && c->request->reply.length >= LONG_ANSWER) {
		c->turn = (struct shift){.begin = on_turn, .user = c};
		rc = shift_request(rota, c->principal.link, &c->turn);
	}
	if (rc > 0)
		on_turn(c);
	else if (rc < 0)
		mcp_fail(c, "OUT_OF_MEMORY", "Out of memory", NULL);
}

static void on_answered(void *user)
{
	struct mcp_call *c = user;
	c->answered = true;
	if (!c->requesting)
		deliver(c);
}

/* No route that tools use answers with a stream. */
static const struct request_transport transport = {.answered = on_answered};

/* Whether a request makes a session; its tools then use it at this node. */
static bool creates_session(const char *path)
{
	return strcmp(path, "/api/session/create") == 0 || strcmp(path, "/api/session/open") == 0;
}

static struct request *make_request(const struct mcp_call *c, enum method method, const char *path,
	json_t *body, const char *const *params)
{
	struct request *r = request_create();
	if (!r)
		return NULL;
	r->method = method;
	r->path = strdup(path);
	r->json = json_incref(body);
	r->wants_json = true;
	r->principal = c->principal;
	r->caller = c->reports_end ? c->client : 0;
	if (c->mcp->dispatcher->node && creates_session(path))
		snprintf(r->node, sizeof r->node, "%s", c->mcp->dispatcher->node);
	r->auth = AUTH_OK;
	snprintf(r->peer, sizeof r->peer, "%s", c->peer);
	bool copied = r->path;
	for (; copied && params && params[0]; params += 2) {
		if (!params[1] || r->params_count == REQUEST_PARAMS_MAX)
			continue;
		char *param = NULL;
		copied = asprintf(&param, "%s=%s", params[0], params[1]) >= 0;
		if (copied)
			r->params[r->params_count++] = param;
	}
	if (copied)
		return r;
	request_unref(r);
	return NULL;
}

void mcp_request(struct mcp_call *c, mcp_step next, enum method method, const char *path,
	json_t *body, const char *const *params)
{
	struct request *r = make_request(c, method, path, body, params);
	json_decref(body);
	end_turn(c);
	if (!r) {
		mcp_fail(c, "OUT_OF_MEMORY", "Out of memory", NULL);
		return;
	}
	r->transport = &transport;
	r->transport_user = c;
	c->request = r;
	c->next = next;
	c->answered = false;
	c->requesting = true;
	dispatcher_handle(c->mcp->dispatcher, r);
	c->requesting = false;
	if (c->answered)
		deliver(c);
}

void mcp_delete_session(const struct mcp_call *c)
{
	json_t *body = json_pack("{s:s}", "sessionId", c->session);
	struct request *r = make_request(c, METHOD_POST, "/api/session/delete", body, NULL);
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

/* The member `content` of a result. */
static json_t *make_content(const char *text)
{
	json_t *value = text ? json_string(text) : NULL;
	return json_pack("[{s:s, s:o}]", "type", "text", "text",
		value ? value : json_string("(the result is not valid text)"));
}

void mcp_add_note(struct mcp_call *c, json_t *text)
{
	if (!c->notes)
		c->notes = json_array();
	if (text && json_array_size(c->notes) < NOTES_MAX)
		json_array_append_new(c->notes, text);
	else
		json_decref(text);
}

/* Add the notes as a separate text: output of programs cannot forge that. */
static void add_notes(struct mcp_call *c, json_t *result)
{
	size_t i, length;
	json_t *note;
	char *text = NULL;
	mcp_detached_report(&c->mcp->detached, c);
	FILE *file = json_array_size(c->notes) > 0 ? memory_stream(&text, &length) : NULL;
	if (!file)
		return;
	json_array_foreach (c->notes, i, note)
		fprintf(file, "%salso: %s", i > 0 ? "\n" : "", json_string_value(note));
	if (fclose(file) == 0) {
		json_t *content = make_content(text);
		json_array_extend(json_object_get(result, "content"), content);
		json_decref(content);
		json_object_set(json_object_get(result, "structuredContent"), "also", c->notes);
	}
	free(text);
}

void mcp_finish(struct mcp_call *c, json_t *structured, char *text)
{
	if (c->bare) {
		free(text);
		end_call(c, structured);
		return;
	}
	if (!c->exact)
		mcp_escape_texts(structured);
	json_t *result = json_pack("{s:o, s:o*, s:o*}", "content", make_content(text),
		"structuredContent", structured, "isError", c->failed ? json_true() : NULL);
	free(text);
	add_notes(c, result);
	end_call(c, result);
}

void mcp_finish_formatted(
	struct mcp_call *c, json_t *structured, char *(*format)(json_t *structured))
{
	json_t *required = mcp_elicit_required(c, json_object_get(structured, "terminal"));
	if (required) {
		json_decref(structured);
		end_call(c, required);
		return;
	}
	mcp_elicit(c, json_object_get(structured, "terminal"));
	if (!mcp_flag_arg(c, "verbose", false))
		mcp_lean(structured);
	json_incref(structured);
	mcp_finish(c, structured, format(structured));
	json_decref(structured);
}

void mcp_fail(struct mcp_call *c, const char *code, const char *message, json_t *context)
{
	json_t *value = json_string(message);
	mcp_escape_texts(value);
	mcp_escape_texts(context);
	char *more = json_object_size(context) > 0 ? json_dumps(context, JSON_COMPACT) : NULL;
	char *text = NULL;
	const char *next = mcp_next_after_error(code);
	if (asprintf(&text, "%s: %s%s%s%s%s", code, value ? json_string_value(value) : "",
		    more ? "\n" : "", more ? more : "", next ? "\nnext: " : "", next ? next : "") < 0)
		text = NULL;
	json_t *error = json_pack("{s:s, s:o?, s:o*, s:s*}", "code", code, "message", value,
		"context", context, "next", next);
	json_t *result = c->bare ? json_pack("{s:o}", "error", error)
				 : json_pack("{s:o, s:{s:o}, s:b}", "content", make_content(text),
					   "structuredContent", "error", error, "isError", 1);
	free(more);
	free(text);
	if (!c->bare)
		add_notes(c, result);
	end_call(c, result);
}

bool mcp_succeeded(struct mcp_call *c, const struct mcp_answer *a)
{
	if (a->status < 400)
		return true;
	const char *code = json_string_value(json_object_get(a->json, "code"));
	const char *message = json_string_value(json_object_get(a->json, "message"));
	json_t *context = mcp_snake_case(json_object_get(a->json, "context"));
	json_t *exec = json_object_get(context, "exec"), *id = json_object_get(exec, "id");
	/* If another command is in the way, report only its handle and text, not the whole exec. */
	if (id) {
		json_object_set_new(context, "exec_id",
			json_sprintf("%s/%s", c->session, json_string_value(id)));
		json_object_set(context, "command", json_object_get(exec, "command"));
	}
	json_object_del(context, "exec");
	mcp_rename_fields(c->tool->name, json_object_get(context, "validation_errors"));
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

void mcp_copy_args(const struct mcp_call *c, json_t *body, const char *const *names)
{
	char camel[MCP_FIELD_SIZE];
	for (; *names; names++) {
		json_t *value = json_object_get(c->args, *names);
		mcp_camel_case(*names, camel);
		if (value)
			json_object_set(body, camel, value);
	}
}

/* Sessions */

const char *mcp_path(struct mcp_call *c, const char *rest, ...)
{
	va_list args;
	int n = snprintf(c->path, sizeof c->path, "/api/session/%s", c->session);
	va_start(args, rest);
	vsnprintf(c->path + n, sizeof c->path - (size_t)n, rest, args);
	va_end(args);
	return c->path;
}

/* Progress */

/* Write the session's state as a text. */
static void describe_state(const json_t *state, char text[MCP_PROGRESS_SIZE])
{
	const json_t *program = json_object_get(state, "foreground");
	const char *status = json_string_value(json_object_get(state, "status"));
	const char *name = json_string_value(json_object_get(program, "name"));
	double quiet = json_number_value(json_object_get(state, "quietMs")) / 1000;
	snprintf(text, MCP_PROGRESS_SIZE, "%s%s%.64s, quiet for %.1f s",
		status ? status : "working", name ? ": " : "", name ? name : "", quiet);
}

void mcp_call_progress(struct mcp_call *c, char text[MCP_PROGRESS_SIZE])
{
	struct request *r = c->session[0]
		? make_request(c, METHOD_GET, mcp_path(c, "/state"), NULL, NULL)
		: NULL;
	snprintf(text, MCP_PROGRESS_SIZE, "working");
	if (!r)
		return;
	dispatcher_handle(c->mcp->dispatcher, r);
	if (r->done && r->reply.status == 200)
		describe_state(json_object_get(r->reply.json, "state"), text);
	request_unref(r);
}

/* Start and cancel */

/* The first argument that contains a NUL, except those that a handler checks; NULL: none. */
static const char *find_nul_argument(json_t *args)
{
	static const char *const checked[] = {"chars", "command", "paste", "stdin", "text"};
	const char *name;
	json_t *value;
	json_object_foreach (args, name, value) {
		const char *text = json_string_value(value);
		bool is_checked = false;
		for (size_t i = 0; i < sizeof checked / sizeof *checked; i++)
			is_checked |= strcmp(checked[i], name) == 0;
		if (text && !is_checked && strlen(text) != json_string_length(value))
			return name;
	}
	return NULL;
}

/* Validate the arguments by the tool's schema. */
static bool check_args(const struct mcp_call *c, char problem[MCP_PROBLEM_SIZE])
{
	if (c->tool->schema && !mcp_schema_check(c->tool->schema, c->args, "arguments", problem))
		return false;
	const char *name = find_nul_argument(c->args);
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
	mcp_own_identity(c->reader, o->scope, o->principal, o->author);
	c->client = hash_text(HASH_START, c->reader);
	c->has_scope = *o->scope;
	c->bare = o->bare;
	snprintf(c->scope, sizeof c->scope, "%s", o->scope);
	c->restored = o->restored;
	c->can_require_input = o->can_require_input;
	if (o->resume)
		c->resume = *o->resume;
	c->retried = o->retried;
	c->tool = o->tool;
	c->args = o->args;
	c->done = o->done;
	c->send = o->send;
	c->user = o->user;
	c->began_ns = uv_hrtime();
	c->slot = o->slot;
	*c->slot = c;
	if (!check_args(c, problem))
		mcp_fail(c, "VALIDATION_FAILED", problem, NULL);
	else if (o->in_session)
		mcp_in_session(c, o->begin);
	else
		o->begin(c, NULL);
}

/* Cancelling: its id may not be known yet, so a command is found by its key. */

static void on_interrupted(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	end_call(c, NULL);
}

static void on_listed(struct mcp_call *c, const struct mcp_answer *a)
{
	size_t i;
	json_t *exec;
	json_array_foreach (json_object_get(a->json, "data"), i, exec) {
		const char *key = json_string_value(json_object_get(exec, "key"));
		const char *id = json_string_value(json_object_get(exec, "id"));
		if (!key || !id || strcmp(key, c->key) != 0)
			continue;
		mcp_request(c, on_interrupted, METHOD_POST, mcp_path(c, "/exec/%s/cancel", id),
			json_object(), NULL);
		return;
	}
	end_call(c, NULL);
}

/* The command goes on: report its end later. Its id may not be known yet, only its key. */
static void report_end_later(struct mcp_call *c)
{
	struct session *s = sessions_find(c->mcp->dispatcher->sessions, c->session);
	const struct exec *e = s && c->key[0] && !c->exec[0]
		? exec_find_key(session_executor(s), c->key)
		: NULL;
	if (e)
		snprintf(c->exec, sizeof c->exec, "%s", e->id);
	if (!c->exec[0])
		return;
	mcp_detached_add(&c->mcp->detached, c);
	mcp_update_timer(c->mcp);
}

void mcp_call_cancel(struct mcp_call *c, bool wanted)
{
	const char *on_cancel = mcp_text_arg(c, "on_cancel");
	bool interrupts = wanted && c->key[0] && on_cancel && strcmp(on_cancel, "interrupt") == 0;
	c->done = NULL;
	c->send = NULL;
	*c->slot = NULL;
	c->slot = NULL;
	if (wanted && c->owns_session)
		mcp_delete_session(c);
	if (!interrupts) {
		if (c->reports_end)
			report_end_later(c);
		destroy(c);
		return;
	}
	if (c->request) {
		struct request *r = c->request;
		c->request = NULL;
		request_abandon(r);
	}
	mcp_request(c, on_listed, METHOD_GET, mcp_path(c, "/exec"), NULL, NULL);
}

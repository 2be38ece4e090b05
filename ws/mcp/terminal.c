/* The tools of sessions and terminals: each is a few requests to the API, one after the other. */
#include "ws/mcp/terminal.h"

#include "ws/mcp/call.h"
#include "ws/mcp/exec.h"
#include "ws/mcp/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSIONS_DEFAULT 100
#define SETTLE_DEFAULT_MS 150
#define SETTLE_TIMEOUT_MS 2000
#define WAIT_DEFAULT_MS 30000

static void move(json_t *object, const char *from, const char *to)
{
	json_t *value = json_object_get(object, from);
	if (!value)
		return;
	json_object_set(object, to, value);
	json_object_del(object, from);
}

/* Sessions */

/* A session of the API as tools give it. Returns a new reference. */
static json_t *session_of(json_t *data)
{
	json_t *session = mcp_snake(data);
	move(session, "id", "session_id");
	return session ? session : json_object();
}

static void on_session(struct mcp_call *c, const struct mcp_answer *a)
{
	if (mcp_succeeded(c, a))
		mcp_finish_words(c, session_of(json_object_get(a->json, "data")), mcp_session_text);
}

void mcp_session_create(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {
		"name", "cwd", "shell", "env", "cols", "rows", "idle_timeout_ms", NULL};
	json_t *body = json_object(), *id = json_object_get(c->args, "session_id");
	(void)a;
	mcp_copy_args(c, body, names);
	if (id)
		json_object_set(body, "id", id);
	mcp_ask(c, on_session, METHOD_POST, "/api/session/create", body, NULL);
}

static int compare_ids(const void *left, const void *right)
{
	const json_t *const *a = left, *const *b = right;
	return strcmp(json_string_value(json_object_get(*a, "id")),
		json_string_value(json_object_get(*b, "id")));
}

/* A page of sessions behind the id `cursor`, in the order of their ids. */
static json_t *page_of(json_t *const *sorted, size_t count, const char *cursor, size_t limit)
{
	json_t *page = json_array(), *next = NULL;
	for (size_t i = 0; i < count; i++) {
		json_t *id = json_object_get(sorted[i], "id");
		if (cursor && strcmp(json_string_value(id), cursor) <= 0)
			continue;
		if (json_array_size(page) == limit) {
			next = json_object_get(json_array_get(page, limit - 1), "session_id");
			break;
		}
		json_array_append_new(page, session_of(sorted[i]));
	}
	return json_pack("{s:o, s:O?}", "sessions", page, "next_cursor", next);
}

static void on_sessions(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	json_t *list = json_object_get(a->json, "sessions"), *one;
	size_t i, count = json_array_size(list);
	json_t **sorted = calloc(count + 1, sizeof *sorted);
	if (!sorted) {
		mcp_fail(c, "INTERNAL_ERROR", "Out of memory", NULL);
		return;
	}
	json_array_foreach (list, i, one)
		sorted[i] = one;
	qsort(sorted, count, sizeof(json_t *), compare_ids);
	json_t *page = page_of(sorted, count, mcp_text_arg(c, "cursor"),
		(size_t)mcp_number_arg(c, "limit", SESSIONS_DEFAULT));
	free(sorted);
	mcp_finish_words(c, page, mcp_sessions_text);
}

void mcp_session_list(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_ask(c, on_sessions, METHOD_GET, "/api/session/list", NULL, NULL);
}

static void on_closed(struct mcp_call *c, const struct mcp_answer *a)
{
	const char *why = json_string_value(
		json_object_get(json_object_get(a->json, "context"), "originalError"));
	json_t *id = json_object_get(c->args, "session_id");
	char *text = NULL;
	/* The container's clients want another error for that; an agent can make sense of this one. */
	if (why && strcmp(why, "Session not found") == 0) {
		mcp_fail(c, "SESSION_NOT_FOUND", "There is no such session", NULL);
		return;
	}
	if (!mcp_succeeded(c, a))
		return;
	if (asprintf(&text, "session %s has ended\n", json_string_value(id)) < 0)
		text = NULL;
	mcp_finish(c, json_pack("{s:O}", "session_id", id), text);
}

void mcp_session_close(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_ask(c, on_closed, METHOD_POST, "/api/session/delete",
		json_pack("{s:O}", "sessionId", json_object_get(c->args, "session_id")), NULL);
}

static void start_resize(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"cols", "rows", "lease", NULL};
	char path[MCP_PATH_MAX];
	json_t *body = json_object();
	(void)a;
	mcp_copy_args(c, body, names);
	mcp_ask(c, on_session, METHOD_POST, mcp_path(path, c, "/resize"), body, NULL);
}

void mcp_resize(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_in_session(c, start_resize);
}

/* The screen */

static json_t *changed_of(const json_t *lines)
{
	size_t i;
	json_t *line, *changed = json_array();
	json_array_foreach (lines, i, line)
		json_array_append_new(changed,
			json_pack("{s:I, s:O?}", "row",
				json_integer_value(json_object_get(line, "row")) + 1, "text",
				json_object_get(line, "text")));
	return changed;
}

/* What tools say of the screen: rows and columns count from 1, as in send_keys. */
static json_t *screen_of(const struct mcp_call *c, const json_t *screen)
{
	static const char *const names[] = {"version", "rows", "cols", "alternate", "title", NULL};
	const json_t *cursor = json_object_get(screen, "cursor");
	json_t *result = json_pack("{s:s, s:{s:I, s:I, s:O?}}", "session_id", c->session, "cursor",
		"row", json_integer_value(json_object_get(cursor, "row")) + 1, "column",
		json_integer_value(json_object_get(cursor, "col")) + 1, "visible",
		json_object_get(cursor, "visible"));
	for (size_t i = 0; names[i]; i++)
		json_object_set(result, names[i], json_object_get(screen, names[i]));
	return result;
}

/* What is kept (state, what was typed) joins the screen. */
static void finish_screen(struct mcp_call *c, json_t *result)
{
	json_object_update(result, c->kept);
	mcp_finish_words(c, result, mcp_screen_text);
}

static void on_ansi(struct mcp_call *c, const struct mcp_answer *a)
{
	json_t *text = a->status < 400 ? json_stringn(a->body, a->length) : NULL;
	if (!mcp_succeeded(c, a))
		return;
	json_object_set_new(c->kept, "text", text);
	json_t *result = json_incref(c->kept);
	finish_screen(c, result);
}

static void on_screen(struct mcp_call *c, const struct mcp_answer *a)
{
	char path[MCP_PATH_MAX];
	const char *format = mcp_text_arg(c, "format");
	bool since = json_object_get(c->args, "since") != NULL;
	if (!mcp_succeeded(c, a))
		return;
	const json_t *lines = json_object_get(a->json, "lines");
	json_t *result = screen_of(c, a->json);
	if (since)
		json_object_set_new(result, "changed", changed_of(lines));
	else
		json_object_set_new(result, "text", mcp_lines_text(lines));
	if (since || !format || strcmp(format, "ansi") != 0) {
		finish_screen(c, result);
		return;
	}
	static const char *const params[] = {"format", "ansi", NULL};
	json_object_update(result, c->kept);
	json_decref(c->kept);
	c->kept = result;
	mcp_ask(c, on_ansi, METHOD_GET, mcp_path(path, c, "/screen"), NULL, params);
}

static void ask_screen(struct mcp_call *c)
{
	char path[MCP_PATH_MAX], since[24];
	bool some = json_object_get(c->args, "since") != NULL;
	snprintf(since, sizeof since, "%lld", (long long)mcp_number_arg(c, "since", 0));
	const char *const params[] = {"format", "json", "since", some ? since : NULL, NULL};
	mcp_ask(c, on_screen, METHOD_GET, mcp_path(path, c, "/screen"), NULL, params);
}

static void keep_state(struct mcp_call *c, const struct mcp_answer *a)
{
	json_t *state = mcp_snake(json_object_get(a->json, "state"));
	if (!c->kept)
		c->kept = json_object();
	if (json_is_object(state))
		json_object_set(c->kept, "terminal", state);
	json_decref(state);
}

static void on_state(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	keep_state(c, a);
	ask_screen(c);
}

static void start_snapshot(struct mcp_call *c, const struct mcp_answer *a)
{
	char path[MCP_PATH_MAX];
	(void)a;
	mcp_ask(c, on_state, METHOD_GET, mcp_path(path, c, "/state"), NULL, NULL);
}

void mcp_snapshot(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_in_session(c, start_snapshot);
}

/* Typing */

static void on_settled(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	keep_state(c, a);
	ask_screen(c);
}

/*
 * Settled: what runs has answered the keys, if it answers in order, for it has printed something and waits for input
 * again; all of that is on the screen, whose rows have been still for settle_ms. Or the time is up.
 */
static void on_typed(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"written", "queued", "offset", NULL};
	char path[MCP_PATH_MAX];
	json_int_t still = mcp_number_arg(c, "settle_ms", SETTLE_DEFAULT_MS);
	if (!mcp_succeeded(c, a))
		return;
	keep_state(c, a);
	for (size_t i = 0; names[i]; i++)
		json_object_set(c->kept, names[i], json_object_get(a->json, names[i]));
	json_object_set_new(c->kept, "session_id", json_string(c->session));
	if (!mcp_flag_arg(c, "snapshot", true)) {
		mcp_finish_words(c, json_incref(c->kept), mcp_screen_text);
		return;
	}
	mcp_ask(c, on_settled, METHOD_POST, mcp_path(path, c, "/wait"),
		json_pack("{s:[{s:s, s:I, s:b}], s:O?, s:I}", "until", "type", "stable", "ms",
			still > 0 ? still : 1, "ready", true, "after",
			json_object_get(a->json, "offset"), "timeoutMs",
			mcp_number_arg(c, "timeout_ms", SETTLE_TIMEOUT_MS)),
		NULL);
}

static void start_typing(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {
		"text", "paste", "keys", "base64", "mouse", "submit", "lease", NULL};
	char path[MCP_PATH_MAX];
	json_t *body = json_object();
	(void)a;
	mcp_copy_args(c, body, names);
	if (c->author[0])
		json_object_set_new(body, "name", json_string(c->author));
	mcp_ask(c, on_typed, METHOD_POST, mcp_path(path, c, "/keys"), body, NULL);
}

void mcp_send_keys(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_in_session(c, start_typing);
}

/* Waiting */

static void on_waited(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	json_t *result = mcp_snake(a->json);
	json_object_del(result, "success");
	json_object_del(result, "timestamp");
	move(result, "state", "terminal");
	json_object_set_new(result, "session_id", json_string(c->session));
	mcp_finish_words(c, result, mcp_wait_text);
}

/* Conditions name commands by their handles, and the API by their ids. Returns a new reference. */
static json_t *conditions(const struct mcp_call *c)
{
	size_t i;
	json_t *one, *list = json_deep_copy(json_object_get(c->args, "until"));
	json_array_foreach (list, i, one) {
		const char *handle = json_string_value(json_object_get(one, "exec_id"));
		const char *slash = handle ? strrchr(handle, '/') : NULL;
		if (handle)
			json_object_set_new(one, "id", json_string(slash ? slash + 1 : handle));
		json_object_del(one, "exec_id");
	}
	return list;
}

static void start_wait(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"from", "after", "key", NULL};
	char path[MCP_PATH_MAX];
	json_t *body = json_pack("{s:o, s:I}", "until", conditions(c), "timeoutMs",
		mcp_number_arg(c, "timeout_ms", WAIT_DEFAULT_MS));
	(void)a;
	mcp_copy_args(c, body, names);
	mcp_ask(c, on_waited, METHOD_POST, mcp_path(path, c, "/wait"), body, NULL);
}

void mcp_wait(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_in_session(c, start_wait);
}

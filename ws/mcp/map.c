/* The tools of sessions and terminals, and the table of all tools: how each maps to requests of the API. */
#include "ws/mcp/call.h"
#include "ws/mcp/exec.h"
#include "ws/mcp/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSIONS_DEFAULT 100
#define SETTLE_DEFAULT_MS 150
#define SETTLE_TIMEOUT_MS 2000
#define WAIT_DEFAULT_MS 30000

/* The result, and its words. structured is taken. */
static void finish(struct mcp_call *c, json_t *structured, char *(*words)(json_t *structured))
{
	json_incref(structured);
	mcp_finish(c, structured, words(structured));
	json_decref(structured);
}

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
		finish(c, session_of(json_object_get(a->json, "data")), mcp_session_text);
}

static void session_create(struct mcp_call *c, const struct mcp_answer *a)
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
	finish(c, page, mcp_sessions_text);
}

static void session_list(struct mcp_call *c, const struct mcp_answer *a)
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

static void session_close(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_ask(c, on_closed, METHOD_POST, "/api/session/delete",
		json_pack("{s:O}", "sessionId", json_object_get(c->args, "session_id")), NULL);
}

static void start_resize(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"cols", "rows", NULL};
	char path[MCP_PATH_MAX];
	json_t *body = json_object();
	(void)a;
	mcp_copy_args(c, body, names);
	mcp_ask(c, on_session, METHOD_POST, mcp_path(path, c, "/resize"), body, NULL);
}

static void resize(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_in_session(c, start_resize);
}

/* The screen */

/* The rows of the screen as one text, without the blank ones at its end. */
static json_t *text_of(const json_t *lines)
{
	size_t i, length = 0, kept = 0;
	json_t *line;
	char *text = NULL;
	FILE *file = open_memstream(&text, &length);
	if (!file)
		return NULL;
	json_array_foreach (lines, i, line) {
		const char *row = json_string_value(json_object_get(line, "text"));
		fprintf(file, "%s\n", row ? row : "");
		fflush(file);
		if (row && *row)
			kept = length;
	}
	if (fclose(file) != 0) {
		free(text);
		return NULL;
	}
	json_t *value = json_stringn(text, kept);
	free(text);
	return value;
}

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
	finish(c, result, mcp_screen_text);
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
		json_object_set_new(result, "text", text_of(lines));
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

static void snapshot(struct mcp_call *c, const struct mcp_answer *a)
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
		finish(c, json_incref(c->kept), mcp_screen_text);
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

static void send_keys(struct mcp_call *c, const struct mcp_answer *a)
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
	finish(c, result, mcp_wait_text);
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
	static const char *const names[] = {"from", "key", NULL};
	char path[MCP_PATH_MAX];
	json_t *body = json_pack("{s:o, s:I}", "until", conditions(c), "timeoutMs",
		mcp_number_arg(c, "timeout_ms", WAIT_DEFAULT_MS));
	(void)a;
	mcp_copy_args(c, body, names);
	mcp_ask(c, on_waited, METHOD_POST, mcp_path(path, c, "/wait"), body, NULL);
}

static void await(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_in_session(c, start_wait);
}

/* History */

static void finish_history(struct mcp_call *c, json_t *result)
{
	json_object_set_new(result, "session_id", json_string(c->session));
	finish(c, result, mcp_history_text);
}

/* A list of the API is the result: "blocks" or "matches", and where it goes on. */
static void on_list(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"blocks", "matches", "next", NULL};
	if (!mcp_succeeded(c, a))
		return;
	json_t *answer = mcp_snake(a->json), *result = json_object();
	for (size_t i = 0; names[i]; i++)
		json_object_set(result, names[i], json_object_get(answer, names[i]));
	json_decref(answer);
	finish_history(c, result);
}

static void on_lines(struct mcp_call *c, const struct mcp_answer *a)
{
	uint64_t omitted;
	if (!mcp_succeeded(c, a))
		return;
	json_t *result = json_pack("{s:O?, s:O?}", "from_line", json_object_get(a->json, "from"),
		"next_line", json_object_get(a->json, "next"));
	json_t *value = text_of(json_object_get(a->json, "lines"));
	char *text = value ? strdup(json_string_value(value)) : NULL;
	json_decref(value);
	text = mcp_clip(text, mcp_output_max(c), &omitted);
	json_object_set_new(result, "text", json_string(text ? text : ""));
	json_object_set_new(result, "truncated", json_boolean(omitted > 0));
	free(text);
	finish_history(c, result);
}

/* What a block has printed; the API has cut it already, and says where. */
static char *block_text(const json_t *answer)
{
	const json_t *value = json_object_get(answer, "text");
	const char *text = json_string_value(value);
	size_t length = json_string_length(value);
	uint64_t omitted = mcp_offset(answer, "omitted"), head = mcp_offset(answer, "head");
	if (!text)
		return NULL;
	if (omitted == 0)
		return mcp_plain(text, length, &length);
	size_t at = head < length ? (size_t)head : length;
	return mcp_join(text, at, text + at, length - at, omitted);
}

static void on_block_output(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	json_t *result = c->kept;
	char *text = block_text(a->json);
	c->kept = NULL;
	json_object_set_new(result, "output", json_string(text ? text : ""));
	json_object_set(result, "truncated", json_object_get(a->json, "truncated"));
	json_object_set(result, "omitted_bytes", json_object_get(a->json, "omitted"));
	free(text);
	finish_history(c, result);
}

static void on_block(struct mcp_call *c, const struct mcp_answer *a)
{
	char path[MCP_PATH_MAX], rest[NAME_ID_MAX + 32], half[24];
	if (!mcp_succeeded(c, a))
		return;
	c->kept = json_pack("{s:o?}", "block", mcp_snake(json_object_get(a->json, "block")));
	snprintf(rest, sizeof rest, "/blocks/%s/output", mcp_text_arg(c, "block_id"));
	snprintf(half, sizeof half, "%zu", mcp_output_max(c) / 2);
	const char *const params[] = {"format", "json", "head", half, "tail", half, NULL};
	mcp_ask(c, on_block_output, METHOD_GET, mcp_path(path, c, rest), NULL, params);
}

/* The argument as the text of a parameter: number has 24 bytes; NULL when it is not there. */
static const char *number_param(const struct mcp_call *c, const char *name, char number[24])
{
	if (!json_object_get(c->args, name))
		return NULL;
	snprintf(number, 24, "%lld", (long long)mcp_number_arg(c, name, 0));
	return number;
}

static void ask_blocks(struct mcp_call *c)
{
	char path[MCP_PATH_MAX], limit[24], before[24], after[24], code[24];
	snprintf(limit, sizeof limit, "%lld", (long long)mcp_number_arg(c, "limit", 20));
	const char *const params[] = {"limit", limit, "before", number_param(c, "before", before),
		"after", number_param(c, "after", after), "author", mcp_text_arg(c, "author"),
		"status", number_param(c, "exit_code", code), "state", mcp_text_arg(c, "state"),
		"text", mcp_text_arg(c, "text"), NULL};
	mcp_ask(c, on_list, METHOD_GET, mcp_path(path, c, "/blocks"), NULL, params);
}

static void ask_lines(struct mcp_call *c)
{
	char path[MCP_PATH_MAX], from[24], to[24];
	json_int_t first = mcp_number_arg(c, "from_line", 0);
	snprintf(from, sizeof from, "%lld", (long long)first);
	snprintf(to, sizeof to, "%lld", (long long)mcp_number_arg(c, "to_line", first + 500));
	const char *const params[] = {"from", from, "to", to, "format", "json", NULL};
	mcp_ask(c, on_lines, METHOD_GET, mcp_path(path, c, "/scrollback"), NULL, params);
}

static void start_history(struct mcp_call *c, const struct mcp_answer *a)
{
	char path[MCP_PATH_MAX], rest[NAME_ID_MAX + 32], limit[24];
	const char *block = mcp_text_arg(c, "block_id"), *search = mcp_text_arg(c, "search");
	(void)a;
	if (block && !name_is_id(block)) {
		mcp_fail(c, "VALIDATION_FAILED", "block_id is no id of a block", NULL);
	} else if (block) {
		snprintf(rest, sizeof rest, "/blocks/%s", block);
		mcp_ask(c, on_block, METHOD_GET, mcp_path(path, c, rest), NULL, NULL);
	} else if (search) {
		snprintf(limit, sizeof limit, "%lld", (long long)mcp_number_arg(c, "limit", 20));
		const char *const params[] = {"q", search, "limit", limit, NULL};
		mcp_ask(c, on_list, METHOD_GET, mcp_path(path, c, "/search"), NULL, params);
	} else if (json_object_get(c->args, "from_line")) {
		ask_lines(c);
	} else {
		ask_blocks(c);
	}
}

static void history(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_in_session(c, start_history);
}

static const struct {
	const char *name;
	mcp_step begin;
} begins[] = {
	{"session_create", session_create},
	{"session_list", session_list},
	{"session_close", session_close},
	{"exec", mcp_exec},
	{"exec_read", mcp_exec_read},
	{"exec_signal", mcp_exec_signal},
	{"send_keys", send_keys},
	{"wait", await},
	{"snapshot", snapshot},
	{"resize", resize},
	{"history", history},
	{"exec_command", mcp_exec_command},
	{"write_stdin", mcp_write_stdin},
};

mcp_step mcp_tool_begin(const char *name)
{
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strcmp(begins[i].name, name) == 0)
			return begins[i].begin;
	assert(false && "a tool is described that does nothing");
	return NULL;
}

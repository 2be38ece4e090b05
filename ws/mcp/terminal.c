/* The tools for sessions and terminals. */
#include "ws/mcp/terminal.h"

#include "ws/mcp/call.h"
#include "ws/mcp/exec.h"
#include "ws/mcp/field_names.h"
#include "ws/mcp/keynames.h"
#include "ws/mcp/look.h"
#include "ws/mcp/own.h"
#include "ws/mcp/result_text.h"
#include "ws/mcp/tool_table.h"

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

/* Convert a session from JSON of the API to that of tools. Returns a new reference. */
static json_t *session_of(json_t *data)
{
	json_t *session = mcp_snake_case(data);
	move(session, "id", "session_id");
	return session ? session : json_object();
}

static void on_session(struct mcp_call *c, const struct mcp_answer *a)
{
	if (mcp_succeeded(c, a))
		mcp_finish_formatted(
			c, session_of(json_object_get(a->json, "data")), mcp_session_text);
}

void mcp_session_create(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"name", "cwd", "shell", "shell_args", "env", "cols",
		"rows", "idle_timeout_ms", NULL};
	json_t *body = json_object(), *id = json_object_get(c->args, "session_id");
	(void)a;
	mcp_copy_args(c, body, names);
	if (id)
		json_object_set(body, "id", id);
	mcp_request(c, on_session, METHOD_POST, "/api/session/create", body, NULL);
}

static const char *id_of(const json_t *session)
{
	return json_string_value(json_object_get(session, "id"));
}

static int compare_ids(const void *left, const void *right)
{
	const json_t *const *a = left, *const *b = right;
	return strcmp(id_of(*a), id_of(*b));
}

json_t *mcp_page(const json_t *sessions, const char *cursor, size_t limit, const char **ret_next)
{
	size_t i, count = 0;
	json_t *one, **sorted = calloc(json_array_size(sessions) + 1, sizeof *sorted);
	if (!sorted)
		return NULL;
	json_array_foreach (sessions, i, one)
		if (!cursor || strcmp(id_of(one), cursor) > 0)
			sorted[count++] = one;
	qsort(sorted, count, sizeof *sorted, compare_ids);
	json_t *page = json_array();
	for (i = 0; i < count && i < limit; i++)
		json_array_append(page, sorted[i]);
	*ret_next = count > limit && limit > 0 ? id_of(sorted[limit - 1]) : NULL;
	free(sorted);
	return page;
}

static void on_sessions(struct mcp_call *c, const struct mcp_answer *a)
{
	size_t i;
	const char *next;
	json_t *one;
	if (!mcp_succeeded(c, a))
		return;
	json_t *page = mcp_page(json_object_get(a->json, "sessions"), mcp_text_arg(c, "cursor"),
		(size_t)mcp_number_arg(c, "limit", SESSIONS_DEFAULT), &next);
	if (!page) {
		mcp_fail(c, "OUT_OF_MEMORY", "Out of memory", NULL);
		return;
	}
	json_array_foreach (page, i, one)
		json_array_set_new(page, i, session_of(one));
	mcp_finish_formatted(c, json_pack("{s:o, s:s?}", "sessions", page, "next_cursor", next),
		mcp_sessions_text);
}

void mcp_session_list(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_request(c, on_sessions, METHOD_GET, "/api/session/list", NULL, NULL);
}

static void on_closed(struct mcp_call *c, const struct mcp_answer *a)
{
	const char *why = json_string_value(
		json_object_get(json_object_get(a->json, "context"), "originalError"));
	json_t *id = json_object_get(c->args, "session_id");
	char *text = NULL;
	/* The Sandbox SDK needs another error code for that; agents get a clear one. */
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
	mcp_request(c, on_closed, METHOD_POST, "/api/session/delete",
		json_pack("{s:O}", "sessionId", json_object_get(c->args, "session_id")), NULL);
}

void mcp_resize(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"cols", "rows", "lease", NULL};
	json_t *body = json_object();
	(void)a;
	mcp_copy_args(c, body, names);
	mcp_request(c, on_session, METHOD_POST, mcp_path(c, "/resize"), body, NULL);
}

/* Typing */

static void on_settled(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	uint64_t typed = mcp_offset(c->kept, "offset");
	json_int_t known = json_integer_value(json_object_get(c->kept, "known"));
	mcp_keep_state(c, a);
	json_object_del(c->kept, "known");
	mcp_look(c,
		&(struct mcp_look){
			.known = known > 0 && (uint64_t)known < typed ? (uint64_t)known : typed,
			.typed = true});
}

/*
 * Wait until the screen has settled: the program has printed something and waits for input again,
 * and no row has changed for settle_ms. Or the time is up.
 */
static void on_typed(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"written", "queued", "offset", NULL};
	json_int_t still = mcp_number_arg(c, "settle_ms", SETTLE_DEFAULT_MS);
	if (!mcp_succeeded(c, a))
		return;
	uint64_t known = mcp_shown_offset(c);
	mcp_keep_state(c, a);
	for (size_t i = 0; names[i]; i++)
		json_object_set(c->kept, names[i], json_object_get(a->json, names[i]));
	json_object_set_new(c->kept, "known", json_integer((json_int_t)known));
	json_object_set_new(c->kept, "session_id", json_string(c->session));
	if (!mcp_flag_arg(c, "snapshot", true)) {
		json_object_del(c->kept, "known");
		mcp_finish_formatted(c, json_incref(c->kept), mcp_screen_text);
		return;
	}
	mcp_request(c, on_settled, METHOD_POST, mcp_path(c, "/wait"),
		json_pack("{s:[{s:s, s:I, s:b}], s:O?, s:I}", "until", "type", "stable", "ms",
			still > 0 ? still : 1, "ready", true, "after",
			json_object_get(a->json, "offset"), "timeoutMs",
			mcp_number_arg(c, "timeout_ms", SETTLE_TIMEOUT_MS)),
		NULL);
}

void mcp_send_keys(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {
		"text", "paste", "base64", "mouse", "submit", "lease", NULL};
	char problem[MCP_KEYS_PROBLEM] = "Out of memory";
	const json_t *keys = json_object_get(c->args, "keys");
	json_t *known = keys ? mcp_keynames(keys, problem) : NULL, *body = json_object();
	(void)a;
	if (keys && !known) {
		json_decref(body);
		mcp_fail(c, "VALIDATION_FAILED", problem, NULL);
		return;
	}
	mcp_copy_args(c, body, names);
	if (known)
		json_object_set_new(body, "keys", known);
	if (c->author[0])
		json_object_set_new(body, "name", json_string(c->author));
	mcp_request(c, on_typed, METHOD_POST, mcp_path(c, "/keys"), body, NULL);
}

/* Waiting */

static void on_waited(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	json_t *result = mcp_snake_case(a->json);
	json_object_del(result, "success");
	json_object_del(result, "timestamp");
	move(result, "state", "terminal");
	mcp_set_known_offset(c,
		json_is_integer(json_object_get(result, "end"))
			? mcp_offset(result, "end")
			: mcp_offset(json_object_get(result, "terminal"), "offset"));
	json_object_set_new(result, "session_id", json_string(c->session));
	mcp_finish_formatted(c, result, mcp_wait_text);
}

/*
 * The conditions for the API: handles of commands are replaced with ids. Returns a new reference.
 */
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

void mcp_wait(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"from", "after", "key", NULL};
	json_t *body = json_pack("{s:o, s:I}", "until", conditions(c), "timeoutMs",
		mcp_number_arg(c, "timeout_ms", WAIT_DEFAULT_MS));
	(void)a;
	if (mcp_known_offset(c) > 0)
		json_object_set_new(body, "from", json_integer((json_int_t)mcp_known_offset(c)));
	mcp_copy_args(c, body, names);
	mcp_request(c, on_waited, METHOD_POST, mcp_path(c, "/wait"), body, NULL);
}

/* The keyboard */

static void on_lease(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	const json_t *lease = json_object_get(a->json, "lease");
	json_t *result = json_is_object(lease) ? mcp_snake_case(json_object_get(a->json, "lease"))
					       : json_object();
	move(result, "id", "lease");
	if (json_is_object(json_object_get(a->json, "note")))
		json_object_set_new(
			result, "note", mcp_snake_case(json_object_get(a->json, "note")));
	mcp_finish_formatted(c, result, mcp_lease_text);
}

void mcp_lease(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"ttl_ms", NULL};
	const char *id = mcp_text_arg(c, "lease");
	(void)a;
	if (mcp_flag_arg(c, "release", false)) {
		const char *const params[] = {"id", id, NULL};
		mcp_request(c, on_lease, METHOD_DELETE, mcp_path(c, "/lease"), NULL, params);
		return;
	}
	json_t *body = json_object();
	mcp_copy_args(c, body, names);
	if (id)
		json_object_set_new(body, "renew", json_string(id));
	if (c->author[0])
		json_object_set_new(body, "owner", json_string(c->author));
	mcp_request(c, on_lease, METHOD_POST, mcp_path(c, "/lease"), body, NULL);
}

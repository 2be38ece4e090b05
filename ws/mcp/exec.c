/* The tools that run commands in sessions: exec, exec_read, exec_signal. */
#include "ws/mcp/exec.h"

#include "ring/utf8.h"
#include "shell/id.h"
#include "shell/session/sessions.h"
#include "ws/dispatcher.h"
#include "ws/mcp/await.h"
#include "ws/mcp/field_names.h"
#include "ws/mcp/lean.h"
#include "ws/mcp/look.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/own.h"
#include "ws/mcp/text.h"
#include "ws/mcp/result_text.h"
#include "ws/mcp/tool_table.h"
#include "ws/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOKEN_BYTES 4
#define TOKENS_DEFAULT 10000
#define YIELD_DEFAULT_MS 10000
#define KEY_DIGITS 32u  /* of a generated key */
#define CLIP_SLACK 128u /* bytes of the line about output that the API has cut */

size_t mcp_output_max(const struct mcp_call *c)
{
	return (size_t)mcp_number_arg(c, "max_output_tokens", TOKENS_DEFAULT) * TOKEN_BYTES;
}

uint64_t mcp_offset(const json_t *object, const char *name)
{
	json_int_t number = json_integer_value(json_object_get(object, name));
	return number > 0 ? (uint64_t)number : 0;
}

bool mcp_exec_is_done(const json_t *exec)
{
	const char *state = json_string_value(json_object_get(exec, "state"));
	return state && strcmp(state, "done") == 0;
}

char *mcp_exec_stream(const json_t *exec, const char *name, uint64_t *omitted)
{
	const json_t *value = json_object_get(exec, name);
	const json_t *cut = json_object_get(json_object_get(exec, "truncated"), name);
	const char *bytes = json_string_value(value);
	size_t length = json_string_length(value), ignored;
	uint64_t missing = mcp_offset(cut, "omittedBytes"), head = mcp_offset(cut, "headBytes");
	if (!bytes)
		return NULL;
	if (missing == 0)
		return mcp_plain(bytes, length, &ignored);
	*omitted += missing;
	/* The position is approximate if the output contained invalid UTF-8. */
	size_t at = head < length ? (size_t)head : length;
	at -= utf8_incomplete(bytes, at);
	return mcp_join(bytes, at, bytes + at, length - at, missing);
}

static void set_text(json_t *object, const char *name, char *text)
{
	if (text)
		json_object_set_new(object, name, json_string(text));
	free(text);
}

/* Copy members, renamed. */
static void copy(json_t *to, const json_t *from, const char *const names[][2])
{
	for (; (*names)[0]; names++) {
		json_t *value = json_object_get(from, (*names)[0]);
		if (value)
			json_object_set(to, (*names)[1], value);
	}
}

void mcp_exec_check_failure(struct mcp_call *c, json_t *result, const json_t *exec)
{
	const char *by = json_string_value(json_object_get(exec, "endedBy"));
	if (!mcp_exec_is_done(exec) || json_is_integer(json_object_get(exec, "exitCode")))
		return;
	c->failed = true;
	json_object_set_new(result, "next", json_string(mcp_next_after_end(by)));
}

/* The result for a command, without its output. */
static json_t *describe(struct mcp_call *c, const json_t *exec, json_t *state)
{
	static const char *const names[][2] = {{"sessionId", "session_id"}, {"state", "state"},
		{"exitCode", "exit_code"}, {"signal", "signal"}, {"pipeStatus", "pipe_status"},
		{"endedBy", "ended_by"}, {"timedOut", "timed_out"}, {"cwd", "cwd"},
		{"durationMs", "duration_ms"}, {"outputExact", "output_exact"},
		{"inexact", "inexact"}, {"unkillable", "unkillable"},
		{"interleavedInput", "interleaved_input"}, {"suspect", "suspect"}, {NULL, NULL}};
	json_t *result = json_pack("{s:o}", "exec_id", json_sprintf("%s/%s", c->session, c->exec));
	copy(result, exec, names);
	if (json_is_object(state))
		json_object_set_new(result, "terminal", mcp_snake_case(state));
	mcp_exec_check_failure(c, result, exec);
	return result;
}

/* The command of the call; NULL: it no longer exists. */
static struct exec *exec_of(const struct mcp_call *c)
{
	struct session *s = sessions_find(c->mcp->dispatcher->sessions, c->session);
	return s ? exec_find(session_executor(s), c->exec) : NULL;
}

/* Hold the output after the cursor for the caller. Viewers do not hold output. */
static void keep_rest(const struct mcp_call *c)
{
	struct exec *e = c->principal.role >= ROLE_DRIVER ? exec_of(c) : NULL;
	if (e)
		exec_hold_page(e, c->reader, c->cursor);
}

void mcp_exec_release_output(const struct mcp *m, const char *scope)
{
	char readers[EXEC_READER_SIZE];
	snprintf(readers, sizeof readers, "%s|", scope);
	for (struct session *s = NULL; (s = session_next(m->dispatcher->sessions, s));)
		exec_hold_page_end(session_executor(s), readers);
}

/* If the command has ended its shell, say what that means for the next one. */
static void note_shell_end(struct mcp_call *c, const json_t *result)
{
	const char *by = json_string_value(json_object_get(result, "ended_by"));
	const struct exec *e = exec_of(c);
	if (!by || strcmp(by, "shell") != 0)
		return;
	mcp_add_note(c,
		json_sprintf("the shell of %s has ended with this command: %s", c->session,
			e && exec_has_replaced_shell(e) ? "another has taken its place"
				: mcp_is_own(c)         ? "the next command gets a new one"
							: "session_create makes another session"));
}

static void finish_exec(struct mcp_call *c, json_t *result, uint64_t omitted)
{
	struct exec *e = mcp_exec_is_done(result) ? exec_of(c) : NULL;
	uint64_t lost = e ? exec_hold_page_lost(e, c->reader, 0, 0) : 0;
	if (lost > 0)
		json_object_set_new(result, "lost_in_all", json_integer((json_int_t)lost));
	json_object_set_new(result, "truncated", json_boolean(omitted > 0));
	json_object_set_new(result, "omitted_bytes", json_integer((json_int_t)omitted));
	json_object_set_new(result, "cursor", json_integer((json_int_t)c->cursor));
	/* A complete result needs no handle. */
	if (mcp_exec_is_done(result) && omitted == 0 && !mcp_flag_arg(c, "verbose", false) &&
		!json_object_get(c->args, "cursor")) {
		json_object_del(result, "exec_id");
		json_object_del(result, "cursor");
	}
	const char *cwd = json_string_value(json_object_get(result, "cwd"));
	if (cwd && mcp_exec_is_done(result) && mcp_update_shown_directory(c, cwd) &&
		!mcp_flag_arg(c, "verbose", false))
		json_object_del(result, "cwd");
	mcp_set_shown_offset(c, c->cursor);
	note_shell_end(c, result);
	if (mcp_exec_is_done(result))
		mcp_detached_remove(&c->mcp->detached, c);
	else
		mcp_detached_add(&c->mcp->detached, c);
	mcp_finish_formatted(c, result, mcp_exec_text);
}

static void add_outputs(
	const struct mcp_call *c, json_t *result, const json_t *exec, uint64_t *omitted)
{
	static const char *const streams[] = {"output", "stdout", "stderr"};
	for (size_t i = 0; i < 3; i++) {
		uint64_t cut;
		char *text = mcp_exec_stream(exec, streams[i], omitted);
		set_text(result, streams[i], mcp_clip(text, mcp_output_max(c) + CLIP_SLACK, &cut));
		*omitted += cut;
	}
	json_object_set(result, "lost_bytes", json_object_get(exec, "lost"));
}

/* The screen of a full-screen program replaces its output. */
static void on_shown(struct mcp_call *c, const struct mcp_answer *a)
{
	json_t *result = c->kept;
	uint64_t omitted = mcp_offset(result, "omitted_bytes");
	c->kept = NULL;
	if (a->status < 400) {
		json_object_del(result, "output");
		json_object_set_new(
			result, "screen", mcp_lines_text(json_object_get(a->json, "lines")));
		mcp_look_shown(c, a->json);
		mcp_set_shown_offset(c, mcp_offset(json_object_get(result, "terminal"), "offset"));
		omitted = 0;
	}
	finish_exec(c, result, omitted);
}

/* The question of a program: the text in the cursor's row; NULL: none. */
static json_t *question_of(const json_t *screen)
{
	size_t i;
	const json_t *line;
	json_int_t row = json_integer_value(
		json_object_get(json_object_get(screen, "cursor"), "row"));
	json_array_foreach (json_object_get(screen, "lines"), i, line) {
		json_t *text = json_object_get(line, "text");
		if (json_integer_value(json_object_get(line, "row")) == row &&
			json_string_length(text) > 0)
			return text;
	}
	return NULL;
}

/* Whether the output, without trailing blanks, ends with the question. */
static bool ends_with_question(const json_t *result, const json_t *question)
{
	const char *output = json_string_value(json_object_get(result, "output"));
	size_t length = output ? strlen(output) : 0, size = json_string_length(question);
	while (length > 0 && strchr(" \t\r\n", output[length - 1]))
		length--;
	return output && length >= size &&
		memcmp(output + length - size, json_string_value(question), size) == 0;
}

/* The screen of a command that waits for input. */
static void on_asking(struct mcp_call *c, const struct mcp_answer *a)
{
	json_t *result = c->kept, *question = a->status < 400 ? question_of(a->json) : NULL;
	c->kept = NULL;
	if (question && !ends_with_question(result, question))
		json_object_set(json_object_get(result, "terminal"), "asks", question);
	finish_exec(c, result, mcp_offset(result, "omitted_bytes"));
}

/* The state of the terminal, for a command that still runs. */
static void on_head(struct mcp_call *c, const struct mcp_answer *a)
{
	json_t *result = c->kept;
	if (!mcp_succeeded(c, a))
		return;
	json_t *state = json_object_get(a->json, "state");
	const char *status = json_string_value(json_object_get(state, "status"));
	mcp_set_known_offset(c, mcp_offset(state, "offset"));
	json_object_set_new(result, "terminal", mcp_snake_case(state));
	bool draws = status && strcmp(status, "fullscreen") == 0 &&
		!json_object_get(c->args, "cursor");
	if (draws || (status && strcmp(status, "waiting_input") == 0)) {
		static const char *const params[] = {"format", "json", NULL};
		mcp_request(c, draws ? on_shown : on_asking, METHOD_GET, mcp_path(c, "/screen"),
			NULL, params);
		return;
	}
	c->kept = NULL;
	finish_exec(c, result, mcp_offset(result, "omitted_bytes"));
}

/* The command with its output, as JSON of the API: make the result. */
static void on_exec(struct mcp_call *c, const struct mcp_answer *a)
{
	uint64_t omitted = 0;
	if (!mcp_succeeded(c, a))
		return;
	const json_t *exec = json_object_get(a->json, "data");
	const char *id = json_string_value(json_object_get(exec, "id"));
	snprintf(c->exec, sizeof c->exec, "%s", id ? id : "");
	json_t *result = describe(c, exec, json_object_get(a->json, "state"));
	add_outputs(c, result, exec, &omitted);
	const struct exec *e = exec_of(c);
	bool done = mcp_exec_is_done(exec) || !e;
	c->cursor = done ? mcp_offset(json_object_get(exec, "range"), "end") : exec_delivered(e);
	keep_rest(c);
	if (done) {
		finish_exec(c, result, omitted);
		return;
	}
	json_object_set_new(result, "omitted_bytes", json_integer((json_int_t)omitted));
	c->kept = result;
	mcp_request(c, on_head, METHOD_GET, mcp_path(c, "/state"), NULL, NULL);
}

/* exec */

/* The key by which a cancelled or repeated call finds its command: given, or random. */
static int make_key(struct mcp_call *c)
{
	const char *given = mcp_text_arg(c, "key");
	if (!given)
		return id_hex(c->key, KEY_DIGITS + 1);
	snprintf(c->key, sizeof c->key, "%s", given);
	return 0;
}

static void on_started(struct mcp_call *c, const struct mcp_answer *a)
{
	const json_t *exec = json_object_get(a->json, "data");
	json_int_t yield = mcp_number_arg(c, "yield_ms", YIELD_DEFAULT_MS);
	if (a->status >= 400 || mcp_exec_is_done(exec) || yield <= (json_int_t)MCP_FIRST_MS) {
		on_exec(c, a);
		return;
	}
	snprintf(c->exec, sizeof c->exec, "%s", json_string_value(json_object_get(exec, "id")));
	/* With a repeated key: this call reports its end. */
	mcp_detached_remove(&c->mcp->detached, c);
	mcp_await(c, &(struct mcp_await){.ms = yield, .next = on_exec});
}

static void post_exec(struct mcp_call *c)
{
	static const char *const names[] = {"command", "timeout_ms", "stdin", "cwd", "env",
		"streams", "isolate", "queue", "key", "lease", NULL};
	if (make_key(c) < 0) {
		mcp_fail(c, "INTERNAL_ERROR", "No random number could be generated", NULL);
		return;
	}
	json_int_t yield = mcp_number_arg(c, "yield_ms", YIELD_DEFAULT_MS);
	json_t *body = json_pack("{s:s, s:I, s:I, s:b}", "format", "raw", "yieldMs",
		yield < (json_int_t)MCP_FIRST_MS ? yield : (json_int_t)MCP_FIRST_MS, "maxOutput",
		(json_int_t)mcp_output_max(c), "queue", 1);
	mcp_copy_args(c, body, names);
	if (c->key[0] && !mcp_text_arg(c, "key"))
		json_object_set_new(body, "key", json_string(c->key));
	if (c->author[0])
		json_object_set_new(body, "label", json_string(c->author));
	c->reports_end = true;
	mcp_request(c, on_started, METHOD_POST, mcp_path(c, "/exec"), body, NULL);
}

/* Repeat a call only if its key is known here: otherwise the command may have run before. */
static void on_known(struct mcp_call *c, const struct mcp_answer *a)
{
	const char *key = mcp_text_arg(c, "key");
	size_t i;
	const json_t *exec;
	if (!mcp_succeeded(c, a))
		return;
	json_array_foreach (json_object_get(a->json, "data"), i, exec) {
		const char *known = json_string_value(json_object_get(exec, "key"));
		if (key && known && strcmp(key, known) == 0) {
			post_exec(c);
			return;
		}
	}
	mcp_fail(c, "ANSWER_LOST",
		"The server that received the call is gone, and this one does not know the command: it may have run, or "
		"not, or in part",
		NULL);
}

static void start_exec(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	if (c->retried)
		mcp_request(c, on_known, METHOD_GET, mcp_path(c, "/exec"), NULL, NULL);
	else
		post_exec(c);
}

/* Continue an earlier call. Its client had to ask a person first. */
static void continue_call(struct mcp_call *c)
{
	snprintf(c->session, sizeof c->session, "%s", c->resume.session);
	snprintf(c->exec, sizeof c->exec, "%s", c->resume.exec);
	c->reports_end = true;
	mcp_detached_remove(&c->mcp->detached, c);
	mcp_await(c,
		&(struct mcp_await){.ms = c->resume.accepted
				? mcp_number_arg(c, "yield_ms", YIELD_DEFAULT_MS)
				: 0,
			.has_after = true,
			.after = c->resume.after,
			.next = on_exec});
}

void mcp_exec(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	if (c->resume.exec[0])
		continue_call(c);
	else
		mcp_in_session(c, start_exec);
}

/* exec_read, exec_signal */

/* Parse the argument exec_id, "SESSION/EXEC". Returns false after failing the call. */
static bool parse_exec_id(struct mcp_call *c)
{
	const char *handle = mcp_text_arg(c, "exec_id");
	const char *slash = handle ? strrchr(handle, '/') : NULL;
	if (slash && slash != handle && strlen(handle) < sizeof c->session + sizeof c->exec) {
		snprintf(c->session, sizeof c->session, "%.*s", (int)(slash - handle), handle);
		snprintf(c->exec, sizeof c->exec, "%s", slash + 1);
		if (name_is_id(c->session) && name_is_id(c->exec))
			return true;
	}
	c->session[0] = '\0';
	mcp_fail(c, "EXEC_NOT_FOUND", "Invalid exec_id: it must be one that exec has returned",
		NULL);
	return false;
}

uint64_t mcp_answer_number(const struct mcp_answer *a, const char *name)
{
	uint64_t number = 0;
	for (size_t i = 0; i < a->request->reply.headers_count; i++)
		if (strcasecmp(a->request->reply.headers[i].name, name) == 0)
			params_number(a->request->reply.headers[i].value, INT64_MAX, &number);
	return number;
}

void mcp_request_output(struct mcp_call *c, mcp_step next, uint64_t to)
{
	char from_text[24], to_text[24];
	snprintf(from_text, sizeof from_text, "%llu", (unsigned long long)c->cursor);
	snprintf(to_text, sizeof to_text, "%llu", (unsigned long long)to);
	const char *const params[] = {"from", from_text, "to", to > 0 ? to_text : NULL, NULL};
	mcp_request(c, next, METHOD_GET, mcp_path(c, "/output"), NULL, params);
}

/* The offset at which a page of output from the cursor ends. */
static uint64_t page_end(const struct mcp_call *c)
{
	uint64_t end = mcp_offset(c->kept, "end"), page = c->cursor + mcp_output_max(c);
	return end > 0 && end < page ? end : page;
}

/* Make the result of a page. text: taken. left: bytes of output after it. */
static void finish_page(struct mcp_call *c, char *text, uint64_t left)
{
	json_t *result = c->kept;
	c->kept = NULL;
	set_text(result, "output", text);
	json_object_del(result, "end");
	keep_rest(c);
	if (mcp_exec_is_done(result)) {
		finish_exec(c, result, left);
		return;
	}
	json_object_set_new(result, "omitted_bytes", json_integer((json_int_t)left));
	c->kept = result;
	mcp_request(c, on_head, METHOD_GET, mcp_path(c, "/state"), NULL, NULL);
}

static void on_page(struct mcp_call *c, const struct mcp_answer *a);

static void ask_page(struct mcp_call *c)
{
	uint64_t end = mcp_offset(c->kept, "end");
	if (end > 0 && c->cursor >= end)
		finish_page(c, strdup(""), 0);
	else
		mcp_request_output(c, on_page, page_end(c));
}

/* If the output at the cursor is no longer in the ring, continue after the gap and return true. */
static bool skip_lost(struct mcp_call *c, const struct mcp_answer *a)
{
	uint64_t oldest = mcp_offset(json_object_get(a->json, "context"), "oldest");
	uint64_t end = mcp_offset(c->kept, "end"), to = end > 0 && end < oldest ? end : oldest;
	struct exec *e = exec_of(c);
	if (a->status != 416 || to <= c->cursor)
		return false;
	uint64_t lost = to - c->cursor;
	c->cursor = to;
	if (e)
		exec_hold_page_lost(e, c->reader, lost, to);
	lost += mcp_offset(c->kept, "lost_bytes");
	json_object_set_new(c->kept, "lost_bytes", json_integer((json_int_t)lost));
	ask_page(c);
	return true;
}

/* The length without an incomplete character or a final CR, which belong to the next page. */
static size_t whole(const char *bytes, size_t length)
{
	size_t n = length - utf8_incomplete(bytes, length);
	n -= n > 1 && bytes[n - 1] == '\r';
	return n > 0 ? n : length;
}

static void on_page(struct mcp_call *c, const struct mcp_answer *a)
{
	size_t length = a->length;
	if (skip_lost(c, a) || !mcp_succeeded(c, a))
		return;
	uint64_t head = mcp_answer_number(a, "Ringside-Head"),
		 to = mcp_answer_number(a, "Ringside-To");
	uint64_t end = mcp_offset(c->kept, "end");
	end = end > 0 ? end : head;
	if (to < end || !mcp_exec_is_done(c->kept))
		length = whole(a->body, length);
	c->cursor += length;
	char *text = mcp_plain(a->body, length, &length);
	finish_page(c, text, end > c->cursor ? end - c->cursor : 0);
}

/* With a cursor: a page of the output after it. */
static void on_exec_read(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!json_object_get(c->args, "cursor")) {
		on_exec(c, a);
		return;
	}
	if (!mcp_succeeded(c, a))
		return;
	const json_t *exec = json_object_get(a->json, "data");
	const json_t *range = json_object_get(exec, "range");
	c->kept = describe(c, exec, json_object_get(a->json, "state"));
	uint64_t cursor = (uint64_t)mcp_number_arg(c, "cursor", 0),
		 start = mcp_offset(range, "start");
	uint64_t end = mcp_exec_is_done(exec) ? mcp_offset(range, "end") : 0;
	c->cursor = cursor < start ? start : end > 0 && cursor > end ? end : cursor;
	if (!json_is_object(range)) { /* it has not begun and has no output */
		json_t *result = c->kept;
		c->kept = NULL;
		set_text(result, "output", strdup(""));
		finish_exec(c, result, 0);
		return;
	}
	json_object_set_new(c->kept, "end", json_integer((json_int_t)end));
	ask_page(c);
}

void mcp_exec_read(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	if (!parse_exec_id(c))
		return;
	bool pages = json_object_get(c->args, "cursor") != NULL;
	struct exec *e = pages ? NULL : exec_of(c);
	if (e)
		exec_hold_page_pause(e, c->reader);
	c->cursor = (uint64_t)mcp_number_arg(c, "cursor", 0);
	bool resumes = c->resume.exec[0] != '\0';
	uint64_t told = resumes ? c->resume.after : mcp_known_offset(c);
	json_int_t wait_ms = mcp_number_arg(c, "wait_ms", 0);
	mcp_await(c,
		&(struct mcp_await){.ms = resumes && !c->resume.accepted ? 0 : wait_ms,
			.page = pages ? mcp_output_max(c) : 0,
			.has_after = told > 0,
			.after = told,
			.next = on_exec_read});
}

static void on_signalled(struct mcp_call *c, const struct mcp_answer *a)
{
	if (mcp_succeeded(c, a))
		mcp_exec_read(c, NULL);
}

void mcp_exec_signal(struct mcp_call *c, const struct mcp_answer *a)
{
	static const char *const names[] = {"signal", "grace_ms", "lease", NULL};
	json_t *body = json_object();
	(void)a;
	if (!parse_exec_id(c)) {
		json_decref(body);
		return;
	}
	mcp_copy_args(c, body, names);
	mcp_request(
		c, on_signalled, METHOD_POST, mcp_path(c, "/exec/%s/cancel", c->exec), body, NULL);
}

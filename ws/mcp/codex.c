/*
 * exec_command and write_stdin, with the interface of Codex: each command has a session of its own,
 * identified by a number, which is deleted when the command has ended. The offset of its unread
 * output is stored by that number (ws/mcp/cursors.h).
 */
#include "shell/id.h"
#include "ws/mcp/await.h"
#include "ws/mcp/cursors.h"
#include "ws/mcp/exec.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/text.h"
#include "ws/mcp/result_text.h"
#include "ws/mcp/tool_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define PREFIX "exec-"
#define COLS 160
#define ROWS 48
#define IDLE_MS ((json_int_t)24 * 3600 * 1000) /* for a session that the client has lost */
#define YIELD_MIN_MS 250
#define YIELD_MAX_MS 300000
#define YIELD_DEFAULT_MS 10000
#define WRITE_YIELD_DEFAULT_MS 250
#define POLL_MIN_MS 1000               /* of write_stdin without chars */
#define OUTPUT_MAX ((uint64_t)1 << 20) /* bytes of output that one call reads */
#define NAME_BYTES 60u

static json_int_t yield_ms(const struct mcp_call *c, json_int_t fallback, json_int_t least)
{
	json_int_t ms = mcp_number_arg(c, "yield_time_ms", fallback);
	return ms < least ? least : ms > YIELD_MAX_MS ? YIELD_MAX_MS : ms;
}

static void delete_session(struct mcp_call *c)
{
	c->owns_session = false;
	mcp_cursors_forget(&c->mcp->cursors, c->number);
	mcp_delete_session(c);
}

/* Answering */

static void finish_chunk(struct mcp_call *c, char *text)
{
	char id[7];
	uint64_t omitted;
	json_int_t tokens = (json_int_t)((strlen(text ? text : "") + 3) / 4);
	if (id_hex(id, sizeof id) < 0) {
		free(text);
		mcp_fail(c, "INTERNAL_ERROR", "No random number could be generated", NULL);
		return;
	}
	json_t *result = c->kept;
	c->kept = NULL;
	text = mcp_clip(text, mcp_output_max(c), &omitted);
	json_object_set_new(result, "chunk_id", json_string(id));
	json_object_set_new(
		result, "wall_time_seconds", json_real((double)(uv_hrtime() - c->began_ns) / 1e9));
	json_object_set_new(result, "original_token_count", json_integer(tokens));
	json_object_set_new(result, "output", json_string(text ? text : ""));
	free(text);
	if (!json_object_get(result, "session_id"))
		delete_session(c);
	else
		mcp_cursors_set(&c->mcp->cursors, c->number, c->cursor);
	c->owns_session = false;
	mcp_finish_formatted(c, result, mcp_chunk_text);
}

static void on_output(struct mcp_call *c, const struct mcp_answer *a)
{
	uint64_t end = mcp_offset(c->kept, "end"), oldest, skipped = c->skipped;
	oldest = mcp_offset(json_object_get(a->json, "context"), "oldest");
	if (a->status == 416 && oldest > c->cursor) {
		c->skipped += oldest - c->cursor;
		c->cursor = oldest;
		mcp_request_output(c, on_output, end);
		return;
	}
	if (!mcp_succeeded(c, a))
		return;
	end = end > 0 ? end : mcp_answer_number(a, "Ringside-Head");
	if (end > c->cursor + OUTPUT_MAX) {
		c->skipped += end - OUTPUT_MAX - c->cursor;
		c->cursor = end - OUTPUT_MAX;
		mcp_request_output(c, on_output, end);
		return;
	}
	size_t length;
	json_object_del(c->kept, "end");
	c->cursor += a->length;
	finish_chunk(c,
		skipped > 0 ? mcp_join("", 0, a->body, a->length, skipped)
			    : mcp_plain(a->body, a->length, &length));
}

/* The command, as JSON of the API. Read its output since the last answer. */
static void on_exec(struct mcp_call *c, const struct mcp_answer *a)
{
	uint64_t omitted = 0;
	if (a->status >= 400 && c->owns_session)
		delete_session(c);
	if (!mcp_succeeded(c, a))
		return;
	const json_t *exec = json_object_get(a->json, "data");
	const json_t *range = json_object_get(exec, "range"),
		     *status = json_object_get(exec, "exitCode");
	uint64_t start = mcp_offset(range, "start"), end = mcp_offset(range, "end");
	bool done = mcp_exec_is_done(exec), fresh = c->cursor <= start;
	if (!done)
		c->kept = json_pack("{s:I}", "session_id", (json_int_t)c->number);
	else if (json_is_integer(status))
		c->kept = json_pack("{s:I, s:o*}", "exit_code", json_integer_value(status),
			"suspect",
			json_is_true(json_object_get(exec, "suspect")) ? json_true() : NULL);
	else /* a command that did not run has no status */
		c->kept = json_pack("{s:O*}", "ended_by", json_object_get(exec, "endedBy"));
	mcp_exec_check_failure(c, c->kept, exec);
	if (done && (fresh || end <= c->cursor)) {
		finish_chunk(c, fresh ? mcp_exec_stream(exec, "output", &omitted) : strdup(""));
		return;
	}
	c->cursor = fresh ? start : c->cursor;
	json_object_set_new(c->kept, "end", json_integer((json_int_t)(done ? end : 0)));
	mcp_request_output(c, on_output, done ? end : 0);
}

/* exec_command */

/* Quote a text for a shell; to be freed. */
static char *quote(const char *text)
{
	char *quoted = malloc(4 * strlen(text) + 3), *to = quoted;
	if (!quoted)
		return NULL;
	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *text;
	}
	stpcpy(to, "'");
	return quoted;
}

/* What the session's bash runs: the command, or another shell that runs it. */
static json_t *command_of(const struct mcp_call *c)
{
	const char *cmd = mcp_text_arg(c, "cmd"), *shell = mcp_text_arg(c, "shell");
	bool login = mcp_flag_arg(c, "login", false);
	const char *base = shell ? strrchr(shell, '/') : NULL;
	base = base ? base + 1 : shell;
	if (!login && (!base || strcmp(base, "bash") == 0))
		return json_string(cmd);
	char *quoted = quote(cmd), *name = quote(shell ? shell : "bash");
	json_t *command = quoted && name ? json_sprintf("%s -%sc %s", name, login ? "l" : "", quoted)
					 : NULL;
	free(quoted);
	free(name);
	return command;
}

static void on_begun(struct mcp_call *c, const struct mcp_answer *a)
{
	const json_t *exec = json_object_get(a->json, "data");
	if (a->status >= 400 || mcp_exec_is_done(exec)) {
		on_exec(c, a);
		return;
	}
	snprintf(c->exec, sizeof c->exec, "%s", json_string_value(json_object_get(exec, "id")));
	mcp_await(c,
		&(struct mcp_await){
			.ms = yield_ms(c, YIELD_DEFAULT_MS, YIELD_MIN_MS), .next = on_exec});
}

/* In a subshell `exit` does not end the session's shell. fish has no subshells. */
static bool has_subshells(const struct mcp_answer *created)
{
	const char *shell = json_string_value(
		json_object_get(json_object_get(created->json, "data"), "shell"));
	const char *name = shell ? strrchr(shell, '/') : NULL;
	return shell && strcmp(name ? name + 1 : shell, "fish") != 0;
}

static void on_created(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	c->owns_session = true;
	json_t *body = json_pack("{s:o?, s:s, s:I, s:I, s:b}", "command", command_of(c), "format",
		"raw", "yieldMs", (json_int_t)MCP_FIRST_MS, "maxOutput", (json_int_t)OUTPUT_MAX,
		"isolate", has_subshells(a));
	if (!mcp_flag_arg(c, "tty", false))
		json_object_set_new(body, "env",
			json_pack("{s:s, s:s, s:s, s:s, s:s}", "TERM", "dumb", "NO_COLOR", "1",
				"PAGER", "cat", "GIT_PAGER", "cat", "GH_PAGER", "cat"));
	if (c->author[0])
		json_object_set_new(body, "label", json_string(c->author));
	mcp_request(c, on_begun, METHOD_POST, mcp_path(c, "/exec"), body, NULL);
}

/* The beginning of the command as a name for the session. */
static json_t *name_of(const char *cmd)
{
	char name[NAME_BYTES + 1];
	size_t n = 0;
	for (; *cmd && n < NAME_BYTES; cmd++)
		name[n++] = *cmd >= ' ' && *cmd < 0x7f ? *cmd : ' ';
	name[n] = '\0';
	return json_string(n > 0 ? name : "command");
}

void mcp_exec_command(struct mcp_call *c, const struct mcp_answer *a)
{
	uint32_t number;
	(void)a;
	if (id_random(&number, sizeof number) < 0) {
		mcp_fail(c, "INTERNAL_ERROR", "No random number could be generated", NULL);
		return;
	}
	c->number = 100000000 + number % 900000000;
	snprintf(c->session, sizeof c->session, PREFIX "%llu", (unsigned long long)c->number);
	json_t *body = json_pack("{s:s, s:o, s:i, s:i, s:I}", "id", c->session, "name",
		name_of(mcp_text_arg(c, "cmd")), "cols", COLS, "rows", ROWS, "idleTimeoutMs",
		IDLE_MS);
	const char *workdir = mcp_text_arg(c, "workdir");
	if (workdir && *workdir)
		json_object_set_new(body, "cwd", json_string(workdir));
	mcp_request(c, on_created, METHOD_POST, "/api/session/create", body, NULL);
}

/* write_stdin */

static void ask_exec(struct mcp_call *c)
{
	const char *chars = mcp_text_arg(c, "chars");
	json_int_t least = chars && *chars ? YIELD_MIN_MS : POLL_MIN_MS;
	mcp_await(c,
		&(struct mcp_await){.ms = yield_ms(c, WRITE_YIELD_DEFAULT_MS, least),
			.has_after = true,
			.after = c->cursor,
			.next = on_exec});
}

static void on_written(struct mcp_call *c, const struct mcp_answer *a)
{
	/* 410: the command has ended, which is the answer then. */
	if (a->status == 410 || mcp_succeeded(c, a))
		ask_exec(c);
}

static void on_execs(struct mcp_call *c, const struct mcp_answer *a)
{
	if (a->status == 404) {
		mcp_fail(c, "SESSION_NOT_FOUND",
			"Unknown session_id: its command has ended, or it never existed",
			json_pack("{s:I}", "session_id", (json_int_t)c->number));
		return;
	}
	if (!mcp_succeeded(c, a))
		return;
	const json_t *first = json_array_get(json_object_get(a->json, "data"), 0);
	const char *id = json_string_value(json_object_get(first, "id"));
	if (!id || !name_is_id(id)) {
		mcp_fail(c, "EXEC_NOT_FOUND", "This session has no command", NULL);
		return;
	}
	snprintf(c->exec, sizeof c->exec, "%s", id);
	json_t *chars = json_object_get(c->args, "chars");
	if (json_string_length(chars) == 0)
		ask_exec(c);
	else
		mcp_request(c, on_written, METHOD_POST, mcp_path(c, "/input"),
			json_pack("{s:O}", "data", chars), NULL);
}

void mcp_write_stdin(struct mcp_call *c, const struct mcp_answer *a)
{
	json_int_t number = mcp_number_arg(c, "session_id", 0);
	(void)a;
	c->number = number > 0 ? (uint64_t)number : 0;
	c->cursor = mcp_cursors_get(&c->mcp->cursors, c->number);
	snprintf(c->session, sizeof c->session, PREFIX "%llu", (unsigned long long)c->number);
	mcp_request(c, on_execs, METHOD_GET, mcp_path(c, "/exec"), NULL, NULL);
}

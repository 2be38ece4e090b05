/*
 * States of sessions as JSON. Names, arguments and directories may be invalid UTF-8. Activities cut commands, because a
 * list may have hundreds.
 */
#include "ws/json/state.h"

#include "ring/utf8.h"
#include "ws/json/session.h"
#include "ws/text.h"

#include <string.h>
#include <sys/wait.h>

static json_t *text_or_null(const char *bytes)
{
	return bytes && bytes[0] ? text_string_json(bytes) : json_null();
}

static json_t *arguments_json(const struct foreground *f)
{
	json_t *list = json_array();
	for (size_t at = 0; at < f->argv_length && json_array_size(list) < STATE_JSON_ARGUMENTS_MAX;
		at += strlen(f->argv + at) + 1)
		json_array_append_new(list, text_string_json(f->argv + at));
	return list;
}

static json_t *foreground_json(const struct pane_state *t)
{
	const struct foreground *f = &t->foreground;
	if (f->pid == 0 || t->status == STATE_PROMPT || t->status == STATE_EXITED)
		return json_null();
	json_t *started = f->started_ms ? json_integer((json_int_t)f->started_ms) : json_null();
	return json_pack("{s:i, s:o, s:o, s:o, s:I}", "pid", (int)f->pid, "name",
		text_string_json(f->name), "argv", arguments_json(f), "startedAt", started, "cpuMs",
		(json_int_t)f->cpu_ms);
}

static void add_exit(json_t *root, const struct pane_state *t)
{
	bool signalled = t->exit_known && WIFSIGNALED(t->exit_status);
	json_object_set_new(root, "exitCode",
		t->exit_known && !signalled ? json_integer(WEXITSTATUS(t->exit_status))
					    : json_null());
	json_object_set_new(
		root, "signal", signalled ? signal_json(WTERMSIG(t->exit_status)) : json_null());
}

json_t *state_json(const struct pane_state *t)
{
	const char *input = state_input_name(t->input);
	json_t *root = json_pack(
		"{s:s, s:b, s:o, s:I, s:I, s:I, s:o, s:o, s:b, s:b, s:i, s:i, s:o, s:o}", "status",
		state_status_name(t->status), "certain", t->certain, "foreground",
		foreground_json(t), "quietMs", (json_int_t)t->quiet_ms, "offset",
		(json_int_t)t->offset, "screenVersion", (json_int_t)t->screen_version, "cwd",
		text_or_null(t->cwd), "title", text_or_null(t->title), "alternate", t->alternate,
		"pasting", t->pasting, "cols", (int)t->cols, "rows", (int)t->rows, "exec",
		text_or_null(t->exec), "block", text_or_null(t->block));
	if (root && input)
		json_object_set_new(root, "input", json_string(input));
	if (root && t->status == STATE_PROMPT)
		json_object_set_new(root, "stoppedJobs", json_integer((json_int_t)t->stopped_jobs));
	if (root && t->status == STATE_EXITED)
		add_exit(root, t);
	return root;
}

/* Activities */

static json_t *command_json(const char *command)
{
	char text[ACTIVITY_COMMAND_MAX + 1];
	size_t length = command ? strlen(command) : 0;
	if (length == 0)
		return json_null();
	length = utf8_cut(command, length, ACTIVITY_COMMAND_MAX);
	memcpy(text, command, length);
	text[length] = '\0';
	return text_string_json(text);
}

json_t *activity_block_json(const struct block *b)
{
	char id[BLOCK_ID_MAX + 1];
	if (!b)
		return json_null();
	block_id(b, id);
	return json_pack("{s:s, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o}", "id", id, "command",
		command_json(b->command), "author",
		b->author || b->exec[0] ? text_or_null(b->author) : json_string("human"), "label",
		text_or_null(b->label), "by", b->exec[0] ? "exec" : "human", "state",
		b->done ? "done" : "running", "startedAt", time_json(b->started_ms), "endedAt",
		time_json(b->done ? b->ended_ms : 0), "exitCode",
		b->done && b->status >= 0 ? json_integer(b->status) : json_null());
}

static json_t *notification_json(const struct activity *a)
{
	if (a->notified_ms == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:i}", "text", text_string_json(a->text), "title",
		text_or_null(a->title), "at", time_json(a->notified_ms), "count", (int)a->notified);
}

static json_t *program_json(const struct activity *a)
{
	if (!a->name[0])
		return json_null();
	return json_pack("{s:o, s:o}", "name", text_string_json(a->name), "startedAt",
		time_json(a->started_ms));
}

static json_t *progress_json(struct progress p)
{
	static const char *const states[] = {[PROGRESS_NORMAL] = "normal",
		[PROGRESS_ERROR] = "error",
		[PROGRESS_INDETERMINATE] = "indeterminate",
		[PROGRESS_PAUSED] = "paused"};
	if (p.state == PROGRESS_NONE)
		return json_null();
	return json_pack("{s:s, s:o}", "state", states[p.state], "percent",
		p.state == PROGRESS_INDETERMINATE ? json_null() : json_integer(p.percent));
}

json_t *activity_json(const struct activity *a)
{
	if (!a || !a->looked)
		return json_null();
	const char *input = state_input_name(a->input);
	return json_pack(
		"{s:s, s:o, s:b, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:b}",
		"status", state_status_name(a->status), "input",
		input ? json_string(input) : json_null(), "certain", a->certain, "since",
		time_json(a->since_ms), "foreground", program_json(a), "cwd", text_or_null(a->cwd),
		"cwdCut", a->cwd_cut, "title", text_or_null(a->terminal_title), "progress",
		progress_json(a->progress), "block",
		activity_block_json(blocks_newest(session_blocks(a->session))), "lease",
		lease_json(session_keyboard(a->session)), "bellAt", time_json(a->bell_ms), "bells",
		(int)a->bells, "notification", notification_json(a), "unread", a->unread);
}

/* States of sessions as JSON. */
#include "ws/json/state.h"

#include "ws/json/session.h"
#include "ws/text.h"

#include <string.h>
#include <sys/wait.h>

/* Names, arguments and directories may be invalid UTF-8. */
static json_t *text_or_null(const char *bytes)
{
	return bytes[0] ? text_string_json(bytes) : json_null();
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

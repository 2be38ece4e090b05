/* Tables of the members that are removed, and of what to do after an error. */
#include "ws/mcp/lean.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define QUIET_MS 1000 /* shorter times are left out */

/* Members that are removed. */
static const char *const removed_fields[] = {"session_id", "pipe_status", "clients", "offset",
	"epoch", "pid", "size_policy", "created_at", "last_activity_at", "oldest", "ring_size",
	"idle_timeout_ms", "on_shell_exit", "shell_restarts", "unicode", "written", "title", "argv",
	NULL};

/* Members of a block that are kept. */
static const char *const block_fields[] = {"id", "author", "label", "state", "exit_code", "cwd",
	"command", "suspect", "truncated", NULL};

/* Members of a terminal that are kept. */
static const char *const terminal_fields[] = {
	"status", "input", "asks", "elicited", "stopped_jobs", NULL};

static bool is_in(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static bool is_default(const char *name, const json_t *value)
{
	static const char *const zeros[] = {
		"omitted_bytes", "lost_bytes", "lost_in_all", "stopped_jobs", "queued", NULL};
	const char *text = json_string_value(value);
	if (strcmp(name, "output_exact") == 0)
		return json_is_true(value);
	if (json_is_null(value) || json_is_false(value))
		return true;
	if (strcmp(name, "duration_ms") == 0)
		return json_integer_value(value) < QUIET_MS;
	if (json_is_integer(value) && json_integer_value(value) == 0)
		return is_in(zeros, name);
	return text && strcmp(name, "ended_by") == 0 && strcmp(text, "command") == 0;
}

static void remove_members(json_t *object, const char *const *names, bool remove_listed)
{
	const char *name;
	json_t *value;
	void *next;
	json_object_foreach_safe (object, next, name, value)
		/* exec_command's session_id is a number; write_stdin needs it. */
		if ((is_in(names, name) == remove_listed &&
			    !(remove_listed && strcmp(name, "session_id") == 0 &&
				    json_is_integer(value))) ||
			is_default(name, value))
			json_object_del(object, name);
}

static json_t *lean_terminal(const json_t *terminal)
{
	const char *input = json_string_value(json_object_get(terminal, "input"));
	json_t *quiet = json_object_get(terminal, "quiet_ms"),
	       *name = json_object_get(json_object_get(terminal, "foreground"), "name");
	const char *status = json_string_value(json_object_get(terminal, "status"));
	json_t *lean = json_deep_copy(terminal);
	bool idle = status && (strcmp(status, "prompt") == 0 || strcmp(status, "exited") == 0);
	remove_members(lean, terminal_fields, false);
	if (name)
		json_object_set_new(lean, "foreground", json_pack("{s:O}", "name", name));
	if (!idle && json_integer_value(quiet) >= QUIET_MS)
		json_object_set(lean, "quiet_ms", quiet);
	if (!idle && json_is_false(json_object_get(terminal, "certain")))
		json_object_set_new(lean, "certain", json_false());
	/* Only a person may type a password. */
	if (input && strcmp(input, "password") == 0)
		json_object_set(lean, "human_url", json_object_get(terminal, "human_url"));
	if (status && strcmp(status, "exited") == 0)
		json_object_set(lean, "exit_code", json_object_get(terminal, "exit_code"));
	return lean;
}

/* Remove members of each object in a list. */
static void lean_list(json_t *list, const char *const *names, bool remove_listed)
{
	size_t i;
	json_t *one;
	json_array_foreach (list, i, one)
		remove_members(one, names, remove_listed);
}

void mcp_lean(json_t *result)
{
	json_t *terminal = json_object_get(result, "terminal");
	const char *state = json_string_value(json_object_get(result, "state"));
	bool session = json_object_get(result, "shell") != NULL;
	if (session) /* keep its id, which is in `removed_fields` */
		json_object_set(result, "id", json_object_get(result, "session_id"));
	if (terminal)
		json_object_set_new(result, "terminal", lean_terminal(terminal));
	if (state && strcmp(state, "done") == 0)
		json_object_del(result, "terminal");
	remove_members(result, removed_fields, true);
	if (session) {
		json_object_set(result, "session_id", json_object_get(result, "id"));
		json_object_del(result, "id");
	}
	lean_list(json_object_get(result, "sessions"), removed_fields + 1, true);
	lean_list(json_object_get(result, "blocks"), block_fields, false);
	remove_members(json_object_get(result, "block"), block_fields, false);
}

const char *mcp_next_after_error(const char *code)
{
	static const struct {
		const char *code, *next;
	} all[] = {
		{"RESOURCE_BUSY",
			"wait with exec_read, end it with exec_signal, answer it with send_keys, or use another session (session_create)"},
		{"SESSION_TERMINATED",
			"its shell has ended and cannot run commands: session_create makes another session; without session_id you get your own"},
		{"SESSION_DESTROYED", "session_create makes another"},
		{"SESSION_NOT_FOUND",
			"session_list lists the sessions; without session_id you get your own"},
		{"EXEC_NOT_FOUND",
			"history lists the commands that have run, with their output (block_id)"},
		{"ANSWER_LOST", "look before trying again: snapshot, history"},
		{"RANGE_GONE",
			"repeat the call without cursor to get the output that is still there"},
		{"LEASED",
			"another client has the keyboard, or your lease has expired: wait until lease, then take it again"},
		{"EXEC_UNSUPPORTED", "type it with send_keys, then use snapshot"},
		{"PRECONDITION_FAILED", "read_file again, and apply your change to the new content"},
		{"QUOTA_REACHED", "wait until some of your calls have ended"},
		{"LIMIT_REACHED", "wait until some of your calls have ended"},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(all[i].code, code) == 0)
			return all[i].next;
	return NULL;
}

const char *mcp_next_after_end(const char *ended_by)
{
	static const struct {
		const char *by, *next;
	} all[] = {
		{"not_started",
			"it has not run: exec again, in another session (session_create) if its shell has ended"},
		{"busy", "it has not run, because another command still runs: wait for that, end it (exec_signal), or use another session (session_create)"},
		{"cancelled",
			"it has not run, because it was cancelled: exec again if it is still wanted"},
		{"lost", "its session is gone, and it may have run: check what it would have changed before trying again"},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (ended_by && strcmp(all[i].by, ended_by) == 0)
			return all[i].next;
	return "it may have run, or not, or in part: check before trying again (snapshot, history)";
}

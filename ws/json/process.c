/* Processes as JSON, with the names of the container's protocol. */
#include "ws/json/process.h"

#include "ws/json/session.h"

#include <sys/wait.h>

const char *process_stream_name(enum event_source source)
{
	return source == EVENT_SOURCE_STDOUT ? "stdout" : "stderr";
}

json_t *process_exit_json(const struct process *p)
{
	int code;
	return process_exit_code(p, &code) ? json_integer(code) : json_null();
}

json_t *process_json(const struct process *p)
{
	int code;
	json_t *json = json_pack("{s:s, s:s, s:s, s:o}", "id", p->held.id, "command", p->command,
		"status", process_status(p), "startTime", time_json(p->created_ms));
	if (p->pid > 0)
		json_object_set_new(json, "pid", json_integer(p->pid));
	if (p->ended_ms > 0)
		json_object_set_new(json, "endTime", time_json(p->ended_ms));
	if (process_exit_code(p, &code))
		json_object_set_new(json, "exitCode", json_integer(code));
	if (p->timed_out)
		json_object_set_new(json, "timedOut", json_true());
	if (p->command_cut)
		json_object_set_new(json, "commandTruncated", json_true());
	if (p->session[0])
		json_object_set_new(json, "sessionId", json_string(p->session));
	return json;
}

json_t *process_details_json(const struct process *p)
{
	static const char *const inputs[PROCESS_INPUT_STATES] = {[PROCESS_INPUT_NONE] = "none",
		[PROCESS_INPUT_OPEN] = "pipe",
		[PROCESS_INPUT_ENDING] = "pipe",
		[PROCESS_INPUT_CLOSED] = "closed"};
	json_t *json = process_json(p);
	int code, members = process_count_members(p);
	json_object_update_new(json,
		json_pack("{s:s, s:I, s:s, s:{s:I, s:I}}", "cwd", p->cwd, "timeoutMs",
			(json_int_t)p->timeout_ms, "stdin", inputs[p->input.state], "output",
			"oldest", (json_int_t)process_oldest(p), "head", (json_int_t)p->head));
	/* Living processes, also of a command that has ended. */
	if (members >= 0)
		json_object_set_new(json, "members", json_integer(members));
	if (process_exit_code(p, &code) && WIFSIGNALED(p->wait_status))
		json_object_set_new(json, "signal", signal_json(WTERMSIG(p->wait_status)));
	return json;
}

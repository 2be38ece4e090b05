/*
 * One log line for each command: author, time, address, result. Environments and input are never logged.
 */
#include "ws/serve/reports.h"

#include "shell/own_error.h"
#include "ws/log.h"

#include <stdio.h>

static void on_sessions_changed(void *user)
{
	struct reports *r = user;
	recorders_sync(r->recorders);
	api_sessions_changed(r->api);
}

static void on_session_failed(void *user, const char *id, const char *what, int error)
{
	struct reports *r = user;
	r->metrics->failures++;
	log_write(LOG_WARN, "sessions", what, "session", id, "error", error_text(error), NULL);
}

static void on_executed(void *user, const struct session *s, const struct exec *e)
{
	char exit[16] = "unknown", ms[24] = "unknown", command[LOG_COMMAND_SIZE];
	(void)user;
	if (e->status >= 0)
		snprintf(exit, sizeof exit, "%d", e->status);
	if (e->started_ms > 0 && e->ended_ms >= e->started_ms)
		snprintf(ms, sizeof ms, "%llu", (unsigned long long)(e->ended_ms - e->started_ms));
	log_command(e->command, command);
	log_write(LOG_INFO, "exec", "ended", "id", e->id, "session", session_id(s), "principal",
		e->author, "label", e->label, "peer", e->peer, "command", command, "cwd",
		e->cwd ? e->cwd : "", "endedBy", exec_end_name(e->end), "exit", exit, "ms", ms,
		NULL);
}

static void on_shell_restarted(void *user, const struct session *s, int wait_status)
{
	char exit[16], restarts[24];
	(void)user;
	snprintf(exit, sizeof exit, "%d", exec_status_of(wait_status));
	snprintf(restarts, sizeof restarts, "%llu", (unsigned long long)s->restarts);
	log_write(LOG_INFO, "session", "shell restarted", "session", session_id(s), "exit", exit,
		"onShellExit", shell_exit_name(s->on_shell_exit), "restarts", restarts, NULL);
}

const struct sessions_callbacks reports_of_sessions = {
	.changed = on_sessions_changed,
	.failed = on_session_failed,
	.executed = on_executed,
	.restarted = on_shell_restarted,
};

static void on_process_ended(void *user, const struct process *process)
{
	char exit[32] = "unknown", command[LOG_COMMAND_SIZE];
	int code;
	(void)user;
	if (process_exit_code(process, &code))
		snprintf(exit, sizeof exit, "%d", code);
	log_command(process->command, command);
	log_write(LOG_INFO, "process", "ended", "id", process->held.id, "status",
		process_status(process), "exit", exit, "command", command, "cwd", process->cwd,
		NULL);
}

static void on_process_failed(void *user, const char *id, const char *what, int error)
{
	struct reports *r = user;
	r->metrics->failures++;
	log_write(LOG_WARN, "process", what, "id", id, "error", error_text(error), NULL);
}

const struct processes_callbacks reports_of_processes = {
	.ended = on_process_ended,
	.failed = on_process_failed,
};

static void on_hook_failed(void *user, const char *name, const char *what, const char *why)
{
	struct reports *r = user;
	r->metrics->failures++;
	log_write(LOG_WARN, "webhook", what, "to", name, "error", why, NULL);
}

static void on_hook_recovered(void *user, const char *name)
{
	(void)user;
	log_write(LOG_INFO, "webhook", "answers again", "to", name, NULL);
}

const struct courier_callbacks reports_of_hooks = {
	.failed = on_hook_failed,
	.recovered = on_hook_recovered,
};

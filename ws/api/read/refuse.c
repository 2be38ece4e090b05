/* Error answers that several handlers give. */
#include "ws/api/read/refuse.h"

#include "shell/own_error.h"
#include "shell/store/directory.h"
#include "ws/api/read/body.h"
#include "ws/json/exec.h"
#include "ws/json/run.h"
#include "ws/json/session.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool refuse_memory(struct request *r)
{
	return reply_error(r, "OUT_OF_MEMORY", "Out of memory", NULL);
}

void refuse_run(struct request *r, const char *what, int error)
{
	char message[256];
	if (error == -ERR_LIMIT) {
		reply_error(r, "LIMIT_REACHED", "Too many commands are running",
			json_pack("{s:i}", "maxRuns", (int)RUNS_MAX));
		return;
	}
	snprintf(message, sizeof message, "%s could not be started: %s", what,
		error == -ERR_NOT_INSTALLED ? "there is no bash" : error_text(error));
	reply_error(r, error_code_of(error), message, NULL);
}

void refuse_directory(struct request *r, const char *cwd, int error)
{
	char message[BODY_PATH_MAX + 128];
	snprintf(message, sizeof message, "The working directory %s cannot be used: %s", cwd,
		strerror(-error));
	reply_invalid(r, "cwd", message, error == -ENOENT ? "not_found" : "invalid");
}

bool refuse_shell_directory(struct request *r)
{
	return reply_error(r, "RESOURCE_BUSY",
		"The directory of the session's shell is unknown at the moment: try again, or set cwd",
		NULL);
}

void refuse_unchecked_directory(struct request *r, const char *cwd, int error)
{
	char message[BODY_PATH_MAX + 128];
	bool busy = error == -ERR_LIMIT;
	snprintf(message, sizeof message, "%s: %s", cwd,
		busy ? "too many requests already wait for the disks" : error_text(error));
	reply_error(r, busy ? "RESOURCE_BUSY" : error_code_of(error), message,
		json_pack("{s:s}", "path", cwd));
}

void refuse_directory_not_in_sandbox(struct request *r, const char *cwd)
{
	char message[BODY_PATH_MAX + 160];
	snprintf(message, sizeof message,
		"The working directory %s is not in the sandbox of commands (--isolate): choose another "
		"(cwd), or start the server with --bind or --ro-bind for it",
		cwd);
	reply_invalid(r, "cwd", message, "not_found");
}

bool refuse_if_directory(
	struct request *r, const struct directory_found *found, const char *cwd, int error)
{
	if (error_is_shortage(error) || directory_check_cached(found, cwd) != error)
		return false;
	refuse_directory(r, cwd, error);
	return true;
}

bool refuse_if_draining(struct request *r, const struct sessions *all)
{
	if (all->draining)
		reply_error(r, error_code_of(-ERR_DRAINING),
			"The server is being drained: it starts nothing new", NULL);
	return all->draining;
}

void refuse_sessions(struct request *r, const struct sessions *all)
{
	reply_error(r, "LIMIT_REACHED", "There are too many sessions",
		json_pack("{s:i}", "maxSessions", (int)all->config.max_sessions));
}

void refuse_screen_size(struct request *r, const struct sessions *all, const char *id)
{
	reply_error(r, "LIMIT_REACHED",
		"There is no memory for a screen of that size: the limit of all screens together is reached",
		json_pack("{s:s, s:I}", "sessionId", id, "screenMemory",
			(json_int_t)all->screens.limit));
}

void refuse_session_start(struct request *r, const struct sessions *all, const char *id,
	enum report_stage stage, int error)
{
	char message[300];
	if (error == -ERR_LIMIT) {
		refuse_sessions(r, all);
		return;
	}
	snprintf(message, sizeof message, "The session '%s' cannot be created: %s%s", id,
		stage == REPORT_CHDIR ? "its directory: " : "", error_text(error));
	reply_error(r, error_code_of(error), message, json_pack("{s:s}", "sessionId", id));
}

void refuse_session(struct request *r, const struct session *s, int rc)
{
	if (rc == -ERR_NOT_RUNNING && s->state == SESSION_EXITED)
		reply_error(r, "SESSION_TERMINATED", "The session has ended",
			json_pack("{s:s, s:o}", "sessionId", session_id(s), "exit",
				session_exit_json(s)));
	else if (rc == -ERR_NOT_RUNNING && session_check_responsive(s) == -ERR_UNRESPONSIVE)
		refuse_session(r, s, -ERR_UNRESPONSIVE);
	else if (rc == -ERR_NOT_RUNNING)
		reply_error(r, "RESOURCE_BUSY", "The session is not running yet",
			json_pack("{s:s}", "sessionId", session_id(s)));
	else if (rc == -ENOBUFS)
		reply_error(r, "LIMIT_REACHED", "Too much input waits for a program to read it",
			json_pack("{s:s, s:I}", "sessionId", session_id(s), "queued",
				(json_int_t)session_queued(s)));
	else if (rc == -ERR_SCREEN_BUDGET)
		refuse_screen_size(r, s->table, session_id(s));
	else if (rc == -EACCES)
		refuse_lease(r, s);
	else if (rc == -EMSGSIZE)
		reply_error(r, "LINE_TOO_LONG",
			"The terminal is in canonical mode: a line has at most 4095 bytes",
			json_pack("{s:s, s:i}", "sessionId", session_id(s), "limit",
				(int)TYPING_LINE_MAX));
	else
		reply_error(r, error_code_of(rc), error_text(rc),
			json_pack("{s:s}", "sessionId", session_id(s)));
}

bool refuse_lease(struct request *r, const struct session *s)
{
	json_t *lease = lease_json(session_keyboard(s));
	return reply_error(r, "LEASED",
		json_is_null(lease) ? "The given lease is over: other clients may have typed since"
				    : "Another client has leased the session",
		json_pack("{s:s, s:o, s:o}", "sessionId", session_id(s), "lease", lease, "note",
			lease_note_json(session_keyboard(s))));
}

void refuse_exec(struct request *r, struct session *s, int rc)
{
	struct executor *x = session_executor(s);
	const char *reason = rc != -ENOTSUP ? exec_busy_reason(x)
		: x->open                   ? exec_unable_reason(x)
					    : NULL;
	if (rc == -ENOTSUP && x->open && !reason)
		reason = "fish has no subshell to isolate a command in";
	switch (rc) {
	case -EBUSY:
		reply_error(r, "RESOURCE_BUSY", reason ? reason : "The shell is not at its prompt",
			json_pack("{s:s, s:o}", "sessionId", session_id(s), "exec",
				x->current ? exec_json(x->current) : json_null()));
		break;
	case -ERR_LIMIT:
		reply_error(r, "LIMIT_REACHED", "Too many commands wait for this session",
			json_pack("{s:s, s:i}", "sessionId", session_id(s), "limit",
				(int)EXECS_QUEUED_MAX));
		break;
	case -ERR_KEY_IN_USE:
		reply_error(r, "KEY_IN_USE", "This key belongs to another command",
			json_pack("{s:s}", "sessionId", session_id(s)));
		break;
	case -ENOTSUP:
		reply_error(r, "EXEC_UNSUPPORTED",
			reason ? reason
			       : "The shell of this session cannot run execs: it is not bash, zsh or fish, its arguments skip its init file, or it was started by an older server",
			json_pack("{s:s, s:s}", "sessionId", session_id(s), "shell", s->pane.shell));
		break;
	case -ENOENT:
		reply_invalid(r, "stdinFrom", "There is no such input, or it is already in use",
			"not_found");
		break;
	case -EACCES:
		refuse_lease(r, s);
		break;
	case -ERR_NOT_RUNNING:
		if (s->state == SESSION_EXITED)
			reply_error(r, "SESSION_TERMINATED", "The session has ended",
				json_pack("{s:s, s:o, s:o}", "sessionId", session_id(s), "exitCode",
					session_end_is_known(s->end)
						? json_integer(exec_status_of(s->exit_status))
						: json_null(),
					"exit", session_exit_json(s)));
		else
			refuse_session(r, s, rc);
		break;
	default:
		reply_error(r, error_code_of(rc), error_text(rc),
			json_pack("{s:s}", "sessionId", session_id(s)));
	}
}

/*
 * States: parse the request, choose the place (this may start a session), work on a thread, answer.
 * A session only gives the pid of its shell; the kernel gives the directory of that process. So a
 * busy shell delays nothing.
 */
#include "ws/api/files/call.h"

#include "shell/bounds.h"
#include "shell/files/pack.h"
#include "shell/own_error.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SESSION "default"
#define FILE_URL "/api/file/"

static void free_call(struct file_call *c)
{
	reply_text_finish(&c->answer);
	json_decref(c->body);
	request_unref(c->request);
	free(c);
}

static void on_close(struct job *job)
{
	struct file_call *c = (struct file_call *)job;
	if (c->content.fd > 0)
		content_close(&c->content);
	pack_close(c->pack);
}

static void on_close_done(struct job *job, int error)
{
	if (error < 0)
		on_close(job);
	free_call((struct file_call *)job);
}

void file_call_free(struct file_call *c)
{
	/* close() can block on some file systems. */
	if (c->content.fd > 0 || c->pack) {
		c->job.work = on_close;
		c->job.done = on_close_done;
		crew_send_required(c->api->crew, &c->job);
	} else {
		free_call(c);
	}
}

json_t *file_context(const struct file_call *c)
{
	return json_pack("{s:s, s:s}", "path", c->path, "operation", c->action->operation);
}

void file_answer_begin(struct file_call *c)
{
	reply_text_raw(&c->answer, "{\"success\":true,\"path\":");
	reply_text_cstring(&c->answer, c->path);
}

void file_answer_end(struct file_call *c)
{
	reply_text_raw(&c->answer, ",\"timestamp\":");
	reply_text_now(&c->answer);
	reply_text_raw(&c->answer, "}");
}

/* Answering */

void file_call_refuse(struct file_call *c, int error)
{
	struct request *r = c->request;
	char message[PLACE_PATH_MAX + 128];
	json_t *context = file_context(c);
	const char *code = error == -ENOENT || error == -ENOTDIR  ? "FILE_NOT_FOUND"
		: error == -ERR_LIMIT                             ? "RESOURCE_BUSY"
		: error == -ERR_FILES_STUCK                       ? "FILES_STUCK"
		: error == -ESRCH                                 ? "SESSION_TERMINATED"
		: error == -ECANCELED || error_is_shortage(error) ? error_code_of(error)
								  : "FILESYSTEM_ERROR";
	if (strcmp(code, "FILE_NOT_FOUND") == 0)
		snprintf(message, sizeof message, "File not found: %s", c->path);
	else if (error == -ERR_LIMIT)
		snprintf(message, sizeof message, "Too many file operations are waiting");
	else if (error == -ERR_FILES_STUCK)
		snprintf(message, sizeof message, "%s: %s", c->path, error_text(error));
	else if (error == -ESRCH)
		snprintf(message, sizeof message, "The session's shell has ended");
	else
		snprintf(message, sizeof message, "%s: %s: %s", c->action->operation, c->path,
			error_text(error));
	if (context && strcmp(code, "FILESYSTEM_ERROR") == 0)
		json_object_update_new(context,
			json_pack("{s:s, s:i}", "stderr", error_text(error), "exitCode", 1));
	if (context && error == -ESRCH)
		json_object_set_new(context, "sessionId", json_string(c->session));
	reply_error(r, code, message, context);
}

static void refuse(struct file_call *c, int error)
{
	if (!c->action->refuse || !c->action->refuse(c, error))
		file_call_refuse(c, error);
}

static void on_done(struct job *job, int error)
{
	struct file_call *c = (struct file_call *)job;
	struct request *r = c->request;
	r->gone = NULL;
	if (error == 0 && c->action->reply && (c->error == 0 || c->action->replies_errors)) {
		c->action->reply(c);
		return;
	}
	if (error < 0 || c->error < 0) {
		refuse(c, error < 0 ? error : c->error);
	} else if (c->answer.failed) {
		refuse(c, c->answer.too_long ? -EFBIG : -ENOMEM);
	} else {
		char *text = c->answer.text;
		c->answer.text = NULL;
		reply_bytes(r, 200, "application/json", text, c->answer.length, text);
	}
	file_call_free(c);
}

/* Working */

static void on_work(struct job *job)
{
	struct file_call *c = (struct file_call *)job;
	if (atomic_load(&c->gone)) {
		c->error = -ECANCELED;
		return;
	}
	c->error = place_enter(&c->place);
	if (c->error < 0)
		return;
	c->error = c->action->work(c);
	place_leave(&c->place);
}

static void on_gone(void *user)
{
	struct file_call *c = user;
	atomic_store(&c->gone, true);
}

static void submit(struct file_call *c)
{
	struct request *r = c->request;
	c->job.work = on_work;
	c->job.done = on_done;
	access_owner_key(&r->principal, c->session, c->job.owner, sizeof c->job.owner);
	int rc = crew_send(c->api->crew, &c->job);
	if (rc < 0) {
		file_call_refuse(c, rc);
		file_call_free(c);
		return;
	}
	r->gone = on_gone;
	r->gone_user = c;
}

/* Choosing the place */

static void use_shell(struct file_call *c, const struct session *s)
{
	place_of_shell(&c->place, session_shell_pid(s), session_holder_pid(s));
	c->place.workspace = c->api->alias;
	submit(c);
}

static void on_session(void *user, struct session *s, enum report_stage stage, int error)
{
	struct file_call *c = user;
	/* The access may have been revoked while the session was started. */
	if (error == 0 && !c->request->cut) {
		use_shell(c, s);
		return;
	}
	if (error < 0)
		refuse_session_start(c->request, c->api->sessions, c->session, stage, error);
	file_call_free(c);
}

/* Start the session if it does not exist or does not run, and wait for it. */
static void start_session(struct file_call *c)
{
	c->waiter = (struct session_waiter){.done = on_session, .user = c};
	int rc = sessions_get_or_replace(c->api->sessions, c->session, &c->waiter);
	if (rc < 0)
		on_session(c, NULL, REPORT_SETUP, rc);
}

/* Without a session, use the server's directory. With --isolate there is none. */
static void use_server_directory(struct file_call *c)
{
	if (c->api->sessions->config.bounds->isolation) {
		reply_invalid(c->request, "sessionId",
			"A session is required: with --isolate each session has its own files",
			"required");
		file_call_free(c);
		return;
	}
	if (!place_of_directory(&c->place, c->api->sessions->config.cwd)) {
		file_call_refuse(c, -ENAMETOOLONG);
		file_call_free(c);
		return;
	}
	c->place.workspace = c->api->alias;
	submit(c);
}

/* The session does not run, and is not started. s: NULL if it does not exist. */
static void use_no_directory(struct file_call *c, const struct session *s)
{
	if (c->api->sessions->config.bounds->isolation) {
		reply_error(c->request, s ? "SESSION_TERMINATED" : "SESSION_NOT_FOUND",
			s ? "The session's shell does not run" : "There is no such session",
			json_pack("{s:s}", "sessionId", c->session));
		file_call_free(c);
		return;
	}
	place_of_nothing(&c->place);
	c->place.workspace = c->api->alias;
	submit(c);
}

/* Check that the session of a link exists and runs. Otherwise c has been answered. */
static bool check_link_session(struct file_call *c, const struct session *s)
{
	const struct principal *p = &c->request->principal;
	if (!p->session[0])
		return true;
	if (!s || !auth_may_see(p, session_id(s), session_epoch(s)))
		return reply_error(c->request, "SESSION_DESTROYED", "The session has been deleted",
			json_pack("{s:s}", "sessionId", c->session));
	if (s->state != SESSION_RUNNING)
		return reply_error(c->request, "SESSION_TERMINATED", "The session's shell has ended",
			json_pack("{s:s}", "sessionId", c->session));
	return true;
}

static bool is_relative(const char *path)
{
	return path && path[0] != '/';
}

static void choose_place(struct file_call *c)
{
	const struct session *s = sessions_find(c->api->sessions, c->session);
	bool needed = c->api->sessions->config.bounds->isolation || is_relative(c->path) ||
		is_relative(c->to);
	if (!check_link_session(c, s))
		file_call_free(c);
	else if (s && s->state == SESSION_RUNNING)
		use_shell(c, s);
	else if (c->action->starts_nothing)
		use_no_directory(c, s);
	else if (needed)
		start_session(c);
	else
		use_server_directory(c);
}

/* Parsing */

bool file_call_check_path(struct file_call *c, const char *field, const json_t *value)
{
	const char *path = json_string_value(value), *wrong = NULL;
	if (!path || !*path)
		wrong = "Must be a path";
	else if (strlen(path) != json_string_length(value))
		wrong = "Must not contain NUL";
	else if (strlen(path) >= PLACE_PATH_MAX)
		wrong = "Must be shorter than 4096 bytes";
	return !wrong || reply_invalid(c->request, field, wrong, "INVALID_PATH");
}

/* field: NULL if the action has no such path. */
static bool parse_path(struct file_call *c, const char *field, const char **ret_path)
{
	const json_t *value = field ? json_object_get(c->body, field) : NULL;
	*ret_path = json_string_value(value);
	return !field || file_call_check_path(c, field, value);
}

/* Check and store the session's id, NULL for the default. Returns false after it has answered. */
static bool parse_session(struct file_call *c, const char *id, bool *ret_none)
{
	struct request *r = c->request;
	if (!access_session(&r->principal, id, &id))
		return reply_error(r, "PERMISSION_DENIED", "This link is for another session", NULL);
	*ret_none = id && strcmp(id, BODY_NO_SESSION) == 0 && !r->principal.session[0];
	if (id && !name_is_id(id))
		return reply_invalid(r, "sessionId",
			"An id is 1 to 128 of A-Z a-z 0-9 . _ : @ - and does not begin with a dot",
			"invalid");
	snprintf(c->session, sizeof c->session, "%s", id ? id : DEFAULT_SESSION);
	return true;
}

static bool parse_body(struct file_call *c, bool *ret_none)
{
	const struct file_action *action = c->action;
	const char *id;
	c->body = json_incref(body_read(c->request));
	return c->body && parse_path(c, action->path, &c->path) &&
		parse_path(c, action->to, &c->to) &&
		body_text(c->request, c->body, "sessionId", &id) &&
		parse_session(c, id, ret_none) && (!action->parse || action->parse(c));
}

static bool parse_url(struct file_call *c, bool *ret_none)
{
	struct request *r = c->request;
	const char *id;
	c->path = r->path[strlen(FILE_URL)] ? r->path + strlen(FILE_URL) : ".";
	if (strlen(c->path) >= PLACE_PATH_MAX)
		return reply_invalid(r, "path", "Must be shorter than 4096 bytes", "INVALID_PATH");
	return request_session(r, &id) && parse_session(c, id, ret_none) &&
		(!c->action->parse || c->action->parse(c));
}

static void begin(struct request *r, const struct file_action *action,
	bool (*parse)(struct file_call *c, bool *ret_none))
{
	struct file_call *c = request_alloc(r, sizeof *c);
	bool none = false;
	if (!c)
		return;
	c->api = api_of(r);
	c->request = request_ref(r);
	c->action = action;
	if (!parse(c, &none))
		file_call_free(c);
	else if (none)
		use_server_directory(c);
	else
		choose_place(c);
}

void file_call(struct request *r, const struct file_action *action)
{
	begin(r, action, parse_body);
}

void file_call_url(struct request *r, const struct file_action *action)
{
	begin(r, action, parse_url);
}

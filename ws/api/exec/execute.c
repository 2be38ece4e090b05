/*
 * Commands in the Sandbox container's protocol. With a session they run in its shell; the session is created if it does
 * not exist. Without one they run on their own (ws/api/run.c).
 */
#include "ws/api/api.h"
#include "ws/api/cwd_check.h"
#include "ws/api/read/body.h"
#include "ws/api/exec/stream.h"
#include "ws/api/exec/wait.h"
#include "ws/json/exec.h"
#include "ws/json/session.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/api/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXECUTE_OUTPUT ((size_t)32 << 20) /* bytes kept of each stream */
/* Maximal wait for a command that a person has started; the wait for other execs is not limited. */
#define EXECUTE_QUEUE_MS 60000u

struct execute {
	struct session_waiter waiter;
	struct api *api;
	struct request *request;
	json_t *body; /* lends the texts of options */
	struct body_environment env;
	struct exec_options options;
	char session[NAME_ID_MAX + 1];
	bool stream;
};

static void execute_destroy(struct execute *x)
{
	request_unref(x->request);
	json_decref(x->body);
	free(x);
}

static json_t *command_context(const struct exec *e)
{
	json_t *context = json_pack("{s:s, s:s, s:o}", "command", e->command, "sessionId",
		session_id(session_of_exec(e)), "exitCode",
		e->status < 0 ? json_null() : json_integer(e->status));
	return context;
}

static void reply_timeout(struct request *r, struct exec *e)
{
	char message[80];
	json_t *context = command_context(e);
	snprintf(message, sizeof message, "Command timeout after %llums",
		(unsigned long long)e->timeout_ms);
	if (context) {
		exec_json_add_container_output(context, e);
		json_object_set_new(context, "execId", json_string(e->id));
		json_object_set_new(context, "state", json_string(exec_state_name(e->state)));
	}
	reply_error(r, "COMMAND_EXECUTION_ERROR", message, context);
}

static const char *not_run_code(const struct exec *e)
{
	bool over = session_of_exec(e)->state != SESSION_RUNNING;
	switch (e->end) {
	case EXEC_END_SHELL:
		return "SESSION_TERMINATED";
	case EXEC_END_LOST:
		return "SESSION_DESTROYED";
	case EXEC_END_CANCELLED:
		return "OPERATION_INTERRUPTED";
	case EXEC_END_UNKNOWN:
		return "COMMAND_EXECUTION_ERROR"; /* not a code on which clients retry */
	case EXEC_END_NOT_STARTED:
		return over ? "SESSION_TERMINATED" : "RESOURCE_BUSY";
	default:
		return "RESOURCE_BUSY";
	}
}

static void reply_not_run(struct request *r, struct exec *e)
{
	json_t *context = command_context(e);
	if (context) {
		json_object_set_new(context, "execId", json_string(e->id));
		json_object_set_new(context, "endedBy", json_string(exec_end_name(e->end)));
	}
	if (e->state == EXEC_DONE)
		reply_error(r, not_run_code(e), exec_end_reason(e), context);
	else
		reply_error(r, "RESOURCE_BUSY",
			"The command could not be killed: it is still running", context);
}

static void on_executed(void *user, struct request *r, struct exec *e)
{
	(void)user;
	if (e->timed_out) {
		reply_timeout(r, e);
		return;
	}
	if (e->state != EXEC_DONE || (e->end > EXEC_END_PROMPT && !exec_has_replaced_shell(e))) {
		reply_not_run(r, e);
		return;
	}
	json_t *body = json_pack("{s:b, s:i, s:s, s:I, s:s, s:s}", "success", e->status == 0,
		"exitCode", e->status, "command", e->command, "duration",
		(json_int_t)(e->ended_ms - e->started_ms), "sessionId",
		session_id(session_of_exec(e)), "execId", e->id);
	if (body) {
		exec_json_add_container_output(body, e);
		if (e->suspect)
			json_object_update_new(body,
				json_pack("{s:b, s:b}", "suspect", true, "outputExact", false));
		json_object_set_new(body, "timestamp", time_json(e->ended_ms));
	}
	reply_json(r, 200, body);
}

static void run(struct execute *x, struct session *s)
{
	struct exec *e;
	struct exec_wait_options wait = {
		.loop = x->api->sessions->loop, .until_unkillable = true, .done = on_executed};
	/* The client's access may have ended while the session was created. */
	if (x->request->cut || !exec_wait_claim(x->api->access, x->request, &x->options))
		return;
	int rc = x->stream ? exec_start(session_executor(s), &x->options, NULL, &e)
			   : exec_wait_start(x->request, s, &x->options, &wait, &e);
	if (rc < 0) {
		claim_release(&x->options.claim);
		refuse_exec(x->request, s, rc);
	} else if (x->stream) {
		exec_stream_open(
			x->request, e, &(struct exec_stream_options){.kind = EXEC_STREAM_SANDBOX});
	}
}

static void on_session(void *user, struct session *s, enum report_stage stage, int error)
{
	struct execute *x = user;
	if (error == 0)
		run(x, s);
	else
		refuse_session_start(x->request, x->api->sessions, x->session, stage, error);
	execute_destroy(x);
}

static void with_session(struct execute *x)
{
	x->waiter = (struct session_waiter){.done = on_session, .user = x};
	int rc = sessions_get_or_replace(x->api->sessions, x->session, &x->waiter);
	if (rc < 0)
		on_session(x, NULL, REPORT_SETUP, rc);
}

static bool parse_execute(struct request *r, struct execute *x)
{
	struct exec_options *o = &x->options;
	if (!body_command(r, x->body, &o->command, &o->length) ||
		!body_text(r, x->body, "cwd", &o->cwd) ||
		!body_text(r, x->body, "lease", &o->lease) ||
		!body_number(r, x->body, "timeoutMs", 0, EXEC_TIME_MAX_MS, &o->timeout_ms) ||
		!body_environment(r, x->body, "env", &x->env) || !body_directory(r, o->cwd))
		return false;
	o->env_names = x->env.names;
	o->env_values = x->env.values;
	o->env_count = x->env.count;
	o->author = typist_author(r);
	o->peer = r->peer;
	o->streams = EXEC_PIPES;
	o->no_input = true;
	o->queue = true;
	o->queue_ms = EXECUTE_QUEUE_MS;
	o->output_max = EXECUTE_OUTPUT;
	return true;
}

static void execute_in(struct api *a, struct request *r, json_t *body, const char *id, bool stream)
{
	struct execute *x = request_alloc(r, sizeof *x);
	if (!x)
		return;
	x->api = a;
	x->request = request_ref(r);
	x->body = json_incref(body);
	x->stream = stream;
	x->options.hold = stream;
	snprintf(x->session, sizeof x->session, "%s", id);
	if (parse_execute(r, x))
		with_session(x);
	else
		execute_destroy(x);
}

static void execute(struct api *a, struct request *r, json_t *body, bool stream)
{
	const char *id;
	bool background = false;
	if (!body_text(r, body, "sessionId", &id) ||
		!body_flag(r, body, "background", &background) || (!id && !request_session(r, &id)))
		return;
	if (id && strcmp(id, BODY_NO_SESSION) == 0)
		id = NULL;
	if (id && !name_is_id(id))
		reply_invalid(r, "sessionId",
			"An id is 1 to 128 of A-Z a-z 0-9 . _ : @ - and does not begin with a dot",
			"invalid");
	else if (background)
		api_process_start_body(a, r, body, id);
	else if (id)
		execute_in(a, r, body, id, stream);
	else
		api_execute_run(a, r, body, stream);
}

static void execute_whole(struct api *a, struct request *r, json_t *body)
{
	execute(a, r, body, false);
}

static void execute_as_stream(struct api *a, struct request *r, json_t *body)
{
	execute(a, r, body, true);
}

static void execute_command(struct request *r)
{
	cwd_check_body(api_of(r), r, execute_whole);
}

static void execute_streaming(struct request *r)
{
	cwd_check_body(api_of(r), r, execute_as_stream);
}

const struct route_row api_execute_rows[] = {
	{METHOD_POST, "/api/execute", ROUTE_OWNER, .plain = execute_command},
	{METHOD_POST, "/api/execute/stream", ROUTE_OWNER, .plain = execute_streaming},
	{.path = NULL},
};

/* Creates and opens sessions. The answer is sent when the shell runs or has failed to start. */
#include "shell/clock.h"
#include "shell/id.h"
#include "shell/own_error.h"
#include "ws/api/api.h"
#include "ws/api/cwd_check.h"
#include "ws/api/read/body.h"
#include "ws/json/session.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request that waits for a session. */
struct create {
	struct session_waiter waiter;
	struct api *api;
	struct request *request;
	bool open; /* get-or-create */
	bool created;
	bool program;                 /* argv instead of a shell */
	char cwd[BODY_PATH_MAX];      /* for the error text */
	struct directory_found found; /* for cwd */
	char shell[BODY_PATH_MAX];
};

static void reply_start_failure(
	struct request *r, const struct create *c, enum report_stage stage, int error)
{
	char message[2 * BODY_PATH_MAX];
	bool shortage = error_is_shortage(error);
	if (stage == REPORT_CHDIR && !shortage) {
		snprintf(message, sizeof message, "The working directory %s cannot be entered: %s",
			c->cwd, strerror(-error));
		reply_invalid(r, "cwd", message, "invalid");
	} else if (error == -E2BIG) {
		reply_invalid(r, "env", "The environment is too large for the system", "invalid");
	} else if (stage == REPORT_EXEC && !shortage) {
		snprintf(message, sizeof message, "The shell %s cannot be executed: %s", c->shell,
			strerror(-error));
		reply_invalid(r, c->program ? "argv" : "shell", message, "invalid");
	} else {
		snprintf(message, sizeof message, "The session could not be started: %s",
			error_text(error));
		reply_error(r, error_code_of(error), message, NULL);
	}
}

static void reply_created(struct create *c, const struct session *s)
{
	json_t *body = json_pack("{s:o}", "data", session_json(s));
	if (c->open)
		json_object_set_new(body, "created", json_boolean(c->created));
	else
		json_object_set_new(body, "containerPlacementId", json_null());
	reply_success(c->request, body);
}

static void on_started(void *user, struct session *s, enum report_stage stage, int error)
{
	struct create *c = user;
	if (error < 0)
		reply_start_failure(c->request, c, stage, error);
	else
		reply_created(c, s);
	request_unref(c->request);
	free(c);
}

/* Answer an error of sessions_create(). */
static void reply_refusal(struct request *r, const struct create *c, const char *id, int error)
{
	char message[BODY_PATH_MAX + 128];
	if (refuse_if_directory(r, &c->found, c->cwd, error))
		return;
	switch (error) {
	case -EEXIST:
		snprintf(message, sizeof message, "Session '%s' already exists", id);
		reply_error(r, "SESSION_ALREADY_EXISTS", message,
			json_pack("{s:s, s:n}", "sessionId", id, "containerPlacementId"));
		break;
	case -ERR_LIMIT:
		refuse_sessions(r, c->api->sessions);
		break;
	case -ERR_SCREEN_BUDGET:
		refuse_screen_size(r, c->api->sessions, id);
		break;
	case -ENOTSUP:
		reply_invalid(
			r, "onShellExit", "reexec requires bash with its init file", "unsupported");
		break;
	default:
		snprintf(message, sizeof message, "The session could not be started: %s",
			error_text(error));
		reply_error(r, error_code_of(error), message, NULL);
	}
}

static bool parse_options(struct request *r, json_t *body, struct session_options *o)
{
	uint64_t rows = 0, cols = 0;
	const char *on_exit, *unicode;
	if (!body_text(r, body, "id", &o->id) || !body_text(r, body, "name", &o->name) ||
		!body_text(r, body, "cwd", &o->cwd) || !body_text(r, body, "shell", &o->shell) ||
		!body_number(r, body, "rows", 1, PRESENCE_SIDE_MAX, &rows) ||
		!body_number(r, body, "cols", 1, PRESENCE_SIDE_MAX, &cols) ||
		!body_number(r, body, "idleTimeoutMs", 0, BODY_TIME_MAX_MS, &o->idle_timeout_ms) ||
		!body_text(r, body, "onShellExit", &on_exit) ||
		!body_text(r, body, "unicode", &unicode) ||
		!body_flag(r, body, "history", &o->history))
		return false;
	o->rows = (unsigned)rows;
	o->cols = (unsigned)cols;
	if (o->id && !name_is_id(o->id))
		return reply_invalid(r, "id",
			"An id is 1 to 128 of A-Z a-z 0-9 . _ : @ - and does not begin with a dot",
			"invalid");
	if (o->name && !name_is_text(o->name))
		return reply_invalid(r, "name",
			"A name is 1 to 128 characters without control characters", "invalid");
	if (!body_absolute(r, o->cwd))
		return false;
	if (o->shell && (!*o->shell || strlen(o->shell) >= BODY_PATH_MAX))
		return reply_invalid(r, "shell", "The shell must be a path or a name", "invalid");
	if (on_exit && !shell_exit_parse(on_exit, &o->on_shell_exit))
		return reply_invalid(
			r, "onShellExit", "Must be close, reexec or respawn", "invalid");
	if (unicode && !screen_unicode_parse(unicode, &o->unicode))
		return reply_invalid(r, "unicode", "Must be wcwidth or graphemes", "invalid");
	return true;
}

/* An existing session keeps its policy; refuse a different one. */
static bool refuse_policy(
	struct request *r, const struct session *s, json_t *body, enum shell_exit wanted)
{
	if (!s || s->on_shell_exit == wanted || !json_object_get(body, "onShellExit"))
		return false;
	reply_error(r, "SHELL_EXIT_POLICY", "The session exists with another onShellExit",
		json_pack("{s:s, s:s}", "sessionId", session_id(s), "onShellExit",
			shell_exit_name(s->on_shell_exit)));
	return true;
}

/* A program with its arguments, or arguments of the shell; each may be NULL. */
struct words {
	const char *const *argv, *const *shell_arguments;
};

static void create_with(
	struct api *a, struct request *r, json_t *body, struct words words, bool open)
{
	const char *const *argv = words.argv;
	struct session_options o = {0};
	struct body_environment env;
	char id[ID_STAMPED_SIZE];
	if (!parse_options(r, body, &o) || !body_environment(r, body, "env", &env))
		return;
	o.argv = argv;
	o.shell_arguments = words.shell_arguments;
	if (!o.id && open) {
		reply_invalid(r, "id", "An id is required", "required");
		return;
	}
	if (!o.id) {
		/* The format of the container. */
		if (id_stamped(id, "session", clock_wall_ms(), 12, 16) < 0) {
			reply_error(r, "INTERNAL_ERROR", "There are no random bytes", NULL);
			return;
		}
		o.id = id;
	}
	if (open && refuse_policy(r, sessions_find(a->sessions, o.id), body, o.on_shell_exit))
		return;
	o.env_names = env.names;
	o.env_values = env.values;
	o.env_count = env.count;
	struct create *c = request_alloc(r, sizeof *c);
	if (!c)
		return;
	c->waiter = (struct session_waiter){.done = on_started, .user = c};
	c->api = a;
	c->request = request_ref(r);
	c->open = open;
	c->program = argv != NULL;
	if (o.cwd)
		c->found = o.found = r->directory;
	snprintf(c->cwd, sizeof c->cwd, "%s", o.cwd ? o.cwd : a->sessions->config.cwd);
	snprintf(c->shell, sizeof c->shell, "%s", argv ? argv[0] : o.shell ? o.shell : "bash");
	int rc = open ? sessions_get_or_create(a->sessions, &o, &c->waiter, &c->created)
		      : sessions_create(a->sessions, &o, &c->waiter);
	if (rc < 0) {
		reply_refusal(r, c, o.id, rc);
		request_unref(r);
		free(c);
	}
}

static void create(struct api *a, struct request *r, json_t *body, bool open)
{
	const char **argv = NULL, **arguments = NULL;
	if (body_argv(r, body, SESSION_ARGV_MAX, SESSION_ARGV_BYTES, &argv) &&
		body_shell_arguments(r, body, SESSION_ARGV_MAX, SESSION_ARGV_BYTES, &arguments)) {
		if (argv && arguments)
			reply_invalid(r, "shellArgs",
				"shellArgs requires a shell, and argv replaces it: use one of them",
				"invalid");
		else
			create_with(a, r, body, (struct words){argv, arguments}, open);
	}
	free(argv);
	free(arguments);
}

static void create_new(struct api *a, struct request *r, json_t *body)
{
	create(a, r, body, false);
}

static void create_or_get(struct api *a, struct request *r, json_t *body)
{
	create(a, r, body, true);
}

static void create_session(struct request *r)
{
	cwd_check_body(api_of(r), r, create_new);
}

static void open_session(struct request *r)
{
	cwd_check_body(api_of(r), r, create_or_get);
}

const struct route_row api_session_create_rows[] = {
	{METHOD_POST, "/api/session/create", ROUTE_OWNER, .plain = create_session,
		.place = PLACE_NEW_SESSION},
	{METHOD_POST, "/api/session/open", ROUTE_OWNER, .plain = open_session,
		.place = PLACE_NEW_SESSION},
	{.path = NULL},
};

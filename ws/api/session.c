/* Sessions over the API: create, open, list, events, delete, inspect and drive. */
#include "shell/clock.h"
#include "shell/environment.h"
#include "ws/api/api.h"
#include "ws/api/body.h"
#include "ws/base64.h"
#include "ws/error.h"
#include "ws/api/json/session.h"
#include "ws/api/rows.h"

#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define PATH_LENGTH_MAX 4096u
#define OUTPUT_MAX ((size_t)1 << 20)
#define IDLE_MAX_MS (UINT64_C(365) * 24 * 3600 * 1000)
#define ANNOUNCE_MS 200u

/* Creating */

/* Someone waits for a session over the API. */
struct create {
	struct session_waiter waiter;
	struct api *api;
	struct request *request;
	bool open; /* get-or-create */
	bool created;
	char cwd[PATH_LENGTH_MAX]; /* for the message */
	char shell[PATH_LENGTH_MAX];
};

static void reply_start_failure(
	struct request *r, const struct create *c, enum report_stage stage, int error)
{
	char message[2 * PATH_LENGTH_MAX];
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
		reply_invalid(r, "shell", message, "invalid");
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

/* Why a session could not even be begun. */
static void reply_refusal(struct request *r, const struct create *c, const char *id, int error)
{
	char message[PATH_LENGTH_MAX + 128];
	if (api_directory_fails(c->cwd, error)) {
		snprintf(message, sizeof message, "The working directory %s cannot be used: %s",
			c->cwd, strerror(-error));
		reply_invalid(r, "cwd", message, error == -ENOENT ? "not_found" : "invalid");
		return;
	}
	switch (error) {
	case -EEXIST:
		snprintf(message, sizeof message, "Session '%s' already exists", id);
		reply_error(r, "SESSION_ALREADY_EXISTS", message,
			json_pack("{s:s, s:n}", "sessionId", id, "containerPlacementId"));
		break;
	case -EUSERS:
		reply_error(r, "LIMIT_REACHED", "There are too many sessions",
			json_pack("{s:i}", "maxSessions",
				(int)c->api->sessions->config.max_sessions));
		break;
	case -ENOTSUP:
		reply_invalid(r, "onShellExit", "Only a bash can reexec", "unsupported");
		break;
	default:
		snprintf(message, sizeof message, "The session could not be started: %s",
			error_text(error));
		reply_error(r, error_code_of(error), message, NULL);
	}
}

/*
 * The Sandbox's client wants its sessions where its container's image has its files. Where there is no such
 * place, the server's own directory stands for it.
 */
static bool is_missing_workspace(const char *cwd)
{
	return cwd && strcmp(cwd, "/workspace") == 0 && access(cwd, F_OK) < 0;
}

static bool take_options(struct request *r, json_t *body, struct session_options *o)
{
	uint64_t rows = 0, cols = 0;
	const char *on_exit;
	if (!body_text(r, body, "id", &o->id) || !body_text(r, body, "name", &o->name) ||
		!body_text(r, body, "cwd", &o->cwd) || !body_text(r, body, "shell", &o->shell) ||
		!body_number(r, body, "rows", 1, PRESENCE_SIDE_MAX, &rows) ||
		!body_number(r, body, "cols", 1, PRESENCE_SIDE_MAX, &cols) ||
		!body_number(r, body, "idleTimeoutMs", 0, IDLE_MAX_MS, &o->idle_timeout_ms) ||
		!body_text(r, body, "onShellExit", &on_exit))
		return false;
	o->rows = (unsigned)rows;
	o->cols = (unsigned)cols;
	if (is_missing_workspace(o->cwd))
		o->cwd = NULL;
	if (o->id && !name_is_id(o->id))
		reply_invalid(r, "id",
			"An id is 1 to 128 of A-Z a-z 0-9 . _ : @ - and does not begin with a dot",
			"invalid");
	else if (o->name && !name_is_text(o->name))
		reply_invalid(r, "name", "A name is 1 to 128 characters without control characters",
			"invalid");
	else if (o->cwd && (o->cwd[0] != '/' || strlen(o->cwd) >= PATH_LENGTH_MAX))
		reply_invalid(r, "cwd", "The working directory must be an absolute path", "invalid");
	else if (o->shell && (!*o->shell || strlen(o->shell) >= PATH_LENGTH_MAX))
		reply_invalid(r, "shell", "The shell must be a path or a name", "invalid");
	else if (on_exit && !shell_exit_parse(on_exit, &o->on_shell_exit))
		reply_invalid(r, "onShellExit", "Must be close, reexec or respawn", "invalid");
	else
		return true;
	return false;
}

/* session_<ms>_<12 hex>, as the container names them. */
static void make_id(char *id, size_t size)
{
	unsigned char bytes[6] = {0};
	RAND_bytes(bytes, sizeof bytes);
	snprintf(id, size, "session_%llu_%02x%02x%02x%02x%02x%02x",
		(unsigned long long)clock_wall_ms(), bytes[0], bytes[1], bytes[2], bytes[3],
		bytes[4], bytes[5]);
}

/* A session keeps the policy that it was created with; what older servers and holders have left only closes. */
static bool refuse_policy(
	struct request *r, const struct session *s, json_t *body, enum shell_exit wanted)
{
	if (!s || s->on_shell_exit == wanted || !json_object_get(body, "onShellExit"))
		return false;
	reply_error(r, "SHELL_EXIT_POLICY",
		"The session exists, and something else is to happen when its shell ends",
		json_pack("{s:s, s:s}", "sessionId", s->pane.held.id, "onShellExit",
			shell_exit_name(s->on_shell_exit)));
	return true;
}

static void create(struct api *a, struct request *r, json_t *body, bool open)
{
	struct session_options o = {0};
	struct body_environment env;
	char id[64];
	if (!take_options(r, body, &o) || !body_environment(r, body, &env))
		return;
	if (!o.id && open) {
		reply_invalid(r, "id", "An id is required", "required");
		return;
	}
	if (!o.id) {
		make_id(id, sizeof id);
		o.id = id;
	}
	if (open && refuse_policy(r, sessions_find(a->sessions, o.id), body, o.on_shell_exit))
		return;
	o.env_names = env.names;
	o.env_values = env.values;
	o.env_count = env.count;
	struct create *c = calloc(1, sizeof *c);
	if (!c) {
		reply_error(r, "INTERNAL_ERROR", "Out of memory", NULL);
		return;
	}
	c->waiter = (struct session_waiter){.done = on_started, .user = c};
	c->api = a;
	c->request = request_ref(r);
	c->open = open;
	snprintf(c->cwd, sizeof c->cwd, "%s", o.cwd ? o.cwd : a->sessions->config.cwd);
	snprintf(c->shell, sizeof c->shell, "%s", o.shell ? o.shell : "bash");
	int rc = open ? sessions_get_or_create(a->sessions, &o, &c->waiter, &c->created)
		      : sessions_create(a->sessions, &o, &c->waiter);
	if (rc < 0) {
		reply_refusal(r, c, o.id, rc);
		request_unref(r);
		free(c);
	}
}

static void create_session(struct request *r)
{
	struct api *a = api_of(r);
	json_t *body = body_read(r);
	if (body)
		create(a, r, body, false);
	json_decref(body);
}

static void open_session(struct request *r)
{
	struct api *a = api_of(r);
	json_t *body = body_read(r);
	if (body)
		create(a, r, body, true);
	json_decref(body);
}

/* Deleting */

struct delete
{
	struct session_waiter waiter;
	struct request *request;
	char id[NAME_ID_MAX + 1];
};

static void on_deleted(void *user, struct session *s, enum report_stage stage, int error)
{
	struct delete *d = user;
	(void)stage;
	if (error == -EBUSY)
		reply_error(d->request, "NOT_ENDED",
			"Some processes of the session could not be ended yet; that goes on",
			json_pack("{s:s, s:i}", "sessionId", d->id, "survivors",
				(int)session_survivors(s)));
	else if (error < 0)
		reply_error(d->request, error_code_of(error), "The server ends",
			json_pack("{s:s}", "sessionId", d->id));
	else
		reply_success(d->request, json_pack("{s:s}", "sessionId", d->id));
	request_unref(d->request);
	free(d);
}

static void delete_session(struct request *r)
{
	struct api *a = api_of(r);
	const char *id;
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "sessionId", &id))
		goto out;
	if (!id) {
		reply_invalid(r, "sessionId", "sessionId is required", "required");
		goto out;
	}
	struct session *s = sessions_find(a->sessions, id);
	struct delete *d = s ? calloc(1, sizeof *d) : NULL;
	if (!d) {
		reply_error(r, "INTERNAL_ERROR", s ? "Out of memory" : "Session not found",
			json_pack("{s:s, s:s}", "sessionId", id, "originalError",
				"Session not found"));
		goto out;
	}
	d->waiter = (struct session_waiter){.done = on_deleted, .user = d};
	d->request = request_ref(r);
	snprintf(d->id, sizeof d->id, "%s", id);
	links_prune(&a->auth->links, clock_wall_ms(), id);
	sessions_end(a->sessions, s, &d->waiter);
out:
	json_decref(body);
}

/* Listing */

static json_t *list_json(const struct api *a, const struct principal *p, bool ids)
{
	json_t *list = json_array();
	for (struct session *s = NULL; (s = session_next(a->sessions, s));)
		if (auth_may_see(p, s->pane.held.id, session_epoch(s)))
			json_array_append_new(
				list, ids ? json_string(s->pane.held.id) : session_json(s));
	return list;
}

static void list_sessions(struct request *r)
{
	struct api *a = api_of(r);
	reply_success(r,
		json_pack("{s:o, s:o}", "data", list_json(a, &r->principal, true), "sessions",
			list_json(a, &r->principal, false)));
}

/* One who follows the list. */
struct list_stream {
	struct list_stream *prev, *next;
	struct api *api;
	struct request *request;
	uint64_t sent; /* version of the list that it has; 0 = none */
};

static char *next_list(void *user)
{
	struct list_stream *l = user;
	if (l->sent == l->api->version_of_list)
		return NULL;
	l->sent = l->api->version_of_list;
	json_t *event = json_pack("{s:s, s:o}", "type", "sessions", "sessions",
		list_json(l->api, &l->request->principal, false));
	char *text = event ? json_dumps(event, JSON_COMPACT) : NULL;
	json_decref(event);
	return text;
}

static void on_stream_closed(void *user)
{
	struct list_stream *l = user;
	struct request *r = l->request;
	DL_DELETE(l->api->streams, l);
	free(l);
	request_unref(r);
}

static void follow_sessions(struct request *r)
{
	struct api *a = api_of(r);
	struct list_stream *l = calloc(1, sizeof *l);
	if (!l) {
		reply_error(r, "INTERNAL_ERROR", "Out of memory", NULL);
		return;
	}
	l->api = a;
	l->request = request_ref(r);
	DL_APPEND(a->streams, l);
	reply_stream(r,
		&(struct event_stream){.next = next_list, .closed = on_stream_closed, .user = l});
}

static void announce(struct api *a)
{
	struct list_stream *l, *next;
	a->announced_ms = uv_now(a->announce.loop);
	a->version_of_list++;
	DL_FOREACH_SAFE (a->streams, l, next) {
		if (l->request->transport)
			l->request->transport->more(l->request->transport_user);
	}
}

static void on_announce(uv_timer_t *timer)
{
	announce(timer->data);
}

void api_sessions_changed(struct api *a)
{
	if (!a->announce_open || uv_is_active((const uv_handle_t *)&a->announce))
		return;
	uint64_t since = uv_now(a->announce.loop) - a->announced_ms;
	uv_timer_start(&a->announce, on_announce, since >= ANNOUNCE_MS ? 0 : ANNOUNCE_MS - since, 0);
}

int api_open(struct api *a, uv_loop_t *loop)
{
	int rc = uv_timer_init(loop, &a->announce);
	if (rc < 0)
		return rc;
	a->announce.data = a;
	uv_unref((uv_handle_t *)&a->announce);
	a->announce_open = true;
	a->version_of_list = 1;
	return 0;
}

void api_close(struct api *a)
{
	uv_close((uv_handle_t *)&a->announce, NULL);
	a->announce_open = false;
}

/* One session */

static void show_session(struct request *r, struct session *s)
{
	reply_success(r, json_pack("{s:o}", "data", session_json(s)));
}

void api_session_refuse(struct request *r, const struct session *s, int rc)
{
	if (rc == -ENOTCONN && s->state == SESSION_EXITED)
		reply_error(r, "SESSION_TERMINATED", "The session has ended",
			json_pack("{s:s, s:o}", "sessionId", s->pane.held.id, "exit",
				session_exit_json(s)));
	else if (rc == -ENOTCONN && session_heeds(s) == -EHOSTDOWN)
		api_session_refuse(r, s, -EHOSTDOWN);
	else if (rc == -ENOTCONN)
		reply_error(r, "RESOURCE_BUSY", "The session is not running yet",
			json_pack("{s:s}", "sessionId", s->pane.held.id));
	else if (rc == -ENOBUFS)
		reply_error(r, "LIMIT_REACHED", "Too much input waits for a program to read it",
			json_pack("{s:s, s:I}", "sessionId", s->pane.held.id, "queued",
				(json_int_t)session_queued(s)));
	else if (rc == -EACCES)
		api_leased(r, s);
	else if (rc == -EMSGSIZE)
		reply_error(r, "LINE_TOO_LONG",
			"The terminal collects lines (it is in canonical mode), and takes at most 4095 bytes of one",
			json_pack("{s:s, s:i}", "sessionId", s->pane.held.id, "limit",
				(int)TYPING_LINE_MAX));
	else
		reply_error(r, error_code_of(rc), error_text(rc),
			json_pack("{s:s}", "sessionId", s->pane.held.id));
}

void api_leased(struct request *r, const struct session *s)
{
	json_t *lease = lease_json(session_keyboard(s));
	reply_error(r, "LEASED",
		json_is_null(lease) ? "The lease that was shown is over: others may have typed since"
				    : "Somebody else has leased the session",
		json_pack("{s:s, s:o}", "sessionId", s->pane.held.id, "lease", lease));
}

/* Answer by what a request to the session returned. */
static void reply_result(struct request *r, const struct session *s, int rc)
{
	if (rc == 0)
		reply_success(r, json_pack("{s:o}", "data", session_json(s)));
	else
		api_session_refuse(r, s, rc);
}

static void rename_session(struct request *r, struct session *s)
{
	const char *name;
	json_t *body = body_read(r);
	if (body && body_text(r, body, "name", &name)) {
		if (!name || !name_is_text(name))
			reply_invalid(r, "name",
				"A name is 1 to 128 characters without control characters",
				name ? "invalid" : "required");
		else
			reply_result(r, s, session_rename(s, name));
	}
	json_decref(body);
}

static void resize(struct request *r, struct session *s, unsigned rows, unsigned cols)
{
	int rc = session_resize(s, rows, cols);
	if (rc == -EPERM)
		reply_error(r, "SIZE_POLICY", "Only the windows of clients give the size",
			json_pack("{s:s, s:s}", "sessionId", s->pane.held.id, "sizePolicy",
				size_policy_name(session_presence(s)->policy)));
	else
		reply_result(r, s, rc);
}

static void resize_session(struct request *r, struct session *s)
{
	uint64_t rows = 0, cols = 0;
	json_t *body = body_read(r);
	if (body && body_number(r, body, "cols", 1, PRESENCE_SIDE_MAX, &cols) &&
		body_number(r, body, "rows", 1, PRESENCE_SIDE_MAX, &rows)) {
		if (rows == 0 || cols == 0)
			reply_invalid(r, cols == 0 ? "cols" : "rows", "cols and rows are required",
				"required");
		else
			resize(r, s, (unsigned)rows, (unsigned)cols);
	}
	json_decref(body);
}

static void set_size_policy(struct request *r, struct session *s)
{
	const char *name;
	enum size_policy policy;
	uint64_t rows = s->pane.rows, cols = s->pane.cols;
	json_t *body = body_read(r);
	if (body && body_text(r, body, "policy", &name) &&
		body_number(r, body, "cols", 1, PRESENCE_SIDE_MAX, &cols) &&
		body_number(r, body, "rows", 1, PRESENCE_SIDE_MAX, &rows)) {
		if (!name || !size_policy_parse(name, &policy))
			reply_invalid(r, "policy", "Must be latest, smallest, fixed or owner",
				name ? "invalid" : "required");
		else
			reply_result(r, s,
				session_set_size_policy(s, policy, (unsigned)rows, (unsigned)cols));
	}
	json_decref(body);
}

static void signal_session(struct request *r, struct session *s)
{
	const char *name, *target;
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "signal", &name) || !body_text(r, body, "target", &target))
		goto out;
	bool shell = target && strcmp(target, "shell") == 0;
	if (!name || signal_parse(name) < 0)
		reply_invalid(r, "signal", "Must be the name of a signal, such as INT",
			name ? "invalid" : "required");
	else if (target && !shell && strcmp(target, "foreground") != 0)
		reply_invalid(r, "target", "Must be foreground or shell", "invalid");
	else
		reply_result(r, s,
			session_signal(s, signal_parse(name),
				shell ? WIRE_TARGET_SHELL : WIRE_TARGET_FOREGROUND));
out:
	json_decref(body);
}

static void type_input(struct request *r, struct session *s)
{
	const char *base64;
	unsigned char *decoded = NULL;
	struct typist by;
	struct typing_result typed;
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "base64", &base64) || !api_typist(r, body, &by))
		goto out;
	const json_t *text = json_object_get(body, "data");
	const void *bytes = json_string_value(text);
	size_t length = json_string_length(text);
	if (base64)
		bytes = decoded = base64_decode(base64, &length);
	if (!bytes) {
		reply_invalid(r, base64 ? "base64" : "data",
			base64 ? "Must be base64" : "data (text) or base64 is required", "invalid");
		goto out;
	}
	int rc = typing_write(s, &by, bytes, length, &typed);
	if (rc < 0)
		api_session_refuse(r, s, rc);
	else
		reply_success(r,
			json_pack("{s:I, s:I, s:I, s:I}", "bytes", (json_int_t)length, "written",
				(json_int_t)typed.written, "queued", (json_int_t)typed.queued,
				"offset", (json_int_t)typed.offset));
out:
	free(decoded);
	json_decref(body);
}

static bool take_offset(struct request *r, const char *name, uint64_t *ret_offset)
{
	const char *text = request_param(r, name);
	if (!text || params_number(text, INT64_MAX, ret_offset))
		return true;
	reply_invalid(r, name, "Must be an offset in bytes", "invalid");
	return false;
}

static void reply_range_gone(struct request *r, const struct session *s)
{
	reply_error(r, "RANGE_GONE", "That output is not in the ring",
		json_pack("{s:s, s:I, s:I}", "sessionId", s->pane.held.id, "oldest",
			(json_int_t)stream_oldest(session_bytes(s)), "head",
			(json_int_t)session_head(s)));
}

static void show_output(struct request *r, struct session *s)
{
	const struct stream *bytes = session_bytes(s);
	char number[24];
	if (!session_is_readable(s)) {
		reply_result(r, s, -ENOTCONN);
		return;
	}
	uint64_t head = stream_head(bytes), from = stream_oldest(bytes), to = head;
	if (!take_offset(r, "from", &from) || !take_offset(r, "to", &to))
		return;
	to = to > head ? head : to;
	if (to > from + OUTPUT_MAX)
		to = from + OUTPUT_MAX;
	if (from > head || from < stream_oldest(bytes)) {
		reply_range_gone(r, s);
		return;
	}
	size_t length = to > from ? (size_t)(to - from) : 0;
	char *copy = malloc(length + 1);
	if (!copy) {
		reply_error(r, "INTERNAL_ERROR", "Out of memory", NULL);
		return;
	}
	memcpy(copy, stream_at(bytes, from), length);
	if (!stream_holds(bytes, from)) {
		free(copy);
		reply_range_gone(r, s);
		return;
	}
	const struct {
		const char *name;
		uint64_t value;
	} headers[] = {{"Ringside-From", from}, {"Ringside-To", from + length},
		{"Ringside-Head", head}, {"Ringside-Oldest", stream_oldest(bytes)}};
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		snprintf(number, sizeof number, "%llu", (unsigned long long)headers[i].value);
		reply_header(r, headers[i].name, number);
	}
	reply_bytes(r, 200, "application/octet-stream", copy, length, copy);
}

const struct route_row api_session_rows[] = {
	{METHOD_POST, "/api/session/create", WHO_OWNER, .plain = create_session},
	{METHOD_POST, "/api/session/open", WHO_OWNER, .plain = open_session},
	{METHOD_GET, "/api/session/list", WHO_VIEWER, .plain = list_sessions},
	{METHOD_POST, "/api/session/delete", WHO_OWNER, .plain = delete_session},
	{METHOD_GET, "/api/session/events", WHO_VIEWER, .plain = follow_sessions},
	{METHOD_GET, "/api/session/{}", WHO_VIEWER, .session = show_session},
	{METHOD_POST, "/api/session/{}/rename", WHO_OWNER, .session = rename_session},
	{METHOD_POST, "/api/session/{}/resize", WHO_DRIVER, .session = resize_session},
	{METHOD_POST, "/api/session/{}/size", WHO_OWNER, .session = set_size_policy},
	{METHOD_POST, "/api/session/{}/signal", WHO_DRIVER, .session = signal_session},
	{METHOD_POST, "/api/session/{}/input", WHO_DRIVER, .session = type_input},
	{METHOD_GET, "/api/session/{}/output", WHO_VIEWER, .session = show_output},
	{.path = NULL},
};

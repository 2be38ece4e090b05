/* From a request to its handler: route, credentials, role, session. */
#include "ws/api/api.h"

#include "shell/environment.h"
#include "ws/mcp/mcp.h"

#include <string.h>

/* What a route asks of who calls it. */
enum need { NEED_NOTHING, NEED_VIEWER, NEED_DRIVER, NEED_OWNER };

struct handler {
	enum need need;
	void (*plain)(struct api *a, struct request *r);
	void (*session)(struct api *a, struct request *r, struct session *s);
};

json_t *api_body(struct request *r)
{
	json_error_t error;
	if (r->body_length == 0)
		return json_object();
	json_t *body = json_loadb(
		r->body, r->body_length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (json_is_object(body))
		return body;
	reply_invalid(r, "body",
		body ? "The body is not a JSON object" : "The body is not valid JSON", "invalid");
	json_decref(body);
	return NULL;
}

bool api_text(struct request *r, const json_t *body, const char *field, const char **ret_text)
{
	const json_t *value = json_object_get(body, field);
	*ret_text = NULL;
	if (!value || json_is_null(value))
		return true;
	const char *text = json_string_value(value);
	if (!text || strlen(text) != json_string_length(value)) {
		reply_invalid(
			r, field, text ? "Must not contain NUL" : "Must be a string", "invalid");
		return false;
	}
	*ret_text = text;
	return true;
}

bool api_number(struct request *r, const json_t *body, const char *field, uint64_t min,
	uint64_t max, uint64_t *ret_number)
{
	const json_t *value = json_object_get(body, field);
	if (!value || json_is_null(value))
		return true;
	json_int_t number = json_integer_value(value);
	if (!json_is_integer(value) || number < 0 || (uint64_t)number < min ||
		(uint64_t)number > max) {
		reply_invalid(r, field, "Must be a whole number within the limits", "invalid");
		return false;
	}
	*ret_number = (uint64_t)number;
	return true;
}

bool api_environment(struct request *r, const json_t *body, struct api_environment *e)
{
	json_t *env = json_object_get(body, "env"), *value;
	const char *name;
	e->count = 0;
	if (!env || json_is_null(env))
		return true;
	if (!json_is_object(env) || json_object_size(env) > API_ENV_MAX) {
		reply_invalid(r, "env", "Must be an object of at most 256 strings", "invalid");
		return false;
	}
	json_object_foreach (env, name, value) {
		const char *text = json_string_value(value);
		if (!environment_name_is_valid(name) || !text ||
			strlen(text) != json_string_length(value)) {
			reply_invalid(r, "env",
				"Must map names of variables to strings without NUL", "invalid");
			return false;
		}
		e->names[e->count] = name;
		e->values[e->count++] = text;
	}
	return true;
}

static void handle_health(struct api *a, struct request *r)
{
	(void)a;
	reply_bytes(r, 200, "text/plain; charset=utf-8", "ok\n", 3, NULL);
}

static void handle_metrics(struct api *a, struct request *r)
{
	char *text = metrics_format(a->metrics, a->sessions);
	if (text)
		reply_bytes(r, 200, "text/plain; version=0.0.4; charset=utf-8", text, strlen(text),
			text);
	else
		reply_error(r, "INTERNAL_ERROR", "Out of memory", NULL);
}

static void handle_mcp(struct api *a, struct request *r)
{
	mcp_handle(a->mcp, r);
}

static void handle_ping(struct api *a, struct request *r)
{
	(void)a;
	reply_success(r, json_pack("{s:s, s:s}", "status", "healthy", "message", "pong"));
}

static void handle_version(struct api *a, struct request *r)
{
	reply_success(r, json_pack("{s:s}", "version", a->version));
}

static const struct handler handlers[] = {
	[ROUTE_HEALTH] = {NEED_NOTHING, handle_health, NULL},
	[ROUTE_METRICS] = {NEED_OWNER, handle_metrics, NULL},
	[ROUTE_MCP] = {NEED_VIEWER, handle_mcp, NULL},
	[ROUTE_PING] = {NEED_VIEWER, handle_ping, NULL},
	[ROUTE_VERSION] = {NEED_VIEWER, handle_version, NULL},
	[ROUTE_LOGIN] = {NEED_NOTHING, api_login, NULL},
	[ROUTE_LOGOUT] = {NEED_NOTHING, api_logout, NULL},
	[ROUTE_WHOAMI] = {NEED_VIEWER, api_whoami, NULL},
	[ROUTE_SESSION_CREATE] = {NEED_OWNER, api_session_create, NULL},
	[ROUTE_SESSION_OPEN] = {NEED_OWNER, api_session_open, NULL},
	[ROUTE_SESSION_LIST] = {NEED_VIEWER, api_session_list, NULL},
	[ROUTE_SESSION_DELETE] = {NEED_OWNER, api_session_delete, NULL},
	[ROUTE_SESSION_EVENTS] = {NEED_VIEWER, api_session_events, NULL},
	[ROUTE_SESSION] = {NEED_VIEWER, NULL, api_session_show},
	[ROUTE_SESSION_RENAME] = {NEED_OWNER, NULL, api_session_rename},
	[ROUTE_SESSION_RESIZE] = {NEED_DRIVER, NULL, api_session_resize},
	[ROUTE_SESSION_SIZE] = {NEED_OWNER, NULL, api_session_size},
	[ROUTE_SESSION_SIGNAL] = {NEED_DRIVER, NULL, api_session_signal},
	[ROUTE_SESSION_INPUT] = {NEED_DRIVER, NULL, api_session_input},
	[ROUTE_SESSION_KEYS] = {NEED_DRIVER, NULL, api_session_keys},
	[ROUTE_SESSION_TYPED] = {NEED_VIEWER, NULL, api_session_typed},
	[ROUTE_LEASE] = {NEED_VIEWER, NULL, api_lease_show},
	[ROUTE_LEASE_TAKE] = {NEED_DRIVER, NULL, api_lease_take},
	[ROUTE_LEASE_GIVE_BACK] = {NEED_DRIVER, NULL, api_lease_give_back},
	[ROUTE_SESSION_OUTPUT] = {NEED_VIEWER, NULL, api_session_output},
	[ROUTE_SESSION_SCREEN] = {NEED_VIEWER, NULL, api_session_screen},
	[ROUTE_SESSION_STATE] = {NEED_VIEWER, NULL, api_session_state},
	[ROUTE_SESSION_WAIT] = {NEED_VIEWER, NULL, api_session_wait},
	[ROUTE_SESSION_SCROLLBACK] = {NEED_VIEWER, NULL, api_session_scrollback},
	[ROUTE_SESSION_SEARCH] = {NEED_VIEWER, NULL, api_session_search},
	[ROUTE_LINKS] = {NEED_OWNER, NULL, api_links_list},
	[ROUTE_LINKS_CREATE] = {NEED_OWNER, NULL, api_links_create},
	[ROUTE_LINK_DELETE] = {NEED_OWNER, NULL, api_links_delete},
	[ROUTE_SESSION_EXEC] = {NEED_DRIVER, NULL, api_exec_start},
	[ROUTE_SESSION_EXECS] = {NEED_VIEWER, NULL, api_exec_list},
	[ROUTE_EXEC] = {NEED_VIEWER, NULL, api_exec_show},
	[ROUTE_EXEC_OUTPUT] = {NEED_VIEWER, NULL, api_exec_output},
	[ROUTE_EXEC_STREAM] = {NEED_VIEWER, NULL, api_exec_stream},
	[ROUTE_EXEC_CANCEL] = {NEED_DRIVER, NULL, api_exec_cancel},
	[ROUTE_BLOCKS] = {NEED_VIEWER, NULL, api_block_list},
	[ROUTE_BLOCK] = {NEED_VIEWER, NULL, api_block_show},
	[ROUTE_BLOCK_OUTPUT] = {NEED_VIEWER, NULL, api_block_output},
	[ROUTE_SESSION_STREAM] = {NEED_VIEWER, NULL, api_session_stream},
	[ROUTE_EXECUTE] = {NEED_OWNER, api_execute, NULL},
	[ROUTE_EXECUTE_STREAM] = {NEED_OWNER, api_execute_stream, NULL},
	[ROUTE_RUN] = {NEED_OWNER, api_run, NULL},
	[ROUTE_STDIN] = {NEED_OWNER, api_stdin, NULL},
	[ROUTE_PROCESS_START] = {NEED_OWNER, api_process_start, NULL},
	[ROUTE_PROCESS_LIST] = {NEED_OWNER, api_process_list, NULL},
	[ROUTE_PROCESS_KILL_ALL] = {NEED_OWNER, api_process_kill_all, NULL},
	[ROUTE_PROCESS] = {NEED_OWNER, api_process_show, NULL},
	[ROUTE_PROCESS_KILL] = {NEED_OWNER, api_process_kill, NULL},
	[ROUTE_PROCESS_LOGS] = {NEED_OWNER, api_process_logs, NULL},
	[ROUTE_PROCESS_STREAM] = {NEED_OWNER, api_process_stream, NULL},
	[ROUTE_PROCESS_OUTPUT] = {NEED_OWNER, api_process_output, NULL},
	[ROUTE_PROCESS_INPUT] = {NEED_OWNER, api_process_input, NULL},
	[ROUTE_PROCESS_SIGNAL] = {NEED_OWNER, api_process_signal, NULL},
	[ROUTE_PROCESS_WAIT] = {NEED_OWNER, api_process_wait, NULL},
	[ROUTE_PORT_WATCH] = {NEED_OWNER, api_port_watch, NULL},
	[ROUTE_COMMANDS] = {NEED_VIEWER, api_commands, NULL},
	[ROUTE_OPENAPI] = {NEED_VIEWER, api_openapi, NULL},
	[ROUTE_LATER] = {NEED_OWNER, api_later, NULL},
};

/* Whether the caller may; otherwise r has been answered. */
static bool admit(struct api *a, struct request *r, enum need need)
{
	static const enum role least[] = {
		[NEED_VIEWER] = ROLE_VIEWER, [NEED_DRIVER] = ROLE_DRIVER, [NEED_OWNER] = ROLE_OWNER};
	if (need == NEED_NOTHING)
		return true;
	if (r->auth == AUTH_LIMITED) {
		a->metrics->auth_limited++;
		reply_header(r, "Retry-After", "60");
		reply_error(
			r, "TOO_MANY_ATTEMPTS", "Too many requests with wrong credentials", NULL);
	} else if (r->auth != AUTH_OK) {
		a->metrics->auth_failures++;
		reply_header(r, "WWW-Authenticate", "Bearer");
		reply_error(r, "UNAUTHENTICATED",
			r->auth == AUTH_MISSING ? "Credentials are required"
						: "The credentials are not valid",
			NULL);
	} else if (r->principal.role < least[need]) {
		bool typing = need == NEED_DRIVER;
		reply_error(r, typing ? "READ_ONLY" : "PERMISSION_DENIED",
			typing ? "This link may only watch" : "Only the owner may do that", NULL);
	} else {
		return true;
	}
	return false;
}

static void handle_session(struct api *a, struct request *r, const struct handler *h)
{
	struct session *s = sessions_find(a->sessions, r->match.id);
	uint64_t epoch = s ? session_epoch(s) : 0;
	if (s && auth_may_see(&r->principal, s->pane.held.id, epoch)) {
		h->session(a, r, s);
	} else if (r->principal.session[0]) {
		/* Whether another session exists is none of a guest's business. */
		reply_error(r, "PERMISSION_DENIED", "This link is for another session", NULL);
	} else {
		reply_error(r, "SESSION_NOT_FOUND", "There is no such session",
			json_pack("{s:s}", "sessionId", r->match.id));
	}
}

void api_handle(struct api *a, struct request *r)
{
	route_parse(r->method, r->path, &r->match);
	a->metrics->http_requests++;
	if (r->match.route == ROUTE_OTHER_METHOD) {
		reply_error(r, "METHOD_NOT_ALLOWED", "The endpoint does not take this method", NULL);
		return;
	}
	if (r->match.route == ROUTE_NONE || r->match.route == ROUTE_PAGE) {
		reply_error(r, "UNKNOWN_ERROR", "The requested endpoint was not found", NULL);
		return;
	}
	const struct handler *h = &handlers[r->match.route];
	if (!admit(a, r, h->need))
		return;
	if (h->session)
		handle_session(a, r, h);
	else
		h->plain(a, r);
}

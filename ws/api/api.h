/*
 * The API: one handler for each route, the same for every transport. See ws/request.h for how they are
 * called, ws/api/session.c, ws/api/screen.c and ws/api/share.c for what they do.
 */
#pragma once

#include "shell/process/processes.h"
#include "shell/run/run.h"
#include "shell/session/sessions.h"
#include "shell/wait/state.h"
#include "ws/auth/auth.h"
#include "ws/metrics.h"
#include "ws/request.h"
#include "ws/socket/terminal.h"

struct api {
	struct sessions *sessions;
	struct processes *processes;
	unsigned port_watches, process_waits; /* at present */
	struct auth *auth;
	struct metrics *metrics;
	struct terminals *terminals;
	struct runs *runs;
	struct control_sockets *controls; /* see ws/socket/control_socket.h */
	struct mcp *mcp;                  /* see ws/mcp/mcp.h */
	const char *version;
	const char *url; /* where people find the server, with a "/" at its end; NULL: on unix sockets only */
	uv_timer_t announce; /* spaces the events of the list of sessions */
	bool announce_open;
	uint64_t announced_ms;       /* loop time of the last one */
	uint64_t version_of_list;    /* counts changes of the list */
	struct list_stream *streams; /* those who follow it */
};

/* Wire up; all pointers are borrowed. Returns 0 or a negative errno. */
int api_open(struct api *a, uv_loop_t *loop);
void api_close(struct api *a);

/*
 * Answer a request, now or later. The transport has filled in everything up to `match`, which this does.
 * The Host and Origin headers are the transport's to check.
 */
void api_handle(struct api *a, struct request *r);

/* The list of sessions, or what it shows, has changed. */
void api_sessions_changed(struct api *a);

/* Handlers; each answers r. Those of a session have found it, and that r may see it. */
void api_session_create(struct api *a, struct request *r);
void api_session_open(struct api *a, struct request *r);
void api_session_list(struct api *a, struct request *r);
void api_session_delete(struct api *a, struct request *r);
void api_session_events(struct api *a, struct request *r);
void api_session_show(struct api *a, struct request *r, struct session *s);
void api_session_rename(struct api *a, struct request *r, struct session *s);
void api_session_resize(struct api *a, struct request *r, struct session *s);
void api_session_size(struct api *a, struct request *r, struct session *s);
void api_session_signal(struct api *a, struct request *r, struct session *s);
void api_session_input(struct api *a, struct request *r, struct session *s);
void api_session_keys(struct api *a, struct request *r, struct session *s);
void api_session_typed(struct api *a, struct request *r, struct session *s);
void api_lease_show(struct api *a, struct request *r, struct session *s);
void api_lease_take(struct api *a, struct request *r, struct session *s);
void api_lease_give_back(struct api *a, struct request *r, struct session *s);
void api_session_output(struct api *a, struct request *r, struct session *s);
void api_session_screen(struct api *a, struct request *r, struct session *s);
void api_session_state(struct api *a, struct request *r, struct session *s);
void api_session_wait(struct api *a, struct request *r, struct session *s);
void api_session_scrollback(struct api *a, struct request *r, struct session *s);
void api_session_search(struct api *a, struct request *r, struct session *s);
void api_links_list(struct api *a, struct request *r, struct session *s);
void api_links_create(struct api *a, struct request *r, struct session *s);
void api_links_delete(struct api *a, struct request *r, struct session *s);
void api_exec_start(struct api *a, struct request *r, struct session *s);
void api_exec_list(struct api *a, struct request *r, struct session *s);
void api_exec_show(struct api *a, struct request *r, struct session *s);
void api_exec_output(struct api *a, struct request *r, struct session *s);
void api_exec_stream(struct api *a, struct request *r, struct session *s);
void api_exec_cancel(struct api *a, struct request *r, struct session *s);
void api_block_list(struct api *a, struct request *r, struct session *s);
void api_block_show(struct api *a, struct request *r, struct session *s);
void api_block_output(struct api *a, struct request *r, struct session *s);
void api_session_stream(struct api *a, struct request *r, struct session *s);
void api_execute(struct api *a, struct request *r);
void api_execute_stream(struct api *a, struct request *r);
void api_run(struct api *a, struct request *r);
void api_stdin(struct api *a, struct request *r);
/* The sessionless form of api_execute and api_execute_stream; body is borrowed. */
void api_execute_run(struct api *a, struct request *r, json_t *body, bool stream);
void api_process_start(struct api *a, struct request *r);

/* What a command takes over from a session. All borrowed for the call. */
struct api_snapshot {
	const char *session; /* its id */
	const char *cwd;     /* where the command starts, unless the request says so; may be NULL */
	const char *preamble; /* see shell/beside.h */
	size_t preamble_length;
};

/* What runs a command beside a session; body is borrowed. */
typedef void api_beside_fn(
	struct api *a, struct request *r, json_t *body, const struct api_snapshot *snapshot);

/* Call fn with the state of the session's shell, now or later. */
void api_beside(
	struct api *a, struct request *r, json_t *body, struct session *s, api_beside_fn *fn);

/* As api_process_start(), with a body that has been read and the session that it names, if there is one. */
void api_process_start_body(struct api *a, struct request *r, json_t *body, const char *session);

/* As api_run(), beside a session. */
api_beside_fn api_run_beside;

void api_process_list(struct api *a, struct request *r);
void api_process_kill_all(struct api *a, struct request *r);
void api_process_show(struct api *a, struct request *r);
void api_process_kill(struct api *a, struct request *r);
void api_process_logs(struct api *a, struct request *r);
void api_process_stream(struct api *a, struct request *r);
void api_process_output(struct api *a, struct request *r);
void api_process_input(struct api *a, struct request *r);
void api_process_signal(struct api *a, struct request *r);
void api_process_wait(struct api *a, struct request *r);
void api_port_watch(struct api *a, struct request *r);
void api_commands(struct api *a, struct request *r);
void api_openapi(struct api *a, struct request *r);
void api_later(struct api *a, struct request *r);
void api_login(struct api *a, struct request *r);
void api_logout(struct api *a, struct request *r);
void api_whoami(struct api *a, struct request *r);

/*
 * What a session is at, as the API tells it to r. While a program reads a secret, an owner gets "humanUrl" with it: a
 * link for a person to type it in the browser, so that it passes through no program. Returns a new reference.
 */
json_t *api_state_json(struct api *a, const struct request *r, struct session *s,
	const struct session_state *state);

/* The environment that a request asks for; names and values are borrowed from the body. */
#define API_ENV_MAX 256u
struct api_environment {
	const char *names[API_ENV_MAX], *values[API_ENV_MAX];
	size_t count;
};

/* The field "env", an object of strings. Returns false when it is wrong: then r has been answered. */
bool api_environment(struct request *r, const json_t *body, struct api_environment *ret_environment);

/*
 * The request's body as a JSON object (an empty body is an empty object). Returns a new reference, or NULL
 * when it is none: then r has been answered.
 */
json_t *api_body(struct request *r);

/* A field of text; absent: NULL and true. Wrong type: r is answered and false returned. */
bool api_text(struct request *r, const json_t *body, const char *field, const char **ret_text);

/* A field that is a whole number from min to max; absent: *ret_number stays. Otherwise as api_text. */
bool api_number(struct request *r, const json_t *body, const char *field, uint64_t min,
	uint64_t max, uint64_t *ret_number);

/* A field that is true or false; absent: *ret_flag stays. Otherwise as api_text. */
bool api_flag(struct request *r, const json_t *body, const char *field, bool *ret_flag);

/* The field "command", which must be there, not be blank, and have no NUL. */
bool api_command(
	struct request *r, const json_t *body, const char **ret_command, size_t *ret_length);

/* Whether cwd (NULL is fine) is a directory that can be entered; otherwise r has been answered. */
bool api_directory(struct request *r, const char *cwd);

/* Whether it is that directory that a failure to start something speaks of. */
bool api_directory_fails(const char *cwd, int error);

/* Who types, by the fields name and lease; strings are borrowed from r and body. Otherwise as api_text. */
bool api_typist(struct request *r, const json_t *body, struct typist *ret_typist);

/* Answer that the session is leased, or that the lease that was shown is over. */
void api_leased(struct request *r, const struct session *s);

/* Answer with the reason why a request to the session has returned rc. */
void api_session_refuse(struct request *r, const struct session *s, int rc);

/* Answer with the reason why exec_start() has returned rc. */
void api_exec_refuse(struct request *r, struct session *s, int rc);

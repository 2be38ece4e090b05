/*
 * The API: one handler for each route, the same for every transport. Each file here has handlers and ends with the rows
 * of the table of routes that lead to them; ws/api/rows.h lists the files, ws/dispatcher.h calls.
 */
#pragma once

#include "shell/process/processes.h"
#include "shell/run/run.h"
#include "shell/session/sessions.h"
#include "shell/wait/state.h"
#include "ws/auth/auth.h"
#include "ws/metrics.h"
#include "ws/request.h"
#include "ws/route.h"
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

/* Add the routes of the API to the table. */
void api_register(struct api *a, struct routes *all);

/* The API, of a request that is being handled. */
static inline struct api *api_of(const struct request *r)
{
	return r->match.module;
}

/* The list of sessions, or what it shows, has changed. */
void api_sessions_changed(struct api *a);

/* The sessionless form of POST /api/execute and /api/execute/stream; body is borrowed. */
void api_execute_run(struct api *a, struct request *r, json_t *body, bool stream);

/* As POST /api/process/start, with a body that has been read and the session that it names, if there is one. */
void api_process_start_body(struct api *a, struct request *r, json_t *body, const char *session);

/*
 * What a session is at, as the API tells it to r. While a program reads a secret, an owner gets "humanUrl" with it: a
 * link for a person to type it in the browser, so that it passes through no program. Returns a new reference.
 */
json_t *api_state_json(struct api *a, const struct request *r, struct session *s,
	const struct session_state *state);

/* Whether cwd (NULL is fine) is a directory that can be entered; otherwise r has been answered. */
bool api_directory(struct request *r, const char *cwd);

/* Whether it is that directory that a failure to start something speaks of. */
bool api_directory_fails(const char *cwd, int error);

/* Who types, by the fields name and lease; strings are borrowed from r and body. Otherwise as body_text. */
bool api_typist(struct request *r, const json_t *body, struct typist *ret_typist);

/* Answer that the session is leased, or that the lease that was shown is over. */
void api_leased(struct request *r, const struct session *s);

/* Answer with the reason why a request to the session has returned rc. */
void api_session_refuse(struct request *r, const struct session *s, int rc);

/* Answer with the reason why exec_start() has returned rc. */
void api_exec_refuse(struct request *r, struct session *s, int rc);

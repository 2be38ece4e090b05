/*
 * The API: one handler for each route, the same for every transport. Each file here has handlers and ends with the rows
 * of the table of routes that lead to them; ws/api/rows.h lists the files, ws/dispatcher.h calls.
 */
#pragma once

#include "shell/activity/activities.h"
#include "shell/context/context.h"
#include "shell/process/processes.h"
#include "shell/run/run.h"
#include "shell/session/sessions.h"
#include "shell/wait/state.h"
#include "ws/access.h"
#include "ws/rota.h"
#include "ws/auth/auth.h"
#include "ws/metrics.h"
#include "ws/request.h"
#include "ws/route.h"
#include "ws/socket/terminal.h"

/* One who follows the list. */
struct list_stream {
	struct list_stream *prev, *next;
	struct api *api;
	struct request *request;
	uint64_t sent; /* version of the list that it has; 0 = none */
	bool activity; /* it is told what sessions are at, as that changes */
	uint64_t told; /* version of that, see activities_version() */
	bool draining; /* as it was told */
};

#define FILE_STREAMS_MAX 256u
#define ARCHIVES_MAX 32u      /* directories that are being sent as archives */
#define UNPACKERS_EACH_MAX 8u /* archives that are being unpacked as they come, on behalf of one */
#define UNPACKERS_MAX 16u     /* all of these: each takes a thread of its own */

struct backup;
struct bridge;
struct crew;
struct hooks;
struct inlets;
struct listening_watch;
struct previews;

struct api {
	struct sessions *sessions;
	struct processes *processes;
	unsigned port_watches, process_waits; /* at present */
	struct auth *auth;
	struct access *access; /* NULL: nothing is counted, and nothing ends */
	struct metrics *metrics;
	struct terminals *terminals;
	struct runs *runs;
	struct watches *watches; /* of its own */
	struct bridge *bridge;   /* see ws/api/bridge/sandbox.h */
	struct crew *crew;       /* who works at files, see shell/files/crew.h */
	unsigned file_streams; /* files that are being read as streams, of FILE_STREAMS_MAX: each has a descriptor */
	struct inlets *inlets;  /* of its own, see shell/output/inlet.h */
	struct crew *unpackers; /* the same, for archives as they come: they wait for who sends */
	unsigned archives, unpacking; /* of ARCHIVES_MAX, of UNPACKERS_MAX */
	struct contexts *contexts;
	struct activities *activities;     /* of its own: what sessions are at */
	struct hooks *hooks;               /* who is told of that; NULL: nobody */
	struct listening_watch *listening; /* see ws/api/listening.h */
	struct previews *previews;         /* see ws/preview/previews.h */
	struct backup *backups;            /* under way, see backup/backup.c */
	unsigned transfers;                /* of backups, under way */
	struct control_sockets *controls;  /* see ws/socket/control_socket.h */
	const char *workspace;             /* absolute, by its real name: see --workspace */
	bool workspace_chosen;             /* by that option */
	const char *alias; /* what /workspace stands for, see read/workspace.h; NULL: nothing. Its own, as: */
	const char *code_cwd; /* where contexts are that name no directory */
	uint64_t drained_ms; /* wall clock; nothing new begins here since then, see drain.c; 0: it does */
	const bool *ending; /* the server does not serve for long any more; NULL: it never ends */
	const char *version;
	const char *url; /* where people find the server, with a "/" at its end; NULL: on unix sockets only */
	const char *own_url; /* the same, where it listens itself */
	uv_timer_t announce; /* spaces the events of the list of sessions */
	bool announce_open;
	uint64_t announced_ms;       /* loop time of the last one */
	uint64_t version_of_list;    /* counts changes of the list */
	struct list_stream *streams; /* those who follow it */
	struct rota rota;            /* of links, at what is dear */
	struct rota drawers; /* the same, at what is drawn by a thread: one of them at a time */
};

/* The limit for r's principal: links get three quarters of most. */
unsigned api_share(const struct request *r, unsigned most);

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

/* The server is being drained, or not any more: see ws/api/session/list.c. */
void api_tell_drain(struct api *a);

/* What sessions are at has changed: see ws/api/session/list.c. */
void api_tell_activity(struct api *a);

/* The sessionless form of POST /api/execute and /api/execute/stream; body is borrowed. */
void api_execute_run(struct api *a, struct request *r, json_t *body, bool stream);

/* As POST /api/process/start, with a body that has been read and the session that it names, if there is one. */
void api_process_start_body(struct api *a, struct request *r, json_t *body, const char *session);

/*
 * What a session is at, as the API tells it to r. While a program reads a secret, an owner gets "humanUrl" with it: a
 * link for a person to type it in the browser, so that it passes through no program. Returns a new reference.
 */
json_t *api_state_json(
	struct api *a, const struct request *r, struct session *s, const struct pane_state *state);

/*
 * The API: one handler for each route, the same for every transport. Each file of handlers ends with its rows of the
 * table of routes; ws/api/rows.h lists the files, ws/dispatcher.h calls the handlers.
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

/* A client that follows the list of sessions. */
struct list_stream {
	struct list_stream *prev, *next;
	struct api *api;
	struct request *request;
	uint64_t sent; /* version of the list that was sent; 0 = none */
	bool activity; /* also send changes of the sessions' activity */
	uint64_t told; /* activities_version() that was sent */
	bool draining; /* drain state that was sent */
};

/* Executes the program that is on the disk now, see ws/serve/reexec.h. */
struct api_upgrade {
	/* Answer r with 202 just before, or with the error by which it is given up. */
	void (*begin)(void *user, struct request *r, uint64_t wait_ms, bool force);
	void *user;
};

/* The fleet that the server belongs to, see ws/fleet/fleet.h. */
struct api_fleet {
	void (*list_nodes)(void *user, struct request *r); /* answer r */
	void (*changed)(void *user);                       /* the list of sessions has changed */
	void *user;
};

#define API_INSTANCE_SIZE 17u
#define FILE_STREAMS_MAX 256u
#define ARCHIVES_MAX 32u      /* archives being sent */
#define UNPACKERS_EACH_MAX 8u /* archives being unpacked for one principal */
#define UNPACKERS_MAX 16u     /* archives being unpacked in all: each takes a thread */

struct backup;
struct bridge;
struct crew;
struct hooks;
struct inlets;
struct listening_watch;
struct previews;

/* The state that the handlers share. Pointers are borrowed unless marked as owned. */
struct api {
	struct sessions *sessions;
	struct processes *processes;
	unsigned port_watches, process_waits; /* current numbers */
	struct auth *auth;
	struct access *access; /* NULL: no quotas, and access does not end */
	struct metrics *metrics;
	struct terminals *terminals;
	struct runs *runs;
	struct watches *watches;      /* owned */
	struct bridge *bridge;        /* see ws/api/bridge/sandbox.h */
	struct crew *crew;            /* threads for file operations, see shell/files/crew.h */
	unsigned file_streams;        /* up to FILE_STREAMS_MAX; each holds a descriptor */
	struct inlets *inlets;        /* owned, see shell/output/inlet.h */
	struct crew *unpackers;       /* threads for uploaded archives: they block on the client */
	unsigned archives, unpacking; /* up to ARCHIVES_MAX, up to UNPACKERS_MAX */
	struct contexts *contexts;
	struct activities *activities;     /* owned */
	struct hooks *hooks;               /* webhooks; NULL: none */
	struct listening_watch *listening; /* owned, see ws/api/listening.h */
	struct previews *previews;         /* see ws/preview/previews.h */
	struct backup *backups;            /* in progress, see backup/backup.c */
	unsigned transfers;                /* of backups, in progress */
	struct control_sockets *controls;  /* see ws/socket/control_socket.h */
	const char *workspace;             /* --workspace: absolute, symbolic links resolved */
	bool workspace_chosen;             /* --workspace was given */
	const char *alias;    /* what /workspace stands for; NULL: nothing. Set by api_open() */
	const char *code_cwd; /* default directory of contexts. Set by api_open() */
	uint64_t drained_ms;  /* wall clock of the drain's start; 0: not draining, see drain.c */
	const bool *ending;   /* the server is stopping; NULL: never */
	const char *version;
	char instance[API_INSTANCE_SIZE];  /* random: another one after a restart or an upgrade */
	uint64_t started_ms;               /* wall clock */
	const struct api_upgrade *upgrade; /* NULL: not possible */
	const struct api_fleet *fleet;     /* NULL: none */
	const char *url;     /* public address, ends in "/"; NULL: unix sockets only */
	const char *own_url; /* address of the server's own listener, ends in "/" */
	uv_timer_t announce; /* limits the rate of list events */
	bool announce_open;
	uint64_t announced_ms;       /* loop time of the last list event */
	uint64_t list_version;       /* counts changes of the list */
	struct list_stream *streams; /* followers of the list */
	struct rota rota;            /* turns of the links at expensive work */
	struct rota drawing_rota;    /* turns at drawing on a thread, one at a time */
};

/* Share of a limit `most` that r may use: three quarters for links, all for owners. */
unsigned api_share(const struct request *r, unsigned most);

/* Open what is marked as owned; all other fields must be set. Returns 0 or a negative errno. */
int api_open(struct api *a, uv_loop_t *loop);

/* Close what api_open() has opened. */
void api_close(struct api *a);

/* The number of inputs of POST /api/stdin that no client has written completely. */
unsigned api_count_inputs(const struct api *a);

/* Add the routes of the API to the table. */
void api_register(struct api *a, struct routes *all);

/* The API that handles r. */
static inline struct api *api_of(const struct request *r)
{
	return r->match.module;
}

/* The list of sessions or one of its fields has changed: notify the followers soon. */
void api_sessions_changed(struct api *a);

/* A drain has started or was cancelled: notify the followers of the list. See ws/api/session/list.c. */
void api_notify_drain(struct api *a);

/* The activity of a session has changed: notify the followers. See ws/api/session/list.c. */
void api_notify_activity(struct api *a);

/* POST /api/execute and /api/execute/stream without a session. body is borrowed. */
void api_execute_run(struct api *a, struct request *r, json_t *body, bool stream);

/* POST /api/process/start with a parsed body. session: id to inherit from, or NULL. */
void api_process_start_body(struct api *a, struct request *r, json_t *body, const char *session);

/*
 * The state of a session as JSON for r. While a program reads a secret, an owner also gets "humanUrl": a link for a
 * person to type the secret in the browser, so that no program sees it. Returns a new reference.
 */
json_t *api_state_json(
	struct api *a, const struct request *r, struct session *s, const struct pane_state *state);

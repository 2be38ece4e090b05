/* Shared by sandbox.c, making.c, removing.c and sessions.c. */
#pragma once

#include "shell/files/crew.h"
#include "ws/api/bridge/sandbox.h"

#define SANDBOX_FOLDER ".sandboxes" /* in the workspace */
#define SANDBOX_ENTER ".enter"      /* suffix of the script that starts all programs */

/* Variable of all programs of a sandbox: its directory. */
#define SANDBOX_MARK "RINGSIDE_SANDBOX"

/* A deletion. */
struct removing {
	struct job job;
	struct removing *prev, *next;
	struct api *api;
	struct request *request; /* our reference */
	struct sandbox *sandbox; /* NULL: not in the table */
	char id[NAME_ID_MAX + 1];
	char folder[PLACE_PATH_MAX];
	char root[PLACE_PATH_MAX + NAME_ID_MAX + 2]; /* the sandbox's directory */
	struct session_waiter waiters[SANDBOX_TERMINALS_MAX];
	unsigned awaited; /* terminals that still run, and creations of the same sandbox */
	bool begun;       /* the thread removes the directory */
	int error;
};

/*
 * Add a sandbox to the table. sessions: owned, or NULL. Returns NULL without memory, or if the
 * path is too long.
 */
struct sandbox *sandbox_add(
	const struct api *a, const char *folder, const char *id, json_t *sessions);

/* Drop a sandbox from the table and free it. */
void sandbox_forget(struct bridge *b, struct sandbox *s);

/* Mark it as used now. */
void sandbox_touch(const struct api *a, struct sandbox *s);

/* Whether the table has space for one more. Drops an idle sandbox if necessary. */
bool sandbox_reserve(const struct api *a);

/* Answer r: too many sandboxes. */
void sandbox_refuse_full(struct request *r);

/* Answer r: the sandbox is being deleted. */
void sandbox_refuse_deleted(struct request *r);

/* Check r's id, and that sandboxes are available. Returns false after it has answered r. */
bool sandbox_check_request(struct api *a, struct request *r);

/* Whether ID.enter exists in the folder: the directory ID is a sandbox. For threads. */
bool sandbox_is_ours(int dir_fd, const char *id);

/* Fail the creations of the sandbox that is being deleted; the deletion waits for their threads. */
void sandbox_cancel_making(struct removing *by);

/* Find the deletion of a sandbox; NULL: none. */
struct removing *sandbox_find_removing(const struct bridge *b, const char *id);

/* Begin to remove the directory if nothing runs in it any more. */
void sandbox_maybe_remove(struct removing *m);

/*
 * Load ID.sessions from the folder. Returns 0 with *ret_sessions owned by the caller, NULL for
 * none; or a negative errno. For threads.
 */
int sandbox_sessions_load(int dir_fd, const char *id, json_t **ret_sessions);

/* Delete ID.sessions. For threads. */
void sandbox_sessions_remove(int dir_fd, const char *id);

/* Free the sessions; requests that wait for a write are not answered. */
void sandbox_sessions_drop(struct sandbox *s);

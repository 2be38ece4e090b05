/* What the files of sandboxes share: making.c, removing.c, sessions.c. */
#pragma once

#include "shell/files/crew.h"
#include "ws/api/bridge/sandbox.h"

#define SANDBOX_FOLDER ".sandboxes" /* of the workspace */
#define SANDBOX_ENTER ".enter"      /* behind the id: what starts everything in there */
#define SANDBOX_MARK \
	"RINGSIDE_SANDBOX" /* variable: the sandbox's directory, of all that runs in there */

/* A deletion. */
struct removing {
	struct job job;
	struct removing *prev, *next;
	struct api *api;
	struct request *request; /* our reference */
	struct sandbox *sandbox; /* NULL: not in the table */
	char id[NAME_ID_MAX + 1];
	char folder[PLACE_PATH_MAX];
	char root[PLACE_PATH_MAX + NAME_ID_MAX + 2]; /* in there: its directory */
	struct session_waiter waiters[SANDBOX_TERMINALS_MAX];
	unsigned awaited; /* terminals that have not ended yet, and requests for which it is being made */
	bool begun;
	int error;
};

/* Put one into the table; sessions: taken, or NULL. Returns NULL when memory is short, or the path too long. */
struct sandbox *sandbox_add(
	const struct api *a, const char *folder, const char *id, json_t *sessions);
/* Take it out of the table. */
void sandbox_forget(struct bridge *b, struct sandbox *s);
/* It is used now. */
void sandbox_touch(const struct api *a, struct sandbox *s);
/* Whether there may be one more; an idle one is forgotten for it. */
bool sandbox_has_room(const struct api *a);

void sandbox_refuse_full(struct request *r);
void sandbox_refuse_deleted(struct request *r);

/* Whether there can be sandboxes, and r's path names one by an id. Otherwise r has been answered. */
bool sandbox_are_possible(struct api *a, struct request *r);

/* making.c: whether the directory of that id is a sandbox's; dir_fd: of the folder. Not on the loop. */
bool sandbox_is_ours(int dir_fd, const char *id);
/* Requests for which it is being made do not get it; the deletion waits for them. */
void sandbox_overtake(struct removing *by);

/* removing.c: the deletion of that one; NULL: it is not being deleted. */
struct removing *sandbox_find_removing(const struct bridge *b, const char *id);
/* Remove it, if nothing runs in there any more. */
void sandbox_maybe_remove(struct removing *m);

/*
 * sessions.c: read those on the disk. Returns 0, with *ret_sessions owned by the caller, NULL for none; or a negative errno. Not on
 * the loop. dir_fd: of the folder.
 */
int sandbox_sessions_load(int dir_fd, const char *id, json_t **ret_sessions);
void sandbox_sessions_remove(int dir_fd, const char *id);
/* Free them; requests that wait for a write are not answered. */
void sandbox_sessions_drop(struct sandbox *s);

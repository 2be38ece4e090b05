/*
 * The sandboxes of the bridge (/v1/sandbox). A sandbox is a directory .sandboxes/ID in the
 * workspace, which its programs see as /workspace. It is created on first use, outlives the
 * server, and exists until it is deleted. Beside the directory are ID.enter, the script that
 * starts every program of the sandbox and marks the directory as ours, and ID.sessions.
 */
#pragma once

#include "shell/files/place.h"
#include "shell/name.h"
#include "ws/api/api.h"

#include <jansson.h>

#define SANDBOXES_MAX 256u
#define SANDBOX_TERMINALS_MAX 64u      /* of one sandbox */
#define SANDBOX_TERMINAL_SIZE 40u      /* of a terminal's session id, with its NUL */
#define SANDBOX_TERMINAL_PREFIX "pty." /* of that id */

/* A session: the directory and the variables of commands that name it. */
struct sandbox_session {
	const char *cwd;   /* relative to the root */
	const json_t *env; /* object of strings, or NULL */
};

/* A running command, or a thread that uses the files. Embedded; zeroed: not entered. */
struct sandbox_run {
	struct sandbox_run *prev, *next;
	struct sandbox *sandbox; /* NULL: none */
	/* Ask it to end, because the sandbox is being deleted. NULL: it ends soon by itself. */
	void (*end)(struct sandbox_run *run);
};

struct making;
struct removing;
struct session_change;

/* A sandbox that the server has in its table. */
struct sandbox {
	struct sandbox *prev, *next;
	struct bridge *bridge;
	char id[NAME_ID_MAX + 1];
	char root[PLACE_PATH_MAX];      /* its directory */
	json_t *sessions;               /* see sessions.c; owned, or NULL */
	struct session_change *changes; /* of sessions, not written yet */
	struct sandbox_run *runs;
	char terminals[SANDBOX_TERMINALS_MAX][SANDBOX_TERMINAL_SIZE]; /* session ids; "": free */
	uint64_t used_ms;                                             /* loop time */
	struct removing *removing;                                    /* its deletion, or NULL */
};

/* All sandboxes. */
struct bridge {
	struct sandbox *list; /* least recently used first */
	unsigned count;
	bool deleted;               /* a sandbox was deleted since the server started */
	unsigned bodies;            /* in memory, see body.h */
	struct making *makings;     /* requests that wait for the creation of a sandbox */
	struct removing *removings; /* deletions */
};

/* Gets the sandbox of a request. user: owned. */
typedef void sandbox_fn(struct request *r, struct sandbox *s, void *user);

/* Gets whether the sandbox of a request exists. */
typedef void sandbox_exists_fn(struct request *r, bool exists);

/* Answer r with an error in the bridge's form: {error, code}. Returns false. */
bool sandbox_refuse(struct request *r, int status, const char *code, const char *message);

/* The same for an errno. code: for errors that the client did not cause. */
void sandbox_refuse_error(struct request *r, const char *code, const char *what, int error);

/* Check that r's transport can stream bytes. Returns false after it has answered r. */
bool sandbox_check_transport(struct request *r);

/* Whether text is a valid id of a sandbox. Pure. */
bool sandbox_is_id(const char *text);

/* Make a random id. Returns false if there are no random bytes. */
bool sandbox_new_id(char ret_id[NAME_ID_MAX + 1]);

/* Whether text is a valid id of a session. Pure. */
bool sandbox_is_session(const char *text);

/*
 * Convert a client's path, absolute or relative to /workspace, to a normalized one relative to the
 * root; "." is the root. Returns false if it leads out of /workspace or is too long. Pure.
 */
bool sandbox_path(const char *path, char ret_path[PLACE_PATH_MAX]);

/* Set p to the sandbox's root, with links confined to it. */
void sandbox_place(const struct sandbox *s, struct place *p);

/*
 * Find or create the sandbox in r's path and call fn, now or later. Otherwise r is answered and
 * user is free()d.
 */
void sandbox_use(struct request *r, sandbox_fn *fn, void *user);

/* Test whether the sandbox in r's path exists and call look, now or later; or r is answered. */
void sandbox_check_exists(struct request *r, sandbox_exists_fn *look);

/* Find a sandbox in the table; NULL: not there. */
struct sandbox *sandbox_find(const struct bridge *b, const char *id);

/*
 * Find the sandbox in r's path again, after r's body has arrived. Returns NULL after it has
 * answered r: the sandbox was deleted or dropped from the table meanwhile.
 */
struct sandbox *sandbox_find_again(struct bridge *b, struct request *r);

/*
 * Find a session. If there is none, it is the root directory without variables. Borrowed until the
 * next iteration of the loop.
 */
struct sandbox_session sandbox_session_find(const struct sandbox *s, const char *id);

/* Find the session in r's header Session-Id or ?session=. Returns false after it has answered r. */
bool sandbox_session_of(
	struct request *r, const struct sandbox *s, struct sandbox_session *ret_session);

/* Add a run; a deletion waits for it. */
void sandbox_enter(struct sandbox *s, struct sandbox_run *run, void (*end)(struct sandbox_run *run));

/* Remove a run. Harmless if it was not added. */
void sandbox_leave(struct sandbox_run *run);

/*
 * End all runs and terminals of the sandbox in r's path, then remove it and answer r with 204, also
 * if there is none. If it cannot be removed, r is answered with an error, and the rest of it stays.
 */
void sandbox_delete(struct request *r);

/* Create the table. Returns NULL without memory. */
struct bridge *bridge_create(void);

/* Find the sandboxes of an earlier server, asynchronously. */
void bridge_load(struct api *a);

/* Free the table; sandboxes stay on disk. */
void bridge_destroy(struct bridge *b);

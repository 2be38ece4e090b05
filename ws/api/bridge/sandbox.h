/*
 * The sandboxes of the bridge (/v1/sandbox): each is a directory below the workspace, .sandboxes/ID, which what runs in it
 * sees as /workspace. They are made when they are first named, outlive the server, and end when they are deleted. Beside the
 * directory lies ID.enter, by which everything in there is started, and which says that the directory is ours to remove, and
 * ID.sessions, with its sessions.
 */
#pragma once

#include "shell/files/place.h"
#include "shell/name.h"
#include "ws/api/api.h"

#include <jansson.h>

#define SANDBOXES_MAX 256u
#define SANDBOX_TERMINALS_MAX 64u      /* of one */
#define SANDBOX_TERMINAL_SIZE 40u      /* of a terminal's session id, with its NUL */
#define SANDBOX_TERMINAL_PREFIX "pty." /* of that */

/* A session: a directory and variables, for commands that name it. */
struct sandbox_session {
	const char *cwd;   /* below the root, without a slash in front */
	const json_t *env; /* object of strings, or NULL */
};

/* A command that runs in there, or a thread that writes there; embedded in what it is about. */
struct sandbox_run {
	struct sandbox_run *prev, *next;
	struct sandbox *sandbox; /* NULL: of none */
	/* The sandbox is being deleted, which waits until it has left. NULL: it ends soon. */
	void (*end)(struct sandbox_run *run);
};

struct making;
struct removing;
struct session_change;

struct sandbox {
	struct sandbox *prev, *next;
	struct bridge *bridge;
	char id[NAME_ID_MAX + 1];
	char root[PLACE_PATH_MAX];      /* its directory */
	json_t *sessions;               /* see sessions.c; owned, or NULL */
	struct session_change *changes; /* of sessions, that are not written yet */
	struct sandbox_run *runs;
	char terminals[SANDBOX_TERMINALS_MAX][SANDBOX_TERMINAL_SIZE]; /* ids of sessions; "": free */
	uint64_t used_ms;                                             /* loop time */
	struct removing *removing; /* NULL: it is not being deleted */
};

struct bridge {
	struct sandbox *list;
	unsigned count;
	bool deleted;               /* one has been, since the server was started */
	unsigned bodies;            /* that are being received, see body.h */
	struct making *makings;     /* list: requests that wait for a sandbox to be made */
	struct removing *removings; /* list: what is being deleted */
};

/* Answer r in the bridge's form: {error, code}. */
void sandbox_refuse(struct request *r, int status, const char *code, const char *message);

/* The same for an error of the system; code: for errors that the client did not cause. */
void sandbox_refuse_error(struct request *r, const char *code, const char *what, int error);

/* Whether r comes by what carries answers of bytes as they come; otherwise it has been answered, and nothing is begun. */
bool sandbox_has_way(struct request *r);

/* Whether text is a sandbox's id. Pure. */
bool sandbox_is_id(const char *text);

/* A new random one. Returns false when there are no random bytes. */
bool sandbox_new_id(char ret_id[NAME_ID_MAX + 1]);

/* Whether text is a session's id. Pure. */
bool sandbox_is_session(const char *text);

/*
 * Where a path of a client is below the root: /workspace, or what is relative to it, without ".", ".." and doubled slashes; "." for
 * the root itself. Returns false when it leads out, or is too long. Pure.
 */
bool sandbox_path(const char *path, char ret_path[PLACE_PATH_MAX]);

/* Make p the files of the sandbox whose root this is, and no others. Returns false when that is too long. */
bool sandbox_place(const char *root, struct place *p);

/*
 * Find the sandbox that the path of r names, or make it: fn gets it, at once or later, or r has been answered. user: free()d where
 * fn is not called.
 */
typedef void sandbox_fn(struct request *r, struct sandbox *s, void *user);
void sandbox_use(struct request *r, sandbox_fn *fn, void *user);

/* Only look whether it is there, and can be used: look is told so, at once or later, or r has been answered. */
typedef void sandbox_look_fn(struct request *r, bool there);
void sandbox_look(struct request *r, sandbox_look_fn *look);

/* The one of this id that is there already; NULL: there is none that is known. */
struct sandbox *sandbox_find(const struct bridge *b, const char *id);

/*
 * The one that the path of r names, after r's body has come. Returns NULL when it is being deleted, has been, or was forgotten;
 * then r has been answered.
 */
struct sandbox *sandbox_again(struct bridge *b, struct request *r);

/* The session of that id; the directory itself and no variables where there is no such session. Borrowed until the loop goes on. */
struct sandbox_session sandbox_session_find(const struct sandbox *s, const char *id);

/* The one that r names by its header Session-Id, or by ?session=. Returns false when that is no id: then r has been answered. */
bool sandbox_session_of(
	struct request *r, const struct sandbox *s, struct sandbox_session *ret_session);

/* It begins in there, and is over; harmless when it has not begun. */
void sandbox_enter(struct sandbox *s, struct sandbox_run *run, void (*end)(struct sandbox_run *run));
void sandbox_leave(struct sandbox_run *run);

/* End all that runs in there and remove it, once that has ended; r is answered 204. */
void sandbox_delete(struct request *r);

struct bridge *bridge_create(void);

/* Find the sandboxes of an earlier server, a moment later. */
void bridge_find(struct api *a);
void bridge_destroy(struct bridge *b);

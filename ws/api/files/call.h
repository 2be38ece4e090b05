/*
 * One request about files: whose files they are (a session, none), the thread that works at it (shell/files/crew.h), and its
 * answer. What is done is an action: a table of what is special about each.
 */
#pragma once

#include "shell/files/content.h"
#include "shell/files/crew.h"
#include "shell/files/mime.h"
#include "shell/session/sessions.h"
#include "ws/api/api.h"
#include "ws/api/files/reply_text.h"

#include <jansson.h>
#include <stdatomic.h>

struct file_call;
struct pack;

struct file_action {
	const char *operation; /* how errors call it: "file.read" */
	const char *path, *to; /* the fields that name paths; to: NULL where there is one only */
	bool (*take)(
		struct file_call *c); /* the other fields; false: the request has been answered. NULL: there are none */
	/* On a thread, in the place: *answer, or a negative errno is returned, which refuse() tells. */
	int (*work)(struct file_call *c);
	/* Instead of the usual answer with *answer; takes the call over, for file_call_free(). NULL: as usual. */
	void (*reply)(struct file_call *c);
	bool replies_errors; /* also with c->error, instead of refuse() */
	/* Answer what is special about an error. Returns whether it has. NULL: nothing is. */
	bool (*refuse)(struct file_call *c, int error);
};

struct file_call {
	struct job job;
	struct session_waiter waiter;
	struct api *api;
	struct request *request; /* our reference */
	json_t *body;            /* owned; paths are borrowed from it */
	const struct file_action *action;
	char session[NAME_ID_MAX + 1];
	struct place place;
	atomic_bool gone; /* nobody waits any more: what has not begun never does */
	const char *path, *to;
	int error;
	struct reply_text answer;
	/* Of some actions: */
	const char *encoding; /* asked for; or NULL */
	bool recursive, hidden;
	bool endless; /* it has more than its size says */
	bool source_missing;
	uint64_t size;          /* of what is too large */
	struct content content; /* fd 0: none is open */
	char type[MIME_SIZE];
	bool hash;  /* of what has been written is wanted */
	bool lines; /* lines of text are wanted, and no more than these: */
	uint64_t from_line, max_lines, max_bytes;
	const char *expected; /* hash of what is replaced; "": nothing is; NULL: whatever it is */
	bool tar, tar_only;   /* of a directory an archive is wanted; what is none is not */
	bool partial;         /* what of it cannot be read does not matter */
	struct pack *pack;    /* that has been begun; owned */
	bool replaces;        /* an archive takes the place of a directory as a whole */
	struct tar_upload *archive; /* as upload; see unpack.c */
	struct file_upload *upload; /* that has been opened, until the body is taken; see upload.c */
};

/* Handle a request with this action: its paths and its session are in its body, JSON. */
void file_call(struct request *r, const struct file_action *action);

/*
 * The same of /api/file/PATH, which is PATH: absolute where that begins with a slash of its own. The session is in the query,
 * or in X-Session-Id.
 */
void file_call_of_url(struct request *r, const struct file_action *action);

void file_call_free(struct file_call *c);

/* Answer with what an error of the system means, where nothing is special about it. */
void file_call_refuse(struct file_call *c, int error);

/* {path, operation}: what goes with an error. Returns a new reference. */
json_t *file_context(const struct file_call *c);

/* Begin, and end, the answer of c: {success: true, path ... timestamp}. */
void file_answer_begin(struct file_call *c);
void file_answer_end(struct file_call *c);

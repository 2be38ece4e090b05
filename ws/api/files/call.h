/*
 * One request about files: it chooses the directory (of a session, or the server's), runs a job on
 * a thread (shell/files/crew.h) and answers. A file_action says what is special about the
 * operation.
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

/* One operation. Callbacks may be NULL, except work. */
struct file_action {
	const char *operation; /* its name in errors: "file.read" */
	const char *path, *to; /* fields of the body that are paths; NULL: none */
	/* Never start a session. If it does not run, there is no directory for relative paths. */
	bool starts_nothing;
	/* Parse the other fields. Returns false after it has answered the request. */
	bool (*parse)(struct file_call *c);
	/* Runs on a thread, in the place. Returns 0 with the answer written, or a negative errno. */
	int (*work)(struct file_call *c);
	/* Replaces the usual answer. Owns the call, and ends it with file_call_free(). */
	void (*reply)(struct file_call *c);
	bool replies_errors; /* reply is also called if c->error is set, instead of refuse() */
	/* Answer an error that needs a special text or code. Returns whether it has answered. */
	bool (*refuse)(struct file_call *c, int error);
};

/* A request that is being handled. */
struct file_call {
	struct job job;
	struct session_waiter waiter;
	struct api *api;
	struct request *request; /* our reference */
	json_t *body;            /* owned; paths are borrowed from it */
	const struct file_action *action;
	char session[NAME_ID_MAX + 1];
	struct place place;
	atomic_bool gone; /* the client has disconnected: do not begin the work */
	const char *path, *to;
	int error;
	struct reply_text answer;
	/* Of some actions: */
	const char *encoding; /* requested, or NULL */
	bool recursive, hidden;
	bool endless; /* st_size is 0 but the file has content, as in /proc */
	bool source_missing;
	uint64_t size;          /* of a file that is too large */
	struct content content; /* fd 0: not open */
	char type[MIME_SIZE];
	bool hash;  /* the answer has the hash of the written bytes */
	bool lines; /* read only these lines: */
	uint64_t from_line, max_lines, max_bytes;
	const char *expected;       /* hash of the old content; "": no file; NULL: no condition */
	bool tar, tar_only;         /* pack a directory; refuse everything else */
	bool partial;               /* skip unreadable files in an archive */
	struct pack *pack;          /* open archive of a directory; owned */
	bool replaces;              /* the archive replaces the whole directory */
	struct tar_upload *archive; /* until the body is received; see unpack.c */
	struct file_upload *upload; /* until the body is received; see upload.c */
};

/* Handle a request with the paths and the session in its JSON body. */
void file_call(struct request *r, const struct file_action *action);

/*
 * Handle a request for /api/file/PATH. PATH is absolute if it begins with a second slash. The query
 * or X-Session-Id names the session.
 */
void file_call_url(struct request *r, const struct file_action *action);

/* Free c; its open files are closed on a thread. */
void file_call_free(struct file_call *c);

/* Check that a value is a path. Returns false after it has answered the request; field: its name in that answer. */
bool file_call_check_path(struct file_call *c, const char *field, const json_t *value);

/* Answer with the general meaning of an errno. */
void file_call_refuse(struct file_call *c, int error);

/* The context of an error: {path, operation}. Returns a new reference. */
json_t *file_context(const struct file_call *c);

/* Begin the answer: {success: true, path */
void file_answer_begin(struct file_call *c);

/* End the answer: timestamp} */
void file_answer_end(struct file_call *c);

/*
 * A call of a tool: one request to the API after the other, through the handlers that serve everybody, on
 * behalf of who called. What comes out is the tool's result.
 */
#pragma once

#include "shell/exec/exec.h"
#include "ws/mcp/tools.h"
#include "ws/request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_PATH_MAX 512u
#define MCP_KEY_SIZE 129u /* EXEC_KEY_MAX and the NUL */
#define MCP_AUTHOR_SIZE 65u

struct mcp;
struct mcp_call;

/* What a request to the API was answered. All is borrowed for the step that gets it. */
struct mcp_answer {
	int status;
	json_t *json;     /* an object; NULL when the body is none */
	const char *body; /* length bytes */
	size_t length;
	const struct request *request; /* with the reply's headers */
};

/* What follows an answer: mcp_ask(), mcp_finish() or mcp_fail(), once, as the last thing it does. */
typedef void (*mcp_step)(struct mcp_call *c, const struct mcp_answer *a);

struct mcp_call {
	struct mcp *mcp;
	struct principal principal;
	char peer[LIMITER_PEER_MAX];
	char author[MCP_AUTHOR_SIZE];  /* name of the program that calls, or "" */
	char reader[EXEC_READER_SIZE]; /* who reads page by page, see exec_page() */
	const struct mcp_tool *tool;
	json_t *args;            /* owned */
	struct request *request; /* under way: our reference */
	bool asking, answered;   /* it may be answered before it is under way */
	mcp_step next;
	void (*done)(void *user, json_t *result); /* result is taken; NULL: nobody waits */
	void *user;
	/* What the steps remember. */
	char session[NAME_ID_MAX + 1]; /* the session's id, once it is known */
	char exec[NAME_ID_MAX + 1];    /* the command's */
	char key[MCP_KEY_SIZE];        /* by which it is found when the call is cancelled, or "" */
	json_t *kept;                  /* of the result; owned */
	char *text;                    /* likewise */
	mcp_step first;                /* once the session is there */
	uint64_t began_ns;             /* uv_hrtime() */
	uint64_t cursor;               /* offset of the output that is read */
	uint64_t number;               /* of the session in exec_command's answers */
	uint64_t skipped;              /* bytes of output that are left out */
	bool owns_session;             /* it is deleted when the call is cancelled */
	struct mcp_call **slot;        /* where its owner knows it from; NULL: nowhere */
};

struct mcp_call_options {
	struct mcp *mcp;
	const struct principal *principal;
	const char *peer, *author, *scope; /* scope: of its ids, or "" */
	const struct mcp_tool *tool;
	mcp_step begin;         /* what it does first */
	json_t *args;           /* an object; taken */
	struct mcp_call **slot; /* is the call while there is one, and then NULL */
	/* {content, structuredContent?, isError?}, which is taken; NULL: memory is short. */
	void (*done)(void *user, json_t *result);
	void *user;
};

/* Begin a call. done() may come from inside. */
void mcp_call_start(const struct mcp_call_options *options);

/*
 * Nobody waits for it any more; done() is not called. wanted: its caller cancelled it, so a command goes on
 * or is interrupted as on_cancel says. Otherwise a command goes on.
 */
void mcp_call_cancel(struct mcp_call *c, bool wanted);

/* What the call is at, in words, or "" */
#define MCP_PROGRESS_SIZE 256u
void mcp_call_progress(const struct mcp_call *c, char text[MCP_PROGRESS_SIZE]);

/* For the steps */

/* Ask the API. path: without a query, decoded; body: taken, NULL = none. params: NULL-terminated "name", "value" pairs; a NULL value leaves one out. */
void mcp_ask(struct mcp_call *c, mcp_step next, enum method method, const char *path, json_t *body,
	const char *const *params);

/* The result. structured is taken; text is taken (of malloc()), NULL = memory is short. */
void mcp_finish(struct mcp_call *c, json_t *structured, char *text);

/* The same, with what words() makes of it for people. */
void mcp_finish_words(struct mcp_call *c, json_t *structured, char *(*words)(json_t *structured));

/* The result is a failure. context is taken and may be NULL. */
void mcp_fail(struct mcp_call *c, const char *code, const char *message, json_t *context);

/* Ask without waiting for the answer. body is taken. */
void mcp_tell(const struct mcp_call *c, enum method method, const char *path, json_t *body);

/* Whether the answer is what was asked for; otherwise the call has failed with what it says. */
bool mcp_succeeded(struct mcp_call *c, const struct mcp_answer *a);

/* "/api/session/ID" and what follows, in a buffer of MCP_PATH_MAX bytes. Returns it. */
const char *mcp_path(char *path, const struct mcp_call *c, const char *rest);

/* The arguments: as they are, or the default. */
const char *mcp_text_arg(const struct mcp_call *c, const char *name);
json_int_t mcp_number_arg(const struct mcp_call *c, const char *name, json_int_t fallback);
bool mcp_flag_arg(const struct mcp_call *c, const char *name, bool fallback);

/* Copy the arguments of names (NULL-terminated, in snake_case) to body, in camelCase. */
void mcp_copy_args(const struct mcp_call *c, json_t *body, const char *const *names);

/*
 * Find the session that the arguments name, or the default one, which is made if needed; then first() is
 * called with a NULL answer.
 */
void mcp_in_session(struct mcp_call *c, mcp_step first);

/* JSON of the API with snake_case for camelCase in all names. Returns a new reference. */
json_t *mcp_snake(json_t *value);

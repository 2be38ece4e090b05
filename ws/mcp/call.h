/*
 * A call of a tool: one request to the API after the other, through the handlers that serve everybody, on
 * behalf of who called. What comes out is the tool's result.
 */
#pragma once

#include "shell/exec/exec.h"
#include "ws/mcp/resume.h"
#include "ws/mcp/sessions.h"
#include "ws/mcp/tools.h"
#include "ws/request.h"
#include "ws/rota.h"

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

struct mcp_await {
	json_int_t ms; /* in all, from the beginning of the call */
	uint64_t page; /* bytes behind c->cursor that are enough; 0: none are */
	bool told;     /* input counts only behind `after`, of which the caller knows */
	uint64_t after;
	mcp_step next; /* gets the command: {data, state?}, as GET /exec/ID?format=raw gives it, or a failure */
};

struct mcp_call {
	struct mcp *mcp;
	struct principal principal;
	char peer[LIMITER_PEER_MAX];
	char author[MCP_AUTHOR_SIZE];    /* name of the program that calls, or "" */
	char scope[MCP_SESSION_ID_SIZE]; /* of its ids, or "" */
	char reader[EXEC_READER_SIZE];   /* who reads page by page, see exec_hold_page() */
	const struct mcp_tool *tool;
	json_t *args;            /* owned */
	struct request *request; /* under way: our reference */
	bool asking, answered;   /* it may be answered before it is under way */
	struct shift turn; /* at a long answer, of who came by a link; until there is a next request, or a result */
	uint64_t turn_ns; /* uv_hrtime() when it began */
	mcp_step next;
	void (*done)(void *user, json_t *result); /* result is taken; NULL: nobody waits */
	void (*ask)(void *user, json_t *message); /* see below */
	void *user;
	/* What the steps remember. */
	char session[NAME_ID_MAX + 1]; /* the session's id, once it is known */
	char exec[NAME_ID_MAX + 1];    /* the command's */
	char key[MCP_KEY_SIZE];        /* by which it is found when the call ends first, or "" */
	json_t *kept;                  /* of the result; owned */
	char *text;                    /* likewise */
	mcp_step first;                /* once the session is there */
	uint64_t began_ns;             /* uv_hrtime() */
	uint64_t cursor;               /* offset of the output that is read */
	uint64_t number;               /* of the session in exec_command's answers */
	uint64_t skipped;              /* bytes of output that are left out */
	struct mcp_await await;        /* how its command is waited for */
	json_t *also;                  /* what else there is to say: texts; owned; may be NULL */
	bool typed;                    /* see struct mcp_look */
	bool renewed;                  /* its own session has got a new shell */
	bool asks; /* its result may ask something of a person, and another call goes on then */
	struct mcp_resume resume; /* with which this one goes on */
	bool failed;              /* its result says what went wrong */
	bool scoped;              /* it is one of those that have ids */
	bool leaves;              /* its command is told of when it has ended, see ws/mcp/left.h */
	bool bare;                /* see below */
	bool exact;               /* its structured content is a file's, as it is */
	bool taken_up;            /* whose id is of an earlier server, or was forgotten */
	bool again;               /* an earlier server may have done it already */
	uint64_t client;          /* who calls, as a number, for what is remembered of them */
	bool owns_session;        /* it is deleted when the call is cancelled */
	struct mcp_call **slot;   /* where its owner knows it from; NULL: nowhere */
};

struct mcp_call_options {
	struct mcp *mcp;
	const struct principal *principal;
	const char *peer, *author, *scope; /* scope: of its ids, or "" */
	bool taken_up, again;
	bool asks;                       /* see struct mcp_call */
	const struct mcp_resume *resume; /* what it goes on with; NULL: it begins */
	bool bare; /* what is done with is {error} or the structured content, and nothing is said beside it */
	const struct mcp_tool *tool;
	mcp_step begin;         /* what it does first */
	json_t *args;           /* an object; taken */
	struct mcp_call **slot; /* is the call while there is one, and then NULL */
	/* {content, structuredContent?, isError?}, which is taken; NULL: memory is short. */
	void (*done)(void *user, json_t *result);
	/*
	 * A request to the client (taken; NULL: memory is short), before done(). Its response comes by itself. NULL: the client
	 * takes none that asks a person to open an address.
	 */
	void (*ask)(void *user, json_t *message);
	void *user;
};

/* Begin a call. done() may come from inside. */
void mcp_call_start(const struct mcp_call_options *options);

/*
 * Nobody waits for it any more; done() is not called. wanted: its caller cancelled it, so a command goes on
 * or is interrupted as on_cancel says. Otherwise a command goes on. Of one that goes on the caller is told how it ends.
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

/* Say something beside the result. text is taken, NULL: nothing. */
void mcp_also(struct mcp_call *c, json_t *text);

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

/* JSON of the API with snake_case for camelCase in all names. Returns a new reference. */
json_t *mcp_snake(json_t *value);

/*
 * A call of a tool: a sequence of requests to the API with the rights of the caller, through the
 * same handlers as all requests. Its outcome is the result of the tool.
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

/* The reply to a request to the API, borrowed for the step that receives it. */
struct mcp_answer {
	int status;
	json_t *json;     /* an object; NULL: the body is not JSON */
	const char *body; /* length bytes */
	size_t length;
	const struct request *request; /* with the reply's headers */
};

/* Handles a reply. As its last action it calls mcp_request(), mcp_finish() or mcp_fail(), once. */
typedef void (*mcp_step)(struct mcp_call *c, const struct mcp_answer *a);

/* What mcp_await() waits for. */
struct mcp_await {
	json_int_t ms;  /* time limit, from the beginning of the call */
	uint64_t page;  /* bytes after c->cursor that end the wait; 0: no such limit */
	bool has_after; /* only input awaited after the offset `after` ends the wait */
	uint64_t after;
	mcp_step next; /* receives {data, state?} as of GET /exec/ID?format=raw, or an error */
};

/* A call in progress. */
struct mcp_call {
	struct mcp *mcp;
	struct principal principal;
	char peer[LIMITER_PEER_MAX];
	char author[MCP_AUTHOR_SIZE];    /* name of the client program, or "" */
	char scope[MCP_SESSION_ID_SIZE]; /* of its request ids, or "" */
	char reader[EXEC_READER_SIZE];   /* the client as a reader of pages, see exec_hold_page() */
	const struct mcp_tool *tool;
	json_t *args;            /* owned */
	struct request *request; /* in progress: our reference */
	bool requesting;         /* the request is being made; its reply may come meanwhile */
	bool answered;           /* its reply has come */
	struct shift turn;       /* turn of a link to handle a long reply */
	uint64_t turn_ns;        /* uv_hrtime() at the start of the turn; 0: none */
	mcp_step next;
	void (*done)(void *user, json_t *result);  /* NULL: the result is not wanted */
	void (*send)(void *user, json_t *message); /* see struct mcp_call_options */
	void *user;
	/* State of the steps: */
	char session[NAME_ID_MAX + 1]; /* id of the session, or "" */
	char exec[NAME_ID_MAX + 1];    /* id of the command, or "" */
	char key[MCP_KEY_SIZE];        /* idempotency key of the command, or "" */
	char path[MCP_PATH_MAX];       /* see mcp_path() */
	json_t *kept;                  /* the result so far; owned */
	mcp_step first;                /* first step, to be run when the session is open */
	uint64_t began_ns;             /* uv_hrtime() at the start of the call */
	uint64_t cursor;               /* offset of the next output to read */
	uint64_t number;               /* exec_command: number of its session */
	uint64_t skipped;              /* bytes of output left out */
	struct mcp_await await;
	json_t *notes;            /* texts, the result's `also`; owned; or NULL */
	bool typed;               /* see struct mcp_look */
	bool renewed;             /* its own session got a new shell */
	bool can_require_input;   /* the result may ask for input, see mcp_elicit_required() */
	struct mcp_resume resume; /* the earlier call that it continues */
	bool failed;              /* the result is an error */
	bool has_scope;           /* scope is not "" */
	bool reports_end;  /* the end of its command is reported later, see ws/mcp/detached.h */
	bool bare;         /* see struct mcp_call_options */
	bool exact;        /* structured content is a file's, and not escaped */
	bool restored;     /* the MCP session is from an earlier server, or was dropped */
	bool retried;      /* an earlier server may have made this call */
	uint64_t client;   /* hash of the reader */
	bool owns_session; /* cancelling the call deletes the session */
	struct mcp_call **slot; /* the owner's pointer to the call; NULL: none */
};

/* How to start a call. */
struct mcp_call_options {
	struct mcp *mcp;
	const struct principal *principal;
	const char *peer, *author, *scope; /* see struct mcp_call */
	bool restored, retried;
	bool can_require_input;
	const struct mcp_resume *resume; /* the call to continue; NULL: a new one */
	bool bare; /* the result is {error} or the structured content, without text */
	const struct mcp_tool *tool;
	mcp_step begin;         /* first step */
	bool in_session;        /* call it by mcp_in_session() */
	json_t *args;           /* an object; taken */
	struct mcp_call **slot; /* points to the call while it exists, then set to NULL */
	/* Receives {content, structuredContent?, isError?}, taken; NULL: memory is short. */
	void (*done)(void *user, json_t *result);
	/*
	 * Sends a request to the client, before done(). message: taken; NULL: memory is short. The
	 * response arrives separately. NULL: the client does not support elicitation by URL.
	 */
	void (*send)(void *user, json_t *message);
	void *user;
};

/* Start a call. done() may be called from inside. */
void mcp_call_start(const struct mcp_call_options *options);

/*
 * Abandon a call: done() is not called. wanted: its caller cancelled it, and the argument on_cancel
 * says whether the command is interrupted. Otherwise the command goes on, and its end is reported
 * later.
 */
void mcp_call_cancel(struct mcp_call *c, bool wanted);

#define MCP_PROGRESS_SIZE 256u

/* Describe what the session of the call does. */
void mcp_call_progress(struct mcp_call *c, char text[MCP_PROGRESS_SIZE]);

/* For the steps */

/*
 * Make a request to the API; its reply goes to next. path: without a query, not encoded. body:
 * taken; NULL: none. params: pairs of name and value up to a NULL name; pairs with a NULL value are
 * left out.
 */
void mcp_request(struct mcp_call *c, mcp_step next, enum method method, const char *path,
	json_t *body, const char *const *params);

/*
 * End the call with a result. structured: taken. text: of malloc(), taken; NULL: memory is short.
 */
void mcp_finish(struct mcp_call *c, json_t *structured, char *text);

/* End the call with a result and the text that format() makes of it. structured: taken. */
void mcp_finish_formatted(
	struct mcp_call *c, json_t *structured, char *(*format)(json_t *structured));

/* End the call with an error. context: taken; may be NULL. */
void mcp_fail(struct mcp_call *c, const char *code, const char *message, json_t *context);

/* Add a message to the result's `also`. text: taken; NULL: ignored. */
void mcp_add_note(struct mcp_call *c, json_t *text);

/* Delete the session of the call, and ignore the API's reply. */
void mcp_delete_session(const struct mcp_call *c);

/* Whether the reply is a success. If not, the call has ended with its error. */
bool mcp_succeeded(struct mcp_call *c, const struct mcp_answer *a);

/* "/api/session/ID" and rest, a format of printf(). Valid until the next call for c. */
const char *mcp_path(struct mcp_call *c, const char *rest, ...)
	__attribute__((format(printf, 2, 3)));

/* A text argument; NULL: absent. */
const char *mcp_text_arg(const struct mcp_call *c, const char *name);

/* A number argument, or fallback if absent. */
json_int_t mcp_number_arg(const struct mcp_call *c, const char *name, json_int_t fallback);

/* A boolean argument, or fallback if absent. */
bool mcp_flag_arg(const struct mcp_call *c, const char *name, bool fallback);

/*
 * Copy the named arguments to body, renamed from snake_case to camelCase. names: NULL-terminated.
 */
void mcp_copy_args(const struct mcp_call *c, json_t *body, const char *const *names);

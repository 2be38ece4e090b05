/*
 * Contexts: each runs code of one language in an executor that keeps its state. Code runs in order, one piece
 * at a time. If an executor dies, its state is lost: the next request is told so once (-EPIPE), and the one
 * after starts a new executor.
 *
 * Output is delivered while code runs. What threads and children write between two pieces of code is delivered
 * when the next one begins, up to CONTEXT_IDLE_OUTPUT.
 *
 * Code that exceeds its timeout, or is abandoned, gets SIGINT, and the executor SIGKILL after CONTEXT_GRACE_MS.
 * A context that has not run code for ttl_ms is removed.
 */
#pragma once

#include "shell/context/interpreter.h"

#define CONTEXTS_MAX 64u                       /* of a server */
#define CONTEXT_QUEUE_MAX 16u                  /* waiting pieces of code, of a context */
#define CONTEXT_CODE_MAX ((size_t)1 << 20)     /* bytes of a piece of code */
#define CONTEXT_IDLE_OUTPUT ((size_t)64 << 10) /* bytes of each stream */
#define CONTEXT_GRACE_MS 2000u
#define CONTEXT_START_MS 30000u /* for an executor to become ready */
#define CONTEXT_ID_SIZE 37u     /* a UUID and NUL */

struct contexts;
struct context;
struct code;

/* Callbacks of a context. */
struct context_callbacks {
	/*
	 * Called once, not from inside context_create(). error: 0: ready for code; -ERR_NOT_INSTALLED (the program is
	 * not installed), -ETIMEDOUT, -EIO (the executor has ended), -ECANCELED (removed): c is NULL, and there is no
	 * context.
	 */
	void (*started)(void *user, struct context *c, int error);
	/* The context was removed; the last call. unused: because of ttl_ms. */
	void (*removed)(void *user, bool unused);
};

/* A piece of code. */
struct code_options {
	const char *text; /* UTF-8; borrowed for the call */
	size_t length;
	uint64_t timeout_ms;          /* 0 = none */
	struct directory_found found; /* of the context's directory, in case an executor is started */
};

/* How a piece of code ended. */
enum code_how {
	CODE_COMPLETE,
	CODE_RAISED,    /* see error */
	CODE_TIMED_OUT, /* if lost: the executor had to be killed */
	CODE_DIED,      /* the executor died, or sent an invalid frame */
	CODE_LOST,      /* not run: the executor died before it, or could not start (start_error) */
	CODE_REMOVED    /* the context was removed */
};

/* Details of the end; borrowed for the call. */
struct code_end {
	enum code_how how;
	bool lost;           /* the context's state is lost */
	bool broken;         /* CODE_DIED: the executor sent an invalid frame */
	int exit_code;       /* CODE_DIED */
	int start_error;     /* negative errno, as of started() */
	uint64_t count;      /* pieces of code that this executor has run */
	const json_t *error; /* {ename, evalue, traceback} from the executor; NULL: none */
};

/*
 * Callbacks of a piece of code. begun(), output() and missed() may come from inside code_start(), after
 * *ret_code is set.
 */
struct code_callbacks {
	/* The code runs. */
	void (*begun)(void *user);
	/* It has written something. */
	void (*output)(void *user, enum run_stream stream, const void *bytes, size_t length);
	/* This many bytes that were written before the code began are lost. */
	void (*missed)(void *user, enum run_stream stream, uint64_t bytes);
	/* A result to display; NULL: it was invalid JSON. Borrowed. */
	void (*result)(void *user, json_t *result);
	/* The code has ended; called once, then it is freed. */
	void (*done)(void *user, const struct code_end *end);
};

/*
 * Open. runs: borrowed for its life. ttl_ms: remove contexts that were unused for so long; 0: never. Returns 0
 * or -ENOMEM.
 */
int contexts_open(
	uv_loop_t *loop, struct runs *runs, uint64_t ttl_ms, struct contexts **ret_contexts);

/* Free all contexts; after the runs were closed. NULL is fine. */
void contexts_close(struct contexts *all);

/* Create a context. options: copied. Returns 0, -ERR_LIMIT (CONTEXTS_MAX), or as run_start(). */
int context_create(struct contexts *all, const struct interpreter_options *options,
	const struct context_callbacks *callbacks, void *user, struct context **ret_context);

/* The started context of this id, or NULL. */
struct context *contexts_find(struct contexts *all, const char *id);

/* The started context after c in order of creation (c NULL: the first), or NULL. */
struct context *contexts_next(struct contexts *all, struct context *c);

/* Its id, a UUID. */
const char *context_id(const struct context *c);

/* Its working directory. */
const char *context_cwd(const struct context *c);

/* Its language. */
enum language context_language(const struct context *c);

/* The user pointer of its callbacks. */
void *context_user(const struct context *c);

/* Whether an executor runs; otherwise the next code starts one. */
bool context_has_executor(const struct context *c);

/* Remove a context, and kill its executor with all processes that it started. Do not use c afterwards. */
void context_remove(struct context *c);

/* Interrupt the running code. Returns whether any ran. */
bool context_interrupt(struct context *c);

/*
 * Queue code, which is copied. Returns 0, -ERR_LIMIT (CONTEXT_QUEUE_MAX), -EPIPE (the executor has died since the
 * last code; another call starts a new one), -E2BIG (CONTEXT_CODE_MAX), or another negative errno.
 */
int code_start(struct context *c, const struct code_options *options,
	const struct code_callbacks *callbacks, void *user, struct code **ret_code);

/* Stop reading the code's output, or go on: it blocks once the pipes are full. Does nothing before it has begun. */
void code_pause(struct code *code, bool pause);

/* Cancel code: remove it from the queue, or interrupt it. No callback follows. */
void code_abandon(struct code *code);

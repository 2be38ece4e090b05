/*
 * Contexts: each an executor of one language that keeps what code has made, from one piece of code to the next. One piece
 * runs at a time, others wait in order. When an executor has died, what it kept is gone: who asks next is told so once,
 * then a new one is begun with.
 *
 * What code writes is told while it runs; what is written between two pieces of code (by a thread, by a child) is told
 * when the next one begins, as much of it as CONTEXT_IDLE_OUTPUT.
 *
 * One that has run nothing for long is removed, and what it kept is gone.
 *
 * Code that takes too long, or whose listener has gone, gets SIGINT, and CONTEXT_GRACE_MS later KILL.
 */
#pragma once

#include "shell/context/interpreter.h"

#define CONTEXTS_MAX 64u                       /* at once, of a server */
#define CONTEXT_QUEUE_MAX 16u                  /* pieces of code that wait, of a context */
#define CONTEXT_CODE_MAX ((size_t)1 << 20)     /* bytes of one */
#define CONTEXT_IDLE_OUTPUT ((size_t)64 << 10) /* bytes of each stream */
#define CONTEXT_GRACE_MS 2000u
#define CONTEXT_START_MS 30000u /* until an executor takes code */
#define CONTEXT_ID_SIZE 37u     /* a UUID and NUL */

struct contexts;
struct context;
struct code;

struct context_callbacks {
	/*
	 * It takes code, or (error: -ENOEXEC: there is no such program; -ETIMEDOUT; -EIO: it has
	 * ended; -ECANCELED: it was removed) there will be none. Once, not from inside context_create(), and not after context_disown().
	 */
	void (*started)(void *user, struct context *c, int error);
	/* It has been removed; the last call. unused: because nothing had used it for as long as may be. */
	void (*removed)(void *user, bool unused);
};

struct code_options {
	const char *text; /* UTF-8; borrowed for the call */
	size_t length;
	uint64_t timeout_ms;          /* 0 = none */
	struct directory_found found; /* of the context's directory, for where an executor is begun */
};

enum code_how {
	CODE_COMPLETE,
	CODE_RAISED,    /* error says what */
	CODE_TIMED_OUT, /* lost: it had to be killed */
	CODE_DIED,      /* the executor did, or it broke its protocol */
	CODE_LOST, /* it did not begin: the executor has died before, or could not be started (start_error) */
	CODE_REMOVED /* the context was */
};

/* How a piece of code went; borrowed. */
struct code_end {
	enum code_how how;
	bool lost;           /* what the context kept is gone */
	bool broken;         /* of CODE_DIED: it broke its protocol */
	int exit_code;       /* of CODE_DIED */
	int start_error;     /* negative errno, as of started() */
	uint64_t count;      /* pieces of code that this executor has run */
	const json_t *error; /* {ename, evalue, traceback}, as the executor has it; NULL: none */
};

struct code_callbacks {
	/* It runs. This, output() and missed() may come from inside code_start(), which has set *ret_code by then. */
	void (*begun)(void *user);
	void (*output)(void *user, enum run_stream stream, const void *bytes, size_t length);
	/* So much that was written before it began is missing. */
	void (*missed)(void *user, enum run_stream stream, uint64_t bytes);
	/* Something to be shown; NULL: it could not be read. Borrowed. */
	void (*result)(void *user, json_t *result);
	/* It is over; once, and it is freed after it. */
	void (*done)(void *user, const struct code_end *end);
};

/*
 * Pointers are borrowed for its life. ttl_ms: a context is removed when it has run nothing for so long; 0: it stays. Returns 0
 * or -ENOMEM.
 */
int contexts_open(
	uv_loop_t *loop, struct runs *runs, uint64_t ttl_ms, struct contexts **ret_contexts);

/* To be called when the runs have been closed. NULL is fine. */
void contexts_close(struct contexts *all);

/*
 * Begin one. options are copied. Returns 0, -EUSERS (CONTEXTS_MAX), or what run_start() returns; then there is none.
 */
int context_create(struct contexts *all, const struct interpreter_options *options,
	const struct context_callbacks *callbacks, void *user, struct context **ret_context);

/* NULL: there is none of this id that takes code. */
struct context *contexts_find(struct contexts *all, const char *id);

/* The next one after c, NULL: the first, in the order in which they were made; NULL at the end. */
struct context *contexts_next(struct contexts *all, struct context *c);

const char *context_id(const struct context *c);
const char *context_cwd(const struct context *c);
enum language context_language(const struct context *c);
void *context_user(const struct context *c);

/* Whether there is one; otherwise the next code begins one. */
bool context_has_executor(const struct context *c);

/* End it with everything that it has started. c is not to be used any more. */
void context_remove(struct context *c);

/* Interrupt what runs there. Returns whether something did. */
bool context_interrupt(struct context *c);

/*
 * Run code, which is copied, when its turn comes. Returns 0, -EUSERS (too many wait), -EPIPE (the
 * executor has died since the last one: the next begins with a new one), or a negative errno.
 */
int code_start(struct context *c, const struct code_options *options,
	const struct code_callbacks *callbacks, void *user, struct code **ret_code);

/* Its output is not wanted for a while: it waits, once there is enough of it. Harmless before it has begun. */
void code_pause(struct code *code, bool pause);

/* Nobody listens any more: it is not begun, or is ended. No callback comes. */
void code_abandon(struct code *code);

/*
 * Waiting for a session: for the end of a command, a prompt, a program that waits for input, text,
 * silence and more. A wait has several conditions and ends with the first that is true, or at its
 * timeout. Conditions are checked when there is output, and by one timer for each session at the
 * times that matter, so an idle wait costs nothing. Only whether a program waits for input is
 * polled, the less often the longer it is quiet.
 *
 * A second request with the key of a wait joins that wait. Its result is kept for WAIT_KEPT_MS.
 */
#pragma once

#include "ring/search/pattern.h"
#include "shell/claim.h"
#include "shell/output/record.h"
#include "shell/wait/state.h"
#include "shell/wait/waits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAIT_CONDITIONS_MAX 16u
#define WAITS_MAX 64u             /* pending waits of a session */
#define WAITS_KEPT_MAX 64u        /* kept results of a session: of owners, and as many of links */
#define WAIT_PATTERNS_MAX 64u     /* of a session */
#define WAIT_PATTERNS_TOTAL 1024u /* of all sessions */
#define WAIT_PORTS_MAX 16u        /* of a session: each is probed twice a second */
#define WAIT_KEY_MAX 128u
#define WAIT_TIMEOUT_MAX_MS (UINT64_C(3600) * 1000)
#define WAIT_KEPT_MS (UINT64_C(60) * 1000)
#define WAIT_TEXT_MAX 4096u /* bytes of a match that a result has */

#define WAIT_QUIET_MS 50u        /* of silence, before a program's state is sampled */
#define WAIT_UNSURE_MS 1000u     /* of silence, before a guess counts */
#define WAIT_PASSWORD_MS 250u    /* the same on a terminal without echo */
#define WAIT_SAMPLE_MAX_MS 2000u /* between two samples */
#define WAIT_SILENT_MS 500u      /* for a program that waits for input to answer what was typed */
#define WAIT_TRANSIT_MS 30u      /* for written output to become readable */
#define WAIT_UNREAD_MS 5u        /* between two checks whether the holder has read all output */
#define WAIT_SETTLE_MS 50u       /* of silence, before an incomplete line is matched as a line */
#define WAIT_EDIT_MS 300u        /* after typing, untyped text at a prompt may still be editing */
#define WAIT_LATE_MS 2000u       /* a timeout is extended by this while patterns lag behind */
/* Work of matching on the loop at a time, see pattern_find(). */
#define WAIT_WORK_HERE (UINT64_C(1) << 18)
#define WAIT_TURN_MS 5u /* between two checks whether it is a pattern's turn to be searched for */
#define WAIT_REST_FACTOR 3u /* rest after a search for a link, in multiples of its duration */

/* The kinds of conditions. */
enum wait_type {
	WAIT_EXEC,   /* an exec is done */
	WAIT_PROMPT, /* the shell reads a line at its prompt */
	WAIT_INPUT,  /* a program waits for input */
	WAIT_MATCH,  /* a pattern is on the screen, or in the output */
	WAIT_STABLE, /* the screen's rows do not change */
	WAIT_IDLE,   /* there is no output and no input */
	WAIT_BYTES,  /* so many bytes have been printed */
	WAIT_EXIT,   /* the session has ended */
	WAIT_PORT,   /* a program listens on a port */
	WAIT_LEASE,  /* no client has an exclusive lease of the keyboard */
	WAIT_TYPES,
};

/* "exec", "prompt" ... */
const char *wait_type_name(enum wait_type type);

/* A condition; the fields apply to the types named. */
struct wait_condition {
	enum wait_type type;
	char exec[RECORD_ID_MAX + 1]; /* WAIT_EXEC: its id */
	enum state_input kind;        /* WAIT_INPUT: STATE_INPUT_NONE means any */
	/* WAIT_INPUT: accept no guess except for passwords, and need output behind `after`. */
	bool certain;
	struct pattern *pattern; /* WAIT_MATCH */
	bool on_screen;          /* WAIT_MATCH: search the screen's rows; otherwise the output */
	bool needs_line_end;     /* WAIT_MATCH: see log_match_needs_line_end() */
	uint64_t ms;             /* WAIT_STABLE, WAIT_IDLE */
	/*
	 * WAIT_STABLE: also require that the program waits for input again, if that can be seen.
	 * Without any output behind `after` the condition is then true WAIT_SILENT_MS later.
	 */
	bool ready;
	uint64_t count; /* WAIT_BYTES */
	unsigned port;  /* WAIT_PORT */
};

/* A request for a wait. */
struct wait_options {
	const struct wait_condition *conditions; /* patterns: owned when wait_start() returns 0 */
	unsigned count;
	uint64_t timeout_ms;
	bool has_from;   /* otherwise from the end of the output */
	uint64_t from;   /* offset for WAIT_MATCH in the output, and WAIT_BYTES */
	bool has_after;  /* WAIT_PROMPT, WAIT_IDLE and WAIT_STABLE need output behind `after` */
	uint64_t after;  /* offset */
	const char *key; /* or NULL; owners and each link have keys of their own */
	uint64_t fingerprint; /* of the request: the same key with another one is refused */
	struct claim *claim;  /* of a link; owned when wait_start() returns 0; NULL: an owner */
};

/* The result of a wait. */
struct wait_result {
	int fired;           /* index of the condition; -1: none */
	enum wait_type type; /* of the condition; WAIT_EXIT if the session ended and fired is -1 */
	bool timed_out;      /* then fired is -1 */
	uint64_t offset;     /* end of the output; of a match in the output: its beginning */
	bool has_end;
	uint64_t end; /* end of a match in the output */
	bool has_place;
	unsigned row, column; /* of a match on the screen, from 1 */
	uint64_t lost;        /* bytes that the ring lost before a pattern could read them */
	const char *text;     /* of a match, UTF-8, or NULL */
	size_t length;
	uint64_t elapsed_ms;
};

struct wait;

/* Gets the result. The memory is the caller's. One callback comes once, maybe in wait_start(). */
struct wait_waiter {
	struct wait_waiter *prev, *next;
	struct wait *wait; /* NULL once it has been called */
	void (*done)(void *user, const struct wait_result *result);
	void (*gone)(void *user); /* the session has been deleted */
	void *user;
};

/*
 * Wait. Returns 0, -ERR_LIMIT (too many waits), -EMFILE (too many patterns or ports), -ERR_KEY_IN_USE (the
 * key belongs to another wait), -ERANGE (from or after is beyond the output), -ENOENT (no such
 * exec), -ENOMEM. On error waiter is not called.
 */
int wait_start(struct waits *all, const struct wait_options *options, struct wait_waiter *waiter);

/*
 * What another server needs to continue a wait that is not over: the offset from which it reads, and the time until its timeout.
 * Returns false if it has a key, because then another request may join it.
 */
bool wait_get_rest(const struct wait_waiter *waiter, uint64_t *ret_from, uint64_t *ret_left_ms);

/* Stop waiting; harmless after a callback. Frees a wait that has no key and no waiters. */
void wait_leave(struct wait_waiter *waiter);

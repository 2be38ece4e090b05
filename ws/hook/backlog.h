/*
 * Backlog: what one webhook is still to be told, oldest first, and when it is tried again. One is under way at a time, and the
 * others wait behind it, so that what arrives is in order; it is tried again until it has arrived or is not worth it any more:
 *
 *   2xx                        it has arrived
 *   410                        the receiver wants no more: nothing is told there until the server starts again
 *   3xx, and 4xx but for       refused: it would be so again, and is given up at once
 *   408, 425 and 429
 *   anything else, or none     tried again, after HOOK_PAUSE_MS, then twice that and so on up to HOOK_PAUSE_MAX_MS and some more at
 *                              random, or after what the receiver asks for (Retry-After), at most HOOK_RETRY_AFTER_MAX_MS.
 *                              Given up after HOOK_TRIES, or when it is older than HOOK_AGE_MAX_MS.
 *
 * The pause is that of the receiver, not of an event: one that is down is asked seldom, however much happens. What there is no room
 * for takes the place of the oldest that waits, of the same session if that has its share. Bells and notifications of a session
 * are one as long as they wait. Pure; nobody's but the caller's, who locks it.
 */
#pragma once

#include "ws/hook/hook_event.h"

#include <stdbool.h>
#include <stdint.h>

#define HOOK_WAITING_MAX 512u         /* events, the one under way included */
#define HOOK_SESSION_WAITING_MAX 128u /* of one session */
#define HOOK_TRIES 10u
#define HOOK_PAUSE_MS 1000u
#define HOOK_PAUSE_MAX_MS (300u * 1000)
#define HOOK_RETRY_AFTER_MAX_MS (600u * 1000)
#define HOOK_AGE_MAX_MS (3600u * 1000)

struct backlog_item;

/* Ever, but for the first. */
struct backlog_counts {
	unsigned waiting;
	uint64_t told;    /* events that were to be told */
	uint64_t tries;   /* requests that were made */
	uint64_t arrived; /* events that somebody has got */
	uint64_t failed;  /* tries that failed */
	uint64_t given_up; /* events after HOOK_TRIES or HOOK_AGE_MAX_MS, and those that were refused */
	uint64_t dropped; /* events that there was no room for, or that nobody wants (410) */
	uint64_t merged;  /* bells and notifications that are told with one that waited */
};

/* All zero is an empty one. */
struct backlog {
	struct backlog_item *items; /* oldest first */
	bool out;                   /* the first is under way */
	bool unwanted;              /* 410 */
	unsigned failures;          /* in a row */
	uint64_t due_ms;            /* nothing is tried before */
	struct backlog_counts counts;
};

/* Times are of a clock of the caller's that only goes forward. */

/* Put an event behind the others; takes a reference of its own. */
void backlog_add(struct backlog *b, struct hook_event *e, uint64_t now_ms);

/*
 * The event that is to be tried now, which is under way then until backlog_answered(); borrowed, and stays. NULL: none is;
 * *ret_wait_ms: for how long, UINT64_MAX until one is added.
 */
const struct hook_event *backlog_take(struct backlog *b, uint64_t now_ms, uint64_t *ret_wait_ms);

enum backlog_outcome {
	BACKLOG_ARRIVED,
	BACKLOG_AGAIN,    /* it is tried again */
	BACKLOG_GIVEN_UP, /* it was tried often enough */
	BACKLOG_REFUSED,
	BACKLOG_UNWANTED
};

/* How a try has ended. */
struct backlog_answer {
	int status;              /* of HTTP; 0: none has come */
	uint64_t retry_after_ms; /* as the receiver asks for; 0: it does not */
	unsigned random;         /* 0 to 255 */
};

/* The one under way has been answered, or not. */
enum backlog_outcome backlog_answered(
	struct backlog *b, const struct backlog_answer *answer, uint64_t now_ms);

/* Forget all that waits. Returns how many nobody has got. */
unsigned backlog_finish(struct backlog *b);

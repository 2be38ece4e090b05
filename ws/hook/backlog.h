/*
 * The queue of events for one webhook, oldest first, with retries. One event is sent at a time, so events arrive in order.
 * What happens next depends on the receiver's status:
 *
 *   2xx                        delivered
 *   410                        the receiver wants no more events: none are sent until the server restarts
 *   3xx, and 4xx except for    refused: a retry would be refused too, so the event is given up at once
 *   408, 425 and 429
 *   anything else, or none     retried after HOOK_PAUSE_MS, then twice that and so on up to HOOK_PAUSE_MAX_MS, plus some
 *                              random time, or after Retry-After, at most HOOK_RETRY_AFTER_MAX_MS. Given up after HOOK_TRIES,
 *                              or when the event is older than HOOK_AGE_MAX_MS.
 *
 * The pause belongs to the receiver, not to an event, so a receiver that is down gets few requests. If the queue is full, or
 * the session has HOOK_SESSION_WAITING_MAX events in it, the oldest (of the session) is dropped. Bells of a session that wait
 * are merged into one, and so are notifications. Pure; the caller locks it.
 */
#pragma once

#include "ws/hook/hook_event.h"

#include <stdbool.h>
#include <stdint.h>

#define HOOK_WAITING_MAX 512u         /* events, including the one that is being sent */
#define HOOK_SESSION_WAITING_MAX 128u /* of one session */
#define HOOK_TRIES 10u
#define HOOK_PAUSE_MS 1000u
#define HOOK_PAUSE_MAX_MS (300u * 1000)
#define HOOK_RETRY_AFTER_MAX_MS (600u * 1000)
#define HOOK_AGE_MAX_MS (3600u * 1000)

struct backlog_item;

/* Totals since the start, except for waiting. */
struct backlog_counts {
	unsigned waiting;  /* events now, including the one that is being sent */
	uint64_t told;     /* events to deliver */
	uint64_t tries;    /* requests */
	uint64_t arrived;  /* events delivered */
	uint64_t failed;   /* requests that failed */
	uint64_t given_up; /* events after HOOK_TRIES or HOOK_AGE_MAX_MS, and refused ones */
	uint64_t dropped;  /* events dropped because the queue or memory was full, or after 410 */
	uint64_t merged;   /* bells and notifications merged into one that waited */
};

/* A queue. Zeroed: empty. Times are of any clock that never goes back. */
struct backlog {
	struct backlog_item *items; /* oldest first */
	bool out;                   /* the first is being sent */
	bool unwanted;              /* 410 */
	unsigned failures;          /* in a row */
	uint64_t due_ms;            /* send nothing before */
	struct backlog_counts counts;
};

/* Append an event; adds a reference. */
void backlog_add(struct backlog *b, struct hook_event *e, uint64_t now_ms);

/*
 * Get the event to send now. It stays in the queue, borrowed, until backlog_end(). Returns NULL if there is none;
 * *ret_wait_ms: when to ask again, UINT64_MAX: after backlog_add().
 */
const struct hook_event *backlog_begin(struct backlog *b, uint64_t now_ms, uint64_t *ret_wait_ms);

/* What follows from a try. */
enum backlog_outcome {
	BACKLOG_ARRIVED,
	BACKLOG_AGAIN,    /* retried later */
	BACKLOG_GIVEN_UP, /* after HOOK_TRIES */
	BACKLOG_REFUSED,
	BACKLOG_UNWANTED /* 410 */
};

/* Result of a try. */
struct backlog_answer {
	int status;              /* HTTP status; 0: no answer */
	uint64_t retry_after_ms; /* the receiver's Retry-After; 0: none */
	unsigned random;         /* 0 to 255 */
};

/* End the try that backlog_begin() began. */
enum backlog_outcome backlog_end(
	struct backlog *b, const struct backlog_answer *answer, uint64_t now_ms);

/* Drop all events. Returns how many were not delivered. */
unsigned backlog_finish(struct backlog *b);

/* The waits of a session, as the session uses them. Callers that wait use shell/wait/wait.h. */
#pragma once

#include <uv.h>

struct awaited;
struct executor;
struct pane;

/* What the waits of all sessions share. */
struct waits_all {
	uv_loop_t *loop;
	unsigned patterns;        /* pending ones */
	struct awaited *searches; /* queue of links' patterns to search screens for */
	uint64_t rested_ns;       /* uv_hrtime() before which the queue rests */
};

/* All waits of a session. */
struct waits;

/* What the waits of a session need. All is borrowed. */
struct waits_options {
	struct pane *pane; /* with an open history */
	struct executor *executor;
	struct waits_all *shared;
	/* Output remains: consume it in a later turn of the loop, then call waits_check_all(). */
	void (*look_soon)(void *user);
	void *user;
};

/* Create the waits of a session. Returns 0 or -ENOMEM. */
int waits_create(const struct waits_options *options, struct waits **ret_waits);

/* The session has consumed output, or ended: check all waits. h may be NULL here and below. */
void waits_check_all(struct waits *h);

/* Whether a wait is pending. */
bool waits_are_pending(const struct waits *h);

/* An event outside the output: check all waits soon, not from inside. */
void waits_check_soon(struct waits *h);

/* The session is deleted: call gone() of all waiters. h is freed in a later turn of the loop. */
void waits_close(struct waits *h);

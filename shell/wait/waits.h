/* All that wait for one session, as who has the session sees them: shell/wait/wait.h is for those who wait. */
#pragma once

#include <uv.h>

struct awaited;
struct executor;
struct pane;

/* What the waits of all sessions share. */
struct waits_all {
	uv_loop_t *loop;
	unsigned patterns;        /* that are waited for */
	struct awaited *searches; /* list: what screens are searched for, for links; the first is next */
	uint64_t rested_ns;       /* uv_hrtime(): when they may be searched again */
};

/* All waits of a session. */
struct waits;

/* All is borrowed. */
struct waits_options {
	struct pane *pane; /* its history is open */
	struct executor *executor;
	struct waits_all *shared;
	/*
	 * There is output that has not been consumed, or has yet to be looked for: it is to be, in its turn, with
	 * waits_follow() behind it. Not from inside.
	 */
	void (*look_soon)(void *user);
	void *user;
};

/* Returns 0 or -ENOMEM. */
int waits_create(const struct waits_options *options, struct waits **ret_waits);

/* The session has consumed output, or ended: look at what is waited for. h: may be NULL, as for those below. */
void waits_follow(struct waits *h);

/* Whether anybody waits. NULL: nobody. */
bool waits_any(const struct waits *h);

/* Something has happened that is not in the output. They are looked at soon, not from inside. */
void waits_nudge(struct waits *h);

/* The session is over: all who wait are told `gone`. h is freed when the loop has turned. */
void waits_close(struct waits *h);

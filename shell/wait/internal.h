/* What the files of waiting share: wait.c, check.c, feed.c. */
#pragma once

#include "ring/search/finder.h"
#include "ring/stream.h"
#include "shell/wait/wait.h"
#include "shell/workers.h"

#include <uv.h>

#define WAIT_NEVER UINT64_MAX
#define WAIT_WHO_MAX 128u

struct awaited {
	struct awaited *prev, *next; /* of the queue, if it is in there */
	bool queued; /* WAIT_MATCH on the screen, of a link: it waits until it may be searched for */
	struct wait_condition is;
	struct finder *finder;  /* WAIT_MATCH in the output */
	bool away;              /* a worker has it, with `settles` and `lost` */
	bool settles;           /* and then looks at its last line, which is not complete */
	struct wait_port *port; /* WAIT_PORT, while it is pending; owned */
	uint64_t lost;          /* bytes that it did not get */
	uint64_t rows_version;  /* WAIT_MATCH on the screen: the rows that have been looked at */
};

struct wait {
	struct wait *prev, *next;
	struct waits *waits;
	struct awaited conditions[WAIT_CONDITIONS_MAX];
	unsigned count;
	uint64_t began_ms, deadline_ms; /* loop time */
	bool has_after;
	uint64_t from, after, fingerprint;
	char key[WAIT_KEY_MAX + 1];
	struct claim *claim;        /* while it is pending; NULL: nobody's */
	char who[WAIT_WHO_MAX + 1]; /* of the claim, also when that is released */
	struct wait_waiter *waiters;
	bool over;
	struct wait_result result; /* once over */
	char *text;                /* of the result, owned */
	uint64_t kept_until_ms;
	bool forgotten; /* it is freed when the waits are back */
};

/* All waits of a session. */
struct waits {
	struct pane *pane;
	struct executor *executor;
	struct waits_all *shared;
	void (*look_soon)(void *user); /* for more output, and then waits_follow() */
	void *user;
	bool closed; /* the session is gone */
	uv_timer_t timer;
	struct wait *all; /* the oldest first */
	unsigned pending; /* of them: not over */
	unsigned kept[2]; /* over, with a key: of owners, of others */
	unsigned patterns, ports;
	uint64_t rows_version, rows_ms; /* the newest of a row, and when that was noticed */
	uint64_t sample_next_ms;        /* when a program may be looked into again */
	uint64_t quiet_since_ms;        /* what that was counted from */
	uint64_t ready_ms,
		ready_quiet_ms; /* when what runs was seen to be ready, and since when it was quiet; 0: not */
	unsigned prompt_tries; /* looks at a shell that has shown its prompt, but does not read yet */
	uint64_t prompt_offset; /* of that prompt */
	bool looking;
	/* Output that is being matched on a worker. */
	struct errand errand;
	bool away; /* then none of what is freed goes before it is back */
	struct awaited *feeding[WAIT_PATTERNS_MAX]; /* while they are away */
	unsigned feeding_count;
	uint64_t feed_to;           /* offset */
	char fed[WAIT_WHO_MAX + 1]; /* the link whose patterns were away last */
	bool owners_had;            /* it was not a link's turn the last time */
	/* Of one look: */
	uint64_t now, due; /* loop time; when to look again */
	bool sampled;
	struct pane_state state; /* if sampled */
};

/*
 * Whether a condition of a pending wait is true; then w is over, and its result filled in but for the time. Asks for
 * another look in h->due, if time alone can make it true.
 */
bool wait_check(struct waits *h, struct wait *w, unsigned i);

/* The same for a pattern. */
bool wait_check_match(struct waits *h, struct wait *w, unsigned i);

/* Look again at this time of the loop, in ms, at the latest. */
void wait_look_later(struct waits *h, uint64_t at);

/* Feed output to all patterns. Returns whether there is more to be done, or a worker is at it. */
bool wait_feed(struct waits *h);

/* The worker is back: look at all of them. */
void waits_back(struct waits *h);

/* Whether a condition has a pattern that has not been fed everything, or not looked at it. */
bool wait_is_behind(const struct waits *h, const struct awaited *c);

/*
 * When the pattern of a condition looks at the last line though that is not complete: loop time; WAIT_NEVER: there is no such
 * line, or it is known only when the pattern has been fed.
 */
uint64_t wait_settles_at(const struct waits *h, const struct awaited *c);

/* The end of the output, as far as the session has consumed it. */
static inline uint64_t wait_head(const struct waits *h)
{
	return h->pane->history.scan.offset;
}

/* Whether a link asked for it; otherwise an owner did. */
static inline bool wait_is_links(const struct wait *w)
{
	return w->who[0] != '\0';
}

/* It does not wait for its turn to be searched for, or not any longer. */
void wait_leave_queue(struct waits *h, struct awaited *c);

/* Whether a condition may become true though the session has ended. */
bool wait_may_come(const struct waits *h, const struct wait *w, const struct awaited *c);

/* Notice whether the rows of the screen have changed. */
void wait_note_rows(struct waits *h);

/* w is over. */
void wait_end(struct wait *w, int fired, enum wait_type type);

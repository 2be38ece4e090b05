/* Private to the files of shell/wait. */
#pragma once

#include "ring/search/finder.h"
#include "ring/stream.h"
#include "shell/wait/port_watch.h"
#include "shell/wait/wait.h"
#include "shell/workers.h"

#include <uv.h>

#define WAIT_NEVER UINT64_MAX
#define WAIT_LINK_MAX 128u

/* A condition of a wait. */
struct awaited {
	struct awaited *prev, *next; /* in waits_all.searches, if queued */
	bool queued;                 /* WAIT_MATCH on the screen, of a link: waits for its turn */
	struct wait_condition is;
	struct finder *finder;   /* WAIT_MATCH in the output */
	bool lent;               /* a worker owns finder, settles and lost */
	bool settles;            /* match the last line too, though it is incomplete */
	struct port_watch *port; /* WAIT_PORT, while it is pending; owned */
	uint64_t lost;           /* bytes that the finder did not get */
	uint64_t rows_version;   /* WAIT_MATCH on the screen: the rows that have been searched */
};

/* One wait. */
struct wait {
	struct wait *prev, *next;
	struct waits *waits;
	struct awaited conditions[WAIT_CONDITIONS_MAX];
	unsigned count;
	uint64_t began_ms, deadline_ms; /* loop time */
	bool has_after;
	uint64_t from, after, fingerprint;
	char key[WAIT_KEY_MAX + 1];
	struct claim *claim; /* access of a link, while it is pending; NULL: an owner's wait */
	char link[WAIT_LINK_MAX + 1]; /* name of that link, kept after the release; "": an owner */
	struct wait_waiter *waiters;
	bool over;
	struct wait_result result; /* once over */
	char *text;                /* of the result, owned */
	uint64_t kept_until_ms;
	bool forgotten; /* freed when the worker is back */
};

/* All waits of a session. */
struct waits {
	struct pane *pane;
	struct executor *executor;
	struct waits_all *shared;
	void (*look_soon)(void *user); /* see struct waits_options */
	void *user;
	bool closed; /* the session is deleted */
	uv_timer_t timer;
	struct wait *all; /* the oldest first */
	unsigned pending; /* those that are not over */
	unsigned kept[2]; /* those that are over and have a key: of owners, of links */
	unsigned patterns, ports;
	uint64_t rows_version, rows_ms; /* the highest version of a row, and when it was noticed */
	uint64_t sample_next_ms;        /* when to sample the state again */
	uint64_t quiet_since_ms;        /* the silence that sample_next_ms belongs to */
	uint64_t ready_ms;              /* when the program was seen to be ready; 0: it was not */
	uint64_t ready_quiet_ms;        /* the silence that ready_ms belongs to */
	unsigned prompt_tries;  /* samples of a shell that has a prompt but does not read yet */
	uint64_t prompt_offset; /* of that prompt */
	bool looking;
	/* Matching on a worker: */
	struct work_item work_item;
	bool lent;                                  /* free no condition before it is back */
	struct awaited *feeding[WAIT_PATTERNS_MAX]; /* the conditions that the worker has */
	unsigned feeding_count;
	uint64_t feed_to;            /* offset */
	char fed[WAIT_LINK_MAX + 1]; /* the link that had the last turn of the links */
	bool owners_had;             /* the owners had the last turn */
	/* One look: */
	uint64_t now, due; /* loop time now; and of the next look */
	bool sampled;
	struct pane_state state; /* if sampled */
};

/*
 * Check condition i of a pending wait. If it is true, end w, and fill in its result except the
 * times. If time alone can make it true, lower h->due.
 */
bool wait_check(struct waits *h, struct wait *w, unsigned i);

/* The same for WAIT_MATCH. */
bool wait_check_match(struct waits *h, struct wait *w, unsigned i);

/* Look again at this loop time (ms) at the latest. */
void wait_look_later(struct waits *h, uint64_t at);

/* Feed output to all patterns. Returns whether some remains, or a worker is busy with it. */
bool wait_feed(struct waits *h);

/* The worker is done: free what waited for that, and look at all waits. */
void waits_on_worker_back(struct waits *h);

/* Whether a condition has a pattern that has not matched all output yet. */
bool wait_is_behind(const struct waits *h, const struct awaited *c);

/*
 * The loop time at which the pattern of a condition matches an incomplete last line. WAIT_NEVER:
 * there is no such line, or output must be fed first.
 */
uint64_t wait_settles_at(const struct waits *h, const struct awaited *c);

/* The end of the output that the session has consumed. */
static inline uint64_t wait_head(const struct waits *h)
{
	return h->pane->history.scan.offset;
}

/* Whether a link began it; otherwise an owner did. */
static inline bool wait_is_by_link(const struct wait *w)
{
	return w->link[0] != '\0';
}

/* Leave the queue of searches, if c is in there. */
void wait_leave_queue(struct waits *h, struct awaited *c);

/* Whether a condition may still become true after the session has ended. */
bool wait_can_become_true(const struct waits *h, const struct wait *w, const struct awaited *c);

/* Note whether the rows of the screen have changed. */
void wait_note_rows(struct waits *h);

/* Check all waits, and call the waiters of those that are over. */
void waits_look(struct waits *h);

/* w has just ended: complete its result, and release what it does not need any more. */
void wait_settle(struct wait *w);

/* Call all waiters of w, which is over. */
void wait_answer_waiters(struct wait *w);

/* Remove and free w. While a worker has its conditions, waits_on_worker_back() does that. */
void wait_forget(struct wait *w);

/* Free w, which is in no list. */
void wait_destroy(struct wait *w);

/* Free the patterns of w. */
void wait_free_patterns(struct wait *w);

/* End w. fired: the index of the condition, or -1. */
void wait_end(struct wait *w, int fired, enum wait_type type);

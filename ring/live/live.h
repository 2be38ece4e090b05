/*
 * Live: keeps the screen of a session in step with its history. It feeds the screen the same bytes
 * and sizes that clients get, a little later, writes checkpoints for the next server, and restores
 * those of the previous one.
 *
 * It belongs to one thread, but live_start_work() lends the screen to a worker thread until live_take_back().
 */
#pragma once

#include "ring/history.h"
#include "ring/screen/effects.h"
#include "ring/screen/screen.h"
#include "ring/screen/trim.h"
#include "ring/screen/view/snapshot.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_PIECE ((size_t)1 << 18)     /* work between two checks of `wanted` on a worker */
#define LIVE_CATCH_UP ((size_t)64 << 20) /* work done at once when a request reads the screen */

/* Options of live_init(). */
struct live_options {
	unsigned scrollback; /* lines */
	enum screen_unicode unicode;
	uint64_t version; /* first version of the screen; must exceed those of earlier servers */
	const struct screen_callbacks *callbacks; /* borrowed */
	void *user;
};

/*
 * A screen that follows a history. The worker owns all fields from `lent` on while `lent` is set,
 * except `lent_end`, `wanted` and `tail`.
 */
struct live {
	struct history *history; /* borrowed */
	struct live_options options;
	struct screen *screen;  /* NULL after an allocation failure */
	struct effects effects; /* replies and events not delivered yet */
	struct theme theme;     /* applied to the screen as soon as it is not lent */
	/* Feeding output from before this server: replies may be sent, events are dropped. */
	bool late;
	bool lent;           /* a worker owns the screen */
	uint64_t lent_end;   /* where the worker stops */
	bool lent_lost;      /* the bytes for the worker had been overwritten */
	atomic_bool wanted;  /* asks the worker to stop soon */
	uint64_t tail;       /* last result of live_tail() */
	uint64_t sizes;      /* sizes applied, of those ever added to the history */
	uint64_t checkpoint; /* output before this offset is not needed to restore the screen */
	bool freeze;         /* ask live_work() to freeze old lines, see screen_freeze() */
	uint64_t frozen;     /* screen version at the last freeze; 0: never */
	size_t give;         /* bytes of scrollback to drop, see live_trim() */
	uint64_t given;      /* lines dropped so far */
	size_t line_bytes;   /* average per line in the last checkpoint; 0: none taken */
	uint64_t checkpoints, checkpoint_failures, restarts; /* counters */
};

/*
 * Start, with the history at its own start. The screen is restored from the last checkpoint if the
 * history continues it. Output before mute_before has no side effects. Returns 0 or -ENOMEM.
 */
int live_init(struct live *l, struct history *history, const struct live_options *options);

/* Free the screen and pending events. */
void live_finish(struct live *l);

/*
 * Set the terminal's current size. Events normally report sizes, but the log may have lost the last
 * one while no server ran; only then this resizes the screen.
 */
void live_correct_size(struct live *l, unsigned rows, unsigned cols);

/* Set the theme of the screen, now or when a worker returns it. */
void live_set_theme(struct live *l, const struct theme *theme);

/* Feed what the history has consumed, about `work` cells of it. Returns true if more is left. */
bool live_follow(struct live *l, size_t work);

/*
 * Lend the screen to a worker, which feeds it what the history has consumed by now and writes a
 * checkpoint if one is due. Until live_take_back(), call only live_work(), live_recall(), live_backlog()
 * and live_tail(). Returns false if there is nothing to do.
 */
bool live_start_work(struct live *l);

/*
 * Drop `give` bytes of scrollback and reset `give`. live_work() does so as well, and live_start_work()
 * lends the screen for that alone.
 */
void live_trim(struct live *l);

/*
 * Lend the screen to another reader without feeding it. The same restrictions as for live_start_work()
 * apply. There must be a screen.
 */
void live_lend(struct live *l);

/* Do the work, on the worker thread. */
void live_work(struct live *l);

/*
 * Whether lines are old enough to be frozen by live_work() with `freeze` set. Use it when the
 * session is idle: in a flood lines are dropped before freezing pays off.
 */
bool live_can_freeze(const struct live *l);

/* Ask the worker to stop soon. The worker must have returned before live_take_back(). */
void live_recall(struct live *l);

/* Take the screen back from the worker and deliver its replies and events. */
void live_take_back(struct live *l);

/* Bytes consumed by the history but not the screen. Bytes lent to a worker count as done. */
uint64_t live_backlog(const struct live *l);

/* Whether a checkpoint is due. Taking one is slow. */
bool live_needs_checkpoint(const struct live *l);

/*
 * Feed the backlog, at most LIVE_CATCH_UP of work, and return the screen. It may still be at an
 * earlier offset, see screen_offset(). NULL if there is none.
 */
struct screen *live_screen(struct live *l);

/* Whether the screen can be lent to a worker now. */
bool live_can_lend(const struct live *l);

/* Whether the next `bytes` bytes contain a query. */
bool live_has_query(const struct live *l, uint64_t bytes);

/*
 * Offset before which the ring may be overwritten, because the screen and a checkpoint cover it.
 * checkpoint: take one if due.
 */
uint64_t live_tail(struct live *l, bool checkpoint);

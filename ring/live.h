/*
 * Live: the screen of a session, kept true to its history. It takes the same bytes as the clients, a
 * little later, and the sizes where they changed; it leaves checkpoints for a server that comes after
 * this one, and finds those of the one before.
 *
 * One thread; but the screen can be sent away, and is then another one's until it is taken back: see live_send().
 */
#pragma once

#include "ring/history.h"
#include "ring/screen/said.h"
#include "ring/screen/screen.h"
#include "ring/screen/trim.h"
#include "ring/screen/view/snapshot.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_PIECE ((size_t)1 << 18)     /* cells touched elsewhere before it can be had back */
#define LIVE_CATCH_UP ((size_t)64 << 20) /* and at once, when somebody wants to see the screen */

struct live_options {
	unsigned scrollback; /* lines */
	enum screen_unicode unicode;
	uint64_t version; /* where the screen's versions begin: more than an earlier server has counted */
	const struct screen_callbacks *callbacks; /* borrowed */
	void *user;
};

struct live {
	struct history *history; /* borrowed */
	struct live_options options;
	struct screen *screen; /* NULL once memory was short */
	struct said said;      /* what it has said, and nobody has been told */
	bool late; /* what it takes was there before this server: it may answer, and tells nothing else */
	bool away; /* it is another thread's, and so is all that follows but `away_end`, `wanted` and `tail` */
	uint64_t away_end;   /* as far as it goes there */
	bool away_lost;      /* what it was to take there had been overwritten */
	atomic_bool wanted;  /* it is wanted back */
	uint64_t tail;       /* the last live_tail() */
	uint64_t sizes;      /* sizes it has taken, of those ever added to the history */
	uint64_t checkpoint; /* output before this offset is not needed to find the screen again */
	bool freeze;         /* old lines are to be frozen, see screen_freeze() */
	uint64_t frozen;     /* version of the screen in which that was done last; 0 = never */
	size_t give;         /* bytes of its scrollback to be given up, see live_trim() */
	uint64_t given;      /* lines that have been; a counter */
	size_t line_bytes;   /* of a line in the last checkpoint, on average; 0 = none taken */
	uint64_t checkpoints, checkpoint_failures, restarts; /* counters */
};

/*
 * Begin, with the history at its own beginning. The screen comes from the last checkpoint, if there is one
 * that the history continues. Output before mute_before has had its effects already.
 * Returns 0 or -ENOMEM.
 */
int live_init(struct live *l, struct history *history, const struct live_options *options);
void live_finish(struct live *l);

/*
 * The terminal has this size now. Events say so as well, but their log may have lost the last one while
 * the server was away; then the screen takes it as it is.
 */
void live_settle(struct live *l, unsigned rows, unsigned cols);

/* Take what the history has consumed, for about so much work. Returns whether there is more. */
bool live_follow(struct live *l, size_t work);

/*
 * Send the screen away, to take what the history has consumed by now, and to leave a checkpoint if one is due: nothing here
 * but live_work(), live_want(), live_backlog() and live_tail() may be called until live_take(). Returns false when there is
 * nothing that could be done elsewhere.
 */
bool live_send(struct live *l);

/* Give up what `give` says, which is 0 then. live_work() does so as well, and live_send() sends it away for that alone. */
void live_trim(struct live *l);

/* Send it away as it is, for somebody else to look at: the same, but there is nothing to take. There has to be one. */
void live_lend(struct live *l);

/* What is to be done there; on any thread. */
void live_work(struct live *l);

/*
 * Whether lines are old enough to be frozen, which `freeze` asks live_work() for; once there is nothing else to do, for in
 * a flood they would go before that is worth anything.
 */
bool live_may_freeze(const struct live *l);

/* It is to end soon. Before live_take(), whoever works at it has to have ended. */
void live_want(struct live *l);

/* It is back: what it has said is told. */
void live_take(struct live *l);

/* Bytes that the history has consumed, and the screen has not taken; those that it takes elsewhere count as taken. */
uint64_t live_backlog(const struct live *l);

/* Whether a checkpoint is due, which takes a while. */
bool live_owes_checkpoint(const struct live *l);

/*
 * Take all of it, unless that is an amount of work that everybody would notice: then the screen is that of
 * an earlier offset, as screen_offset() says. Returns NULL when there is none.
 */
struct screen *live_screen(struct live *l);

/* Whether anything could be done elsewhere, now. */
bool live_may_go(const struct live *l);

/* Whether a program asks its terminal something in the next so many bytes. */
bool live_is_asked(const struct live *l, uint64_t bytes);

/*
 * Before which offset the ring may be overwritten: the screen has what was there, and so has a checkpoint.
 * checkpoint: take one if it is due.
 */
uint64_t live_tail(struct live *l, bool checkpoint);

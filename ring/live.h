/*
 * Live: the screen of a session, kept true to its history. It takes the same bytes as the clients, a
 * little later, and the sizes where they changed; it leaves checkpoints for a server that comes after
 * this one, and finds those of the one before.
 */
#pragma once

#include "ring/history.h"
#include "ring/screen/screen.h"
#include "ring/screen/view/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_WORK ((size_t)1 << 20)      /* cells touched in a turn */
#define LIVE_CATCH_UP ((size_t)64 << 20) /* and at once, when somebody wants to see the screen */

struct live_options {
	unsigned scrollback; /* lines */
	uint64_t version; /* where the screen's versions begin: more than an earlier server has counted */
	const struct screen_callbacks *callbacks; /* borrowed */
	void *user;
};

struct live {
	struct history *history; /* borrowed */
	struct live_options options;
	struct screen *screen; /* NULL once memory was short */
	uint64_t sizes;        /* sizes it has taken, of those ever added to the history */
	uint64_t checkpoint; /* output before this offset is not needed to find the screen again */
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
 * Take all of it, unless that is an amount of work that everybody would notice: then the screen is that of
 * an earlier offset, as screen_offset() says. Returns NULL when there is none.
 */
struct screen *live_screen(struct live *l);

/*
 * Before which offset the ring may be overwritten: the screen has what was there, and so has a checkpoint.
 * May take one.
 */
uint64_t live_tail(struct live *l);

/*
 * Patience: how long a ring's writer may be kept waiting for viewers that do read. They are promised nothing, and get a
 * snapshot where they have been left behind; but one that was merely away for a moment, for the machine had others to
 * run, is better waited for. In all that takes PATIENCE_MS of a second at the most, so that a program hardly notices,
 * whoever watches. Pure: the caller tells the time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PATIENCE_MS 50u /* in a second, and at once */

/* That with one ring; zero is all of it. */
struct patience {
	int64_t spent_ns;   /* of it; more than all when it was looked at late */
	uint64_t looked_ns; /* when patience_lasts() was asked the last time */
	bool waits;         /* and the writer waited then */
};

/*
 * waits: the writer waits now, for viewers alone. Returns whether it may be kept waiting; to be asked again soon if so.
 * now_ns: never goes back.
 */
bool patience_lasts(struct patience *p, uint64_t now_ns, bool waits);

/*
 * Patience: how long a ring's writer may wait for viewers. Viewers that fall behind get a snapshot,
 * but waiting is better for one that was only not scheduled for a moment. In all the writer waits
 * at most PATIENCE_MS per second, which a program hardly notices. Pure: the caller passes the time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PATIENCE_MS 50u /* per second, and at once */

/* The budget of one ring. All zeros: unspent. */
struct patience {
	int64_t spent_ns;   /* may exceed the budget if checked late */
	uint64_t looked_ns; /* time of the last patience_allows_wait() */
	bool waits;         /* the writer waited at that time */
};

/*
 * Returns whether the writer may keep waiting; if so, call again soon. waits: the writer waits now,
 * for viewers alone. now_ns: monotonic.
 */
bool patience_allows_wait(struct patience *p, uint64_t now_ns, bool waits);

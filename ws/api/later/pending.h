/*
 * A request that is answered later: our reference to it, and a timer. It is a member of what remembers the rest, whose
 * memory lives until the timer is closed.
 */
#pragma once

#include "ws/request.h"

#include <stdint.h>
#include <uv.h>

struct pending {
	struct request *request; /* NULL once it has ended */
	uv_timer_t timer;
	void *user; /* what it is a member of */
	void (*due)(void *user);
	void (*closed)(void *user);
};

/* Begin. closed: the timer is closed, user's memory can go; NULL: user is given to free(). */
void pending_open(struct pending *p, uv_loop_t *loop, struct request *r, void *user,
	void (*closed)(void *user));

/* Call due() after so long, instead of what was to be called before. */
void pending_after(struct pending *p, uint64_t ms, void (*due)(void *user));

/* End: nothing is due any more. Returns the request, whose reference is the caller's now; NULL when it had ended. */
struct request *pending_take(struct pending *p);

/* The same, with the reference given back. */
void pending_end(struct pending *p);

/*
 * Turns at the loop, for work of some milliseconds that is done for those who came by links: one at a time for each
 * link, in order, the links round in turn, and after each as long a rest as it took. All of them together so have half
 * of the loop's time at most, and nobody waits behind somebody else's queue. Owners take none. Where the work is a thread's,
 * there are only so many turns at a time for all links together.
 */
#pragma once

#include "ws/auth/links.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct shift_taker;

/* Zeroed memory is nobody's turn. */
struct rota {
	uv_timer_t rest;
	struct shift_taker *takers; /* who has a turn or waits for one; the next in front */
	uint64_t rested_ns;         /* uv_hrtime(): when the rest is over */
	unsigned most,
		busy; /* turns at a time, of all links (0: any number); those that there are */
};

/* One turn; the memory is the taker's. */
struct shift {
	struct shift *prev, *next;
	struct rota *rota;
	struct shift_taker *taker; /* NULL: none, or over */
	void (*begin)(void *user);
	void *user;
	bool begun;
};

/* most: turns at a time; 0: one for each link. */
void rota_open(struct rota *t, uv_loop_t *loop, unsigned most);

/* No turn begins any more; those that are out may still end. The memory of t is free when the loop has turned. */
void rota_close(struct rota *t);

/* Returns 1: it has begun; 0: begin() follows, not from inside; -ENOMEM. */
int shift_take(struct rota *t, const char *link, struct shift *shift);

/* It is over, or given up. worked_ns: what it has had of the loop's time. */
void shift_end(struct shift *shift, uint64_t worked_ns);

/*
 * Turns for work that occupies the loop for some milliseconds on behalf of links: round robin over the links, one turn of a
 * link at a time, and after each turn a pause as long as the work. So all links together use at most half of the loop's
 * time, and no link waits for another link's queue. Owners need no turn. For work on threads, the number of simultaneous
 * turns of all links is limited instead.
 */
#pragma once

#include "ws/auth/links.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct shift_link;

/* The scheduler. */
struct rota {
	uv_timer_t rest;
	struct shift_link *takers; /* links that have a turn or wait for one; the next first */
	uint64_t rested_ns;        /* uv_hrtime() at the end of the pause */
	unsigned most;             /* simultaneous turns of all links; 0: no limit */
	unsigned busy;             /* turns now */
};

/* One turn; the memory is the caller's. Zeroed: none. */
struct shift {
	struct shift *prev, *next;
	struct rota *rota;
	struct shift_link *taker; /* NULL: none, or over */
	void (*begin)(void *user);
	void *user;
	bool begun;
};

/* Initialize. most: simultaneous turns of all links; 0: one for each link. */
void rota_open(struct rota *t, uv_loop_t *loop, unsigned most);

/* Begin no more turns; the present ones may still end. The memory of t may be freed after the loop has run again. */
void rota_close(struct rota *t);

/* Request a turn. Returns 1: it has begun; 0: shift->begin() is called later, not from inside; or -ENOMEM. */
int shift_request(struct rota *t, const char *link, struct shift *shift);

/* End a turn, or give up a request. worked_ns: the time of the loop that it used. */
void shift_end(struct shift *shift, uint64_t worked_ns);

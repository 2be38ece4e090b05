/* A request that is answered later, with a timer. The struct that embeds it must live until the timer is closed. */
#pragma once

#include "ws/request.h"

#include <stdint.h>
#include <uv.h>

/* A request and its timer. */
struct pending {
	struct request *request; /* our reference; NULL once it has ended */
	uv_timer_t timer;
	void *user; /* the struct that embeds it */
	void (*due)(void *user);
	void (*closed)(void *user);
};

/* Start. closed: the timer is closed, the memory of user can be freed; NULL: free(user) is called. */
void pending_open(struct pending *p, uv_loop_t *loop, struct request *r, void *user,
	void (*closed)(void *user));

/* Call due() after ms, in place of an earlier call that is still due. */
void pending_after(struct pending *p, uint64_t ms, void (*due)(void *user));

/* Close the timer. Returns the request with its reference; NULL if already ended. */
struct request *pending_take(struct pending *p);

/* Close the timer and release the request. */
void pending_end(struct pending *p);

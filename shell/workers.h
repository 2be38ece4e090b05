/*
 * Workers: threads for work that would keep the loop from carrying bytes. An errand is sent out, worked at by one of them,
 * and comes back to the loop, which owns what the errand is about before and after, but not in between.
 */
#pragma once

#include <stdbool.h>
#include <uv.h>

#define WORKERS_MAX 16u
#define WORKERS_PATIENCE 4u

struct workers;

/* Where an errand is: zeroed memory is one at home. */
enum errand_state { ERRAND_HOME, ERRAND_QUEUED, ERRAND_OUT, ERRAND_DONE };

struct errand {
	struct errand *prev, *next;
	enum errand_state state; /* guarded by the workers' lock */
	/* Others go first, up to WORKERS_PATIENCE of them. Set before it is sent; guarded by the lock until it is back. */
	bool patient;
	void (*work)(struct errand *errand); /* on a worker */
	void (*back)(struct errand *errand); /* on the loop, later */
};

/* Start so many threads, 1 to WORKERS_MAX. Returns owned, for workers_close(); NULL when there are none to be had. */
struct workers *workers_open(uv_loop_t *loop, unsigned threads);

/* Nothing may be out. The memory goes once the loop has closed the handle. NULL is fine. */
void workers_close(struct workers *w);

/* Send out an errand that is at home. */
void workers_send(struct workers *w, struct errand *errand);

/* Have it home: back() is not called any more. Waits for its work, if that has begun, which should be told before. */
void workers_recall(struct workers *w, struct errand *errand);

/* Let an errand that is out wait for no others any longer, if it is patient and its work has not begun. */
void workers_hurry(struct workers *w, struct errand *errand);

/* How many threads suit this machine: the loop has a processor for itself, if there are two. */
unsigned workers_suitable(void);

/*
 * Worker threads for work that would block the event loop. An errand (a job) is sent, a worker runs work(), and the
 * loop calls back(). In between, the data of the errand belong to the worker.
 */
#pragma once

#include <stdbool.h>
#include <uv.h>

#define WORKERS_MAX 16u
#define WORKERS_PATIENCE 4u

/* The threads and their queues; opaque. */
struct workers;

/* State of an errand; zeroed memory is at home. */
enum errand_state { ERRAND_HOME, ERRAND_QUEUED, ERRAND_OUT, ERRAND_DONE };

/* One job; embedded in the caller's struct. */
struct errand {
	struct errand *prev, *next;
	enum errand_state state; /* guarded by the workers' lock */
	/* Up to WORKERS_PATIENCE other errands go first. Set before it is sent; guarded by the lock while out. */
	bool patient;
	void (*work)(struct errand *errand); /* called on a worker thread */
	void (*back)(struct errand *errand); /* called on the loop, later */
};

/* Start this many threads, 1 to WORKERS_MAX. Returns them for workers_close(), or NULL if none could be started. */
struct workers *workers_open(uv_loop_t *loop, unsigned threads);

/* Stop. No errand may be out. The memory is freed once the loop has closed the handle. NULL is ok. */
void workers_close(struct workers *w);

/* Queue an errand that is at home. */
void workers_send(struct workers *w, struct errand *errand);

/* Bring an errand home without back(). Blocks until its work is done, if that has begun: tell it to stop before. */
void workers_recall(struct workers *w, struct errand *errand);

/* Make a queued patient errand a normal one. */
void workers_hurry(struct workers *w, struct errand *errand);

/* A suitable number of threads: all processors but one for the loop, at least 1. */
unsigned workers_suitable(void);

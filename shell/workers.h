/*
 * Worker threads for work that would block the event loop. An work_item (a job) is sent, a worker runs work(), and the
 * loop calls back(). In between, the data of the work_item belong to the worker.
 */
#pragma once

#include <stdbool.h>
#include <uv.h>

#define WORKERS_MAX 16u
#define WORKERS_PATIENCE 4u

/* The threads and their queues; opaque. */
struct workers;

/* State of an work_item; zeroed memory is at home. */
enum work_item_state { WORK_IDLE, WORK_QUEUED, WORK_RUNNING, WORK_DONE };

/* One job; embedded in the caller's struct. */
struct work_item {
	struct work_item *prev, *next;
	enum work_item_state state; /* guarded by the workers' lock */
	/* Up to WORKERS_PATIENCE other errands go first. Set before it is sent; guarded by the lock while out. */
	bool patient;
	void (*work)(struct work_item *work_item); /* called on a worker thread */
	void (*back)(struct work_item *work_item); /* called on the loop, later */
};

/* Start this many threads, 1 to WORKERS_MAX. Returns them for workers_close(), or NULL if none could be started. */
struct workers *workers_open(uv_loop_t *loop, unsigned threads);

/* Stop. No work_item may be out. The memory is freed once the loop has closed the handle. NULL is ok. */
void workers_close(struct workers *w);

/* Queue an work_item that is at home. */
void workers_queue(struct workers *w, struct work_item *work_item);

/* Bring an work_item home without back(). Blocks until its work is done, if that has begun: tell it to stop before. */
void workers_cancel(struct workers *w, struct work_item *work_item);

/* Make a queued patient work_item a normal one. */
void workers_prioritize(struct workers *w, struct work_item *work_item);

/* A suitable number of threads: all processors but one for the loop, at least 1. */
unsigned workers_suitable(void);

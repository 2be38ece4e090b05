/*
 * A document that is written off the loop, by libuv's threads, and is on the disk before anybody is told so. One write is
 * under way at a time; what is saved meanwhile is the next one, and only the newest is written.
 */
#pragma once

#include <jansson.h>
#include <uv.h>

/* It is on the disk, or error says why it is not. */
typedef void (*durable_done)(void *user, int error);

struct durable {
	uv_loop_t *loop;  /* NULL: there is none, and what is saved is written at once */
	int dir_fd;       /* borrowed */
	const char *name; /* of the file: a literal */
	uv_work_t work;
	json_t *writing, *next; /* documents: that the thread has, and that waits; owned */
	int error;              /* of the write under way */
	struct durable_waiter *told, *told_next; /* who wait for the two */
};

void durable_init(struct durable *d, uv_loop_t *loop, int dir_fd, const char *name);

/* What is under way has ended: the loop has run to its end. */
void durable_finish(struct durable *d);

/*
 * Write it. Takes document; NULL stands for one that there was no memory for. done: called once, later, or from inside
 * where there is no loop or no memory; NULL: nobody waits.
 */
void durable_save(struct durable *d, json_t *document, durable_done done, void *user);

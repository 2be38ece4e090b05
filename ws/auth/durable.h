/*
 * A JSON list that is written durably (with fsync) by libuv's thread pool. One write is under way at a time. Of the
 * documents that are saved meanwhile only the newest is written.
 */
#pragma once

#include <jansson.h>
#include <uv.h>

/* The document is on the disk (error is 0), or could not be written (a negative errno). */
typedef void (*durable_done)(void *user, int error);

/* A file with the documents that are being written to it. */
struct durable {
	uv_loop_t *loop;  /* NULL: write synchronously */
	int dir_fd;       /* borrowed */
	const char *name; /* of the file: a literal */
	uv_work_t work;
	json_t *writing, *next; /* the document that is being written, and the next; owned */
	int error;              /* of the present write */
	struct durable_waiter *told, *told_next; /* callbacks of the two */
};

/*
 * Initialize, and call add() with each entry of the file's list. dir_fd: borrowed. name: a literal. A file that is missing or
 * invalid counts as an empty list: the server starts without it rather than not at all. Returns 0 or a negative errno.
 */
int durable_open(struct durable *d, uv_loop_t *loop, int dir_fd, const char *name,
	void (*add)(void *user, json_t *entry), void *user);

/* Check that no write is under way: the loop has run to its end. */
void durable_finish(struct durable *d);

/*
 * Write a document. Takes document; NULL means that there was no memory for it. done: called once, later, or from inside
 * if there is no loop or no memory; may be NULL.
 */
void durable_save(struct durable *d, json_t *document, durable_done done, void *user);

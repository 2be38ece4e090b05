/*
 * Standard input that is written while the command reads it: the server's end of a FIFO (see fifo.h). What a reader does not take yet is the writer's to keep: nothing is
 * queued but the rest of one write.
 *
 * waiting (nobody reads yet; its reader is looked for once there is a writer) -> open -> ended, by its writer or because
 * nobody reads any more. One without a writer is given up after INLET_WRITER_MS: a command that has it comes to its end
 * then. One with a writer is given up when its FIFO is no more.
 */
#pragma once

#include "shell/output/fifo.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define INLETS_MAX 64u          /* at a time */
#define INLET_WRITER_MS 60000u  /* for a writer to come */
#define INLET_LOOK_FIRST_MS 2u  /* between looks for its reader, at first */
#define INLET_LOOK_LAST_MS 100u /* and in the end */

struct inlets;
struct inlet;

/* Of a writer. None of them comes from inside a call that it made; after ended() the inlet is gone. */
struct inlet_callbacks {
	/* What was held has gone: more may be written. */
	void (*drained)(void *user);
	/* It is over. bytes: how many its reader may have got; refused: nobody reads any more, before all was written. */
	void (*ended)(void *user, uint64_t bytes, bool refused);
};

/*
 * Begin, without what an earlier server has left in runtime_dir (borrowed). writer_ms: INLET_WRITER_MS. Returns 0 or a negative
 * errno.
 */
int inlets_open(
	uv_loop_t *loop, const char *runtime_dir, unsigned writer_ms, struct inlets **ret_inlets);

/* Their readers come to an end of the input; nobody is called. NULL is fine. Memory is freed when the loop has turned. */
void inlets_close(struct inlets *all);

/* Make one. Returns 0 or a negative errno: -EUSERS, there are too many. */
int inlet_create(struct inlets *all, char ret_id[FIFO_ID_SIZE]);

/* The one with this id, or NULL. */
struct inlet *inlet_find(const struct inlets *all, const char *id);

/*
 * The end that a command reads, for one who gives it a descriptor, once: afterwards nobody finds the FIFO by its name. The
 * caller closes it. Returns a descriptor or a negative errno: -ENOENT, it was taken.
 */
int inlet_reader(struct inlet *i);

/* Become its writer. Returns 0 or -EBUSY: it has one. */
int inlet_write_begin(struct inlet *i, const struct inlet_callbacks *callbacks, void *user);

/*
 * Write. Returns 0 when the FIFO has it all, -EAGAIN when the rest is held: then nothing may be written before drained(), or
 * -ENOMEM, which loses it. That nobody reads is told by ended().
 */
int inlet_write(struct inlet *i, const void *bytes, size_t length);

/* That was all: ended() follows when its reader has it. listen: false when the writer has gone, and is not to be called. */
void inlet_write_end(struct inlet *i, bool listen);

/*
 * Inlet: standard input that a client writes while the command reads it; the server's end of a FIFO
 * (see fifo.h). At most the rest of one write is queued; the client must wait before it writes
 * more.
 *
 * An inlet goes waiting (no reader yet) -> open -> ended, by the writer or because the reader is
 * gone. Without a writer it is given up after INLET_WRITER_MS; a command that has the FIFO then
 * reads EOF. With a writer but no reader, it is given up when its FIFO is removed.
 */
#pragma once

#include "shell/output/fifo.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define INLETS_MAX 64u          /* at a time */
#define INLET_WRITER_MS 60000u  /* to wait for a writer */
#define INLET_LOOK_FIRST_MS 2u  /* first interval between attempts to open the FIFO */
#define INLET_LOOK_LAST_MS 100u /* longest interval */

struct inlets;
struct inlet;

/*
 * Callbacks of a writer, never called from inside its own calls. After ended() the inlet is freed.
 */
struct inlet_callbacks {
	/* The queue is empty: more may be written. */
	void (*drained)(void *user);
	/* It is over. bytes: that were written; refused: the reader left before the end. */
	void (*ended)(void *user, uint64_t bytes, bool refused);
};

/*
 * Create the set of inlets and remove FIFOs of an earlier server. runtime_dir: borrowed. writer_ms:
 * INLET_WRITER_MS, less in tests. Returns 0 or a negative errno.
 */
int inlets_open(
	uv_loop_t *loop, const char *runtime_dir, unsigned writer_ms, struct inlets **ret_inlets);

/* End all inlets without callbacks; readers get EOF. NULL is fine. The loop frees the memory. */
void inlets_close(struct inlets *all);

/* Create an inlet. Returns 0 or a negative errno: -ERR_LIMIT if there are INLETS_MAX. */
int inlet_create(struct inlets *all, char ret_id[FIFO_ID_SIZE]);

/* The number of inlets. */
unsigned inlets_count(const struct inlets *all);

/* The inlet with this id, or NULL. */
struct inlet *inlet_find(const struct inlets *all, const char *id);

/*
 * The reading end, to pass to a command; works once, because it removes the FIFO's name. Returns a
 * descriptor that the caller owns, or a negative errno: -ENOENT if the FIFO was taken already.
 */
int inlet_reader(struct inlet *i);

/* Become the writer. callbacks: borrowed. Returns 0, or -EBUSY if there is or was one. */
int inlet_write_begin(struct inlet *i, const struct inlet_callbacks *callbacks, void *user);

/*
 * Write. Returns 0 when the FIFO has it all; -EAGAIN when the rest is queued: do not write before
 * drained(); or -ENOMEM when the rest is lost. A missing reader is reported by ended().
 */
int inlet_write(struct inlet *i, const void *bytes, size_t length);

/* End the input; ended() follows once the FIFO has it all. listen: false for no more callbacks. */
void inlet_write_end(struct inlet *i, bool listen);

/*
 * Checkpoints: screens that a server stores in the control memfd, behind its first page, for the
 * next server. Two slots are written in turn, so one is whole at any instant, even if the server is
 * killed while writing.
 */
#pragma once

#include "ring/control.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A checkpoint: a snapshot of the screen and where in the output it was taken. */
struct checkpoint {
	uint64_t offset;     /* of the session's output */
	unsigned rows, cols; /* of the terminal at that offset */
	const void *bytes;   /* borrowed by checkpoint_write() */
	size_t length;
};

/* Largest length of a checkpoint in bytes; 0 if the memfd has no space for checkpoints. */
size_t checkpoint_capacity(const struct control *c);

/* Overwrite the older slot. Returns false if the checkpoint does not fit. */
bool checkpoint_write(const struct control *c, const struct checkpoint *checkpoint);

/*
 * Copy the newest whole checkpoint, because other processes can write the memfd.
 * ret_checkpoint->bytes points to *ret_bytes, which the caller frees. Returns false if there is
 * none or memory is short.
 */
bool checkpoint_find(const struct control *c, struct checkpoint *ret_checkpoint, void **ret_bytes);

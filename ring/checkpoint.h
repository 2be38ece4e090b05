/*
 * Checkpoints: bytes that a server leaves in the control memfd, behind its first page, for the one that
 * comes after it. There are two slots and they are written in turn, so that one is whole at any instant,
 * even if the server is killed while it writes the other.
 */
#pragma once

#include "ring/control.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a checkpoint says of itself. */
struct checkpoint {
	uint64_t offset;     /* of the session's output that it stands for */
	unsigned rows, cols; /* of the terminal there */
	const void *bytes;   /* borrowed, of one that is written */
	size_t length;
};

/* The most bytes that one can have; 0: there is no room for any. */
size_t checkpoint_room(const struct control *c);

/* Write one over the older of the two. Returns false when there is no room for it. */
bool checkpoint_write(const struct control *c, const struct checkpoint *checkpoint);

/*
 * The newest that is whole, copied, for whoever has the memfd can write it. *ret_bytes is the caller's to free, and is what
 * its bytes are. Returns false when there is none, or no memory for it.
 */
bool checkpoint_find(const struct control *c, struct checkpoint *ret_checkpoint, void **ret_bytes);

/*
 * Frozen lines: the older part of a scrollback, in blocks that are compressed. Lines go by their number, which counts up for
 * ever. Few blocks are kept as they are read, which is what a look at lines needs that goes from one to the next.
 */
#pragma once

#include "ring/screen/grid/block.h"

#define FROZEN_READ \
	2u /* blocks that are kept read; so the last two lines that were asked for are there */

struct frozen;

/* What it takes, and what went: bytes of memory, and of the lines as if each was packed for itself. */
struct frozen_weight {
	size_t memory, bytes;
};

struct frozen *frozen_create(void); /* NULL when memory is short */
void frozen_destroy(struct frozen *f);

/* Take a block, whose first line has number `first`, and the last the one before `end`. Returns whether there was memory. */
bool frozen_append(
	struct frozen *f, struct block *block, uint64_t first, uint64_t end, size_t bytes);

/*
 * A line, borrowed until two others have been asked for. ret_end: number behind the last that is the same. NULL: memory was
 * short, or the block is damaged; frozen_failed() says so from now on.
 */
struct packed *frozen_get(struct frozen *f, uint64_t number, uint64_t *ret_end);
bool frozen_failed(const struct frozen *f);

/* The same of a line that nobody has asked for: it is not told that it could not be read. */
struct packed *frozen_look(struct frozen *f, uint64_t number, uint64_t *ret_end);

/* Lines before this one have gone: so do the blocks that have no others, of which it returns the weight. */
struct frozen_weight frozen_drop(struct frozen *f, uint64_t oldest);

/* Number behind the last line of the oldest block. There is one. */
uint64_t frozen_first_end(const struct frozen *f);

/* Lines of the oldest block that have gone count until this is called. Returns their bytes; they cannot be told without memory. */
size_t frozen_count(struct frozen *f, uint64_t oldest);

/* A line does not continue the one above it any more. Without memory it does. */
struct frozen_weight frozen_unwrap(struct frozen *f, uint64_t number);

/* Let go of what has been read, and of having failed. */
void frozen_rest(struct frozen *f);

/* Bytes of its blocks, of all their lines as above, and of what it takes beside its blocks. */
size_t frozen_stored(const struct frozen *f);
size_t frozen_bytes(const struct frozen *f);
size_t frozen_beside(const struct frozen *f);

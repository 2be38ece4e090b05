/*
 * Frozen lines: the older part of a scrollback, in compressed blocks. Lines are addressed by a
 * number that counts up for ever. A few decompressed blocks are cached, which suits sequential
 * reading.
 */
#pragma once

#include "ring/screen/grid/block.h"

/* Decompressed blocks in the cache. The last two lines returned stay valid. */
#define FROZEN_CACHED 2u

/* The frozen lines of one scrollback. */
struct frozen;

/* memory: bytes of memory. bytes: bytes of the lines, each counted as if packed on its own. */
struct frozen_weight {
	size_t memory, bytes;
};

/* Returns NULL if memory is short. */
struct frozen *frozen_create(void);

/* Destroy with all blocks; NULL is allowed. */
void frozen_destroy(struct frozen *f);

/*
 * Append a block with lines [first, end), owned by f on success. bytes: as in struct frozen_weight.
 * Returns false if memory is short.
 */
bool frozen_append(
	struct frozen *f, struct block *block, uint64_t first, uint64_t end, size_t bytes);

/*
 * A line, borrowed until two others are requested. *ret_end: number after the last repetition.
 * Returns NULL if memory is short or the block is damaged, which frozen_failed() reports from then
 * on.
 */
struct packed *frozen_get(struct frozen *f, uint64_t number, uint64_t *ret_end);

/* Whether frozen_get() has failed since the last frozen_drop_cache(). */
bool frozen_failed(const struct frozen *f);

/* Like frozen_get(), but a failure is not recorded. */
struct packed *frozen_peek(struct frozen *f, uint64_t number, uint64_t *ret_end);

/* Drop lines before `oldest`, and free blocks without remaining lines. Returns what was freed. */
struct frozen_weight frozen_drop(struct frozen *f, uint64_t oldest);

/* Number after the last line of the oldest block. There must be a block. */
uint64_t frozen_first_end(const struct frozen *f);

/*
 * Subtract dropped lines of the oldest block, which count until then. Returns their bytes; 0 if the
 * block cannot be read.
 */
size_t frozen_count_dropped(struct frozen *f, uint64_t oldest);

/* Clear a line's wrap flag. Returns the change in size. Without memory nothing changes. */
struct frozen_weight frozen_unwrap(struct frozen *f, uint64_t number);

/* Empty the cache and reset frozen_failed(). */
void frozen_drop_cache(struct frozen *f);

/* Memory of all blocks in bytes. */
size_t frozen_stored(const struct frozen *f);

/* Bytes of all lines, each counted as if packed on its own. */
size_t frozen_bytes(const struct frozen *f);

/* Memory in bytes besides the blocks: tables and cache. */
size_t frozen_overhead(const struct frozen *f);

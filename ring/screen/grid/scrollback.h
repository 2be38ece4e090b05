/*
 * Scrollback: packed lines that have left the screen at its top. The oldest are dropped when there
 * are too many lines or bytes. Equal lines appended together are stored once. Older lines may be
 * frozen: compressed in blocks, which are read on demand.
 */
#pragma once

#include "ring/screen/grid/frozen.h"
#include "ring/screen/grid/intern.h"
#include "ring/screen/grid/packing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCROLLBACK_LINE_BYTES 1024u /* most bytes per line, on average */

/* Memory for lines. */
struct scrollback_chunk;

/* Location and size of equal lines. Separate, so that dropping lines does not touch them. */
struct scrollback_entry {
	struct packed *line;
	uint32_t end; /* number after the last of the lines, modulo 2^32 */
	uint32_t size;
};

/* The lines above a screen. */
struct scrollback {
	struct scrollback_entry *entries; /* circular */
	size_t capacity;                  /* a power of two, or 0 */
	size_t first;                     /* index of the oldest entry */
	unsigned used;                    /* entries */
	unsigned count, max;              /* lines */
	uint64_t number;                  /* number of the oldest line; counts up for ever */
	/* bytes of all lines, each counted as if stored on its own */
	size_t bytes;
	size_t stored;         /* bytes of all entries and blocks */
	struct frozen *frozen; /* the oldest lines; NULL: none is frozen */
	/* lines in `frozen`; entries cover the lines after them */
	unsigned frozen_lines;
	struct scrollback_chunk *oldest, *newest; /* list of chunks */
	struct scrollback_chunk *spare;           /* an empty chunk, or NULL */
	uint64_t dropped;                         /* lines dropped since the beginning */
	struct intern *styles, *clusters; /* tables notified of uses by new lines; or NULL */
};

/* Initialise with a limit of max lines. */
void scrollback_init(struct scrollback *b, unsigned max);

/* Initialise an empty scrollback that continues the numbers of an old one. */
void scrollback_init_behind(struct scrollback *b, const struct scrollback *old);

/* Free all lines. */
void scrollback_finish(struct scrollback *b);

/* Append a packed copy of a line. Returns false if memory is short; then it is dropped. */
bool scrollback_push(struct scrollback *b, const struct line *line);

/* Append n equal lines, which take the memory of one. */
bool scrollback_push_many(struct scrollback *b, const struct line *line, uint64_t n);

/* Append a line that is being packed. */
bool scrollback_put_packing(struct scrollback *b, const struct packing *from);

/* Drop all lines, and count n more lines as dropped. */
void scrollback_skip(struct scrollback *b, uint64_t n);

/* Clear the wrap flag of line i. Without memory nothing changes. */
void scrollback_unwrap(struct scrollback *b, size_t i);

/* Append a copy of a packed line. */
bool scrollback_put(struct scrollback *b, const struct packed *p);

/*
 * Line i, 0 being the oldest. Borrowed until two others have been requested or the scrollback
 * changes. If its block cannot be read, returns an empty line, and scrollback_is_whole() reports
 * that.
 */
struct packed *scrollback_get(const struct scrollback *b, size_t i);

/* Whether all lines requested since the last scrollback_drop_cache() could be read. */
bool scrollback_is_whole(const struct scrollback *b);

/* Free decompressed blocks. Invalidates lines returned by scrollback_get(). */
void scrollback_drop_cache(const struct scrollback *b);

/* Whether unfrozen lines of `bytes` bytes exist before the newest `keep` entries. */
bool scrollback_can_freeze(const struct scrollback *b, unsigned keep, size_t bytes);

/*
 * Freeze old lines in at most `most` blocks of up to `bytes` bytes, at most BLOCK_BYTES. Returns
 * the number of blocks; 0 if memory is short.
 */
unsigned scrollback_freeze(struct scrollback *b, unsigned keep, size_t bytes, unsigned most);

/* Thaw all lines. Returns false if memory is short; then nothing changes. */
bool scrollback_thaw(struct scrollback *b);

/* Drop the oldest n lines. */
void scrollback_drop(struct scrollback *b, unsigned n);

/* Approximate memory in bytes. */
size_t scrollback_memory(const struct scrollback *b);

/* Free spare capacity, as far as memory allows. */
void scrollback_shrink(struct scrollback *b);

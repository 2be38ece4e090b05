/*
 * Scrollback: the lines that have left the screen at its top, packed: text as UTF-8, styles as runs. The
 * oldest go when there are too many lines or too many bytes of them. Lines that came at once and are all the same are
 * there once. Older lines may be frozen: compressed, in blocks, which are read when one of their lines is asked for.
 */
#pragma once

#include "ring/screen/grid/frozen.h"
#include "ring/screen/grid/intern.h"
#include "ring/screen/grid/packing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCROLLBACK_LINE_BYTES 1024u /* a scrollback of n lines takes at most n of this */

struct scrollback_chunk;

/* Where lines that are all the same are, and how long: those that go must not be fetched into the cache for that. */
struct scrollback_entry {
	struct packed *line;
	uint32_t end; /* number of the line behind the last of them, modulo 2^32 */
	uint32_t size;
};

struct scrollback {
	struct scrollback_entry *entries; /* circular */
	size_t capacity;                  /* a power of two, or 0 */
	size_t first;                     /* entry */
	unsigned used;                    /* entries */
	unsigned count, max;              /* lines */
	uint64_t number;                  /* of the oldest line; counts on for ever */
	size_t bytes;                     /* of all lines, as if each was there for itself */
	size_t stored;                    /* of all entries and of the blocks */
	struct frozen *frozen;            /* the oldest lines; NULL: none is frozen */
	unsigned frozen_lines;            /* in it; the entries are of those behind them */
	struct scrollback_chunk *oldest, *newest; /* what the lines are in */
	struct scrollback_chunk *spare;           /* kept for the next one, or NULL */
	uint64_t dropped;                         /* lines that have gone at the old end, ever */
	struct intern *styles, *clusters; /* which are told of the lines that use them; or NULL */
};

void scrollback_init(struct scrollback *b, unsigned max);
/* An empty one that goes on behind another one, which is finished later. */
void scrollback_init_behind(struct scrollback *b, const struct scrollback *old);
void scrollback_finish(struct scrollback *b);

/* Append a copy of a line; the oldest give way. Returns whether there was memory; otherwise it is dropped. */
bool scrollback_push(struct scrollback *b, const struct line *line);

/* The same for many lines that are all like this one; they take no more than one does. */
bool scrollback_push_many(struct scrollback *b, const struct line *line, uint64_t n);

/* The same for a line that is being packed. */
bool scrollback_put_packing(struct scrollback *b, const struct packing *from);

/* As many lines came and went that there is no other one left. */
void scrollback_pass(struct scrollback *b, uint64_t n);

/* Line i does not continue the one above it any more. Without memory it stays as it is. */
void scrollback_unwrap(struct scrollback *b, size_t i);

/* The same for a line that is packed already. */
bool scrollback_put(struct scrollback *b, const struct packed *p);

/*
 * Line i, 0 being the oldest. Borrowed until two others have been asked for, or the scrollback changes. When a block cannot
 * be read for want of memory the line is an empty one, and scrollback_is_whole() says so.
 */
struct packed *scrollback_get(const struct scrollback *b, size_t i);

/* Whether all lines that have been asked for since the last scrollback_rest() could be had. */
bool scrollback_is_whole(const struct scrollback *b);

/* Let go of the blocks that have been read: to be called when nothing that has been got is needed any more. */
void scrollback_rest(const struct scrollback *b);

/*
 * Whether there are older lines of so many bytes that are not frozen, the newest `keep` not counted, of which those that
 * are the same count as one.
 */
bool scrollback_may_freeze(const struct scrollback *b, unsigned keep, size_t bytes);

/*
 * Freeze them, in blocks of so many bytes, BLOCK_BYTES at most; `most` of them at once. Returns how many that were: none
 * when memory is short.
 */
unsigned scrollback_freeze(struct scrollback *b, unsigned keep, size_t bytes, unsigned most);

/* No line is frozen any more. Returns whether there was memory; otherwise nothing has changed. */
bool scrollback_thaw(struct scrollback *b);

/* Remove n of the oldest. */
void scrollback_drop(struct scrollback *b, unsigned n);

/* Bytes of memory, about. */
size_t scrollback_memory(const struct scrollback *b);

/* Give back what is kept for more lines. Without memory some of it stays. */
void scrollback_shrink(struct scrollback *b);

/*
 * Scrollback: the lines that have left the screen at its top, packed: text as UTF-8, styles as runs. The
 * oldest go when there are too many lines or too many bytes of them. Lines that came at once and are all the same are
 * there once.
 */
#pragma once

#include "ring/screen/grid/intern.h"
#include "ring/screen/grid/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCROLLBACK_LINE_BYTES 1024u /* a scrollback of n lines takes at most n of this */

/* A stretch of cells in one style. */
struct packed_run {
	uint32_t style;
	uint32_t cells;
};

/* A packed line; scrollback_unpack() and packed_* read it. */
struct packed {
	uint64_t offset;  /* of the output byte that it began with */
	uint32_t bytes;   /* of text behind the runs */
	uint16_t runs;    /* 0: all in the default style */
	uint16_t extent;  /* cells up to the last that is not untouched */
	uint16_t trimmed; /* columns up to the last with content */
	bool wrapped;
	bool odd; /* not all of the text is plain UTF-8 */
	struct packed_run run[];
};

/*
 * Text of a packed line: UTF-8 of a cell's character, narrow unless PACKED_WIDE comes before it (then it
 * takes two cells); PACKED_BLANK for a cell without content; PACKED_RAW and four bytes for anything else.
 */
enum { PACKED_BLANK = 0, PACKED_RAW = 1, PACKED_WIDE = 2 };

struct scrollback_chunk;

/* Where lines that are all the same are, and how long: those that go must not be fetched into the cache for that. */
struct scrollback_entry {
	struct packed *line;
	struct scrollback_chunk *chunk; /* that it lies in */
	uint64_t end;                   /* number of the line behind the last of them */
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
	size_t stored;                    /* of all entries */
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

/* A packed copy of a line, on the heap; NULL when memory is short. */
struct packed *scrollback_pack(const struct line *line);

/* The same for many lines that are all like this one; they take no more than one does. */
bool scrollback_push_many(struct scrollback *b, const struct line *line, uint64_t n);

/* Line i does not continue the one above it any more. Without memory it stays as it is. */
void scrollback_unwrap(struct scrollback *b, size_t i);

/* The same for a line that is packed already. */
bool scrollback_put(struct scrollback *b, const struct packed *p);

/* Line i, 0 being the oldest. Borrowed. */
struct packed *scrollback_get(const struct scrollback *b, size_t i);

/* Remove n of the oldest. */
void scrollback_drop(struct scrollback *b, unsigned n);

/* Make a line of `length` cells of it; NULL when memory is short. */
struct line *scrollback_unpack(const struct packed *p, unsigned length);

/* Put it into a blank line, as far as there is room. */
void scrollback_unpack_to(const struct packed *p, struct line *line);

static inline const uint8_t *packed_text(const struct packed *p)
{
	return (const uint8_t *)(p->run + p->runs);
}

/* The next cell of a packed line's text; *ret_cells: 1, or 2 for a wide character. Moves *at. */
struct cell packed_next(const uint8_t **at, unsigned *ret_cells);

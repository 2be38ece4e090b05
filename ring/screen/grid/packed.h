/*
 * Packed lines, as the scrollback has them: text as UTF-8, styles as runs. One of more than PACKED_CELLS_MAX cells is cut.
 */
#pragma once

#include "ring/screen/grid/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKED_CELLS_MAX 1024u

/* A stretch of cells in one style. */
struct packed_run {
	uint32_t style;
	uint32_t cells;
};

/* A packed line; packed_line() and packed_* read it. */
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

static inline size_t packed_size(const struct packed *p)
{
	return sizeof *p + p->runs * sizeof *p->run + p->bytes;
}

/* Make a line of `length` cells of it; NULL when memory is short. */
struct line *packed_unpack(const struct packed *p, unsigned length);

/* Put it into a blank line, as far as there is room. */
void packed_unpack_to(const struct packed *p, struct line *line);

static inline const uint8_t *packed_text(const struct packed *p)
{
	return (const uint8_t *)(p->run + p->runs);
}

/* The next cell of a packed line's text; *ret_cells: 1, or 2 for a wide character. Moves *at. */
struct cell packed_next(const uint8_t **at, unsigned *ret_cells);

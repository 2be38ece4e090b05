/*
 * Packed lines, the format of the scrollback: text as UTF-8, styles as runs. Cells beyond
 * PACKED_CELLS_MAX are cut off.
 */
#pragma once

#include "ring/screen/grid/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKED_CELLS_MAX 1024u

/* Adjacent cells in one style. */
struct packed_run {
	uint32_t style;
	uint32_t cells;
};

/* A packed line, followed by its text. */
struct packed {
	uint64_t offset;  /* offset of the output byte that it began with */
	uint32_t bytes;   /* bytes of text after the runs */
	uint16_t runs;    /* 0: all cells in the default style */
	uint16_t extent;  /* cells up to the last that is not untouched */
	uint16_t trimmed; /* columns up to the last with content */
	bool wrapped;
	bool odd; /* the text is not plain UTF-8 */
	struct packed_run run[];
};

/*
 * Text of a packed line: UTF-8 of a cell's character, which is narrow unless PACKED_WIDE precedes
 * it (then it takes two cells); PACKED_BLANK for a cell without content; PACKED_RAW and four bytes
 * for anything else.
 */
enum { PACKED_BLANK = 0, PACKED_RAW = 1, PACKED_WIDE = 2 };

/* Size in bytes, text included. */
static inline size_t packed_size(const struct packed *p)
{
	return sizeof *p + p->runs * sizeof *p->run + p->bytes;
}

/* Size rounded up, so that another packed line can follow. */
static inline size_t packed_align(size_t size)
{
	return (size + _Alignof(struct packed) - 1) & ~(_Alignof(struct packed) - 1);
}

/* Unpack the cells up to the last that is not untouched, at most max. Returns their number. */
unsigned packed_cells(const struct packed *p, struct cell *cells, unsigned max);

/* Unpack into a new line of `length` cells; NULL if memory is short. */
struct line *packed_unpack(const struct packed *p, unsigned length);

/* Unpack into a blank line, as far as it fits. */
void packed_unpack_to(const struct packed *p, struct line *line);

/* The text. */
static inline const uint8_t *packed_text(const struct packed *p)
{
	return (const uint8_t *)(p->run + p->runs);
}

/* Decode the next cell and advance *at. *ret_cells: 1, or 2 for a wide character. */
struct cell packed_next(const uint8_t **at, unsigned *ret_cells);

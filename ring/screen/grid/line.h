/*
 * A line of the grid and operations on its cells. If a wide character loses a half, the other half
 * becomes blank, in the same cases and in the same style as in xterm.js.
 */
#pragma once

#include "ring/screen/grid/cell.h"
#include "ring/screen/grid/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line. Reference-counted: a shared line must not change. */
struct line {
	uint64_t offset;  /* offset of the output byte that it began with */
	uint64_t version; /* version of the screen when it last changed */
	unsigned length;  /* cells; may exceed the screen's columns after narrowing */
	unsigned used;    /* cells from here on are untouched */
	bool wrapped;     /* it continues the line above */
	unsigned shares;  /* further references; the line must not change unless 0 */
	struct cell cells[];
};

/* Create a blank line; NULL if memory is short. */
struct line *line_create(unsigned length);

/* Drop a reference; the last one frees the line. NULL is allowed. */
void line_unref(struct line *line);

/* Copy another line into a blank line, as far as it fits. */
void line_copy(struct line *to, const struct line *from);

/* Set all cells. */
void line_fill(struct line *line, struct cell cell);

/* Set cells [start, end), limited to the length. Does not touch halves of wide characters. */
void line_set(struct line *line, unsigned start, unsigned end, struct cell cell);

/* Set one cell. Ignored beyond the end. */
static inline void line_put(struct line *line, unsigned at, struct cell cell)
{
	if (at >= line->length)
		return;
	line->cells[at] = cell;
	if (at >= line->used)
		line->used = at + 1;
}

/* ICH: insert n blank cells at pos, which is below the length. */
void line_insert(struct line *line, unsigned pos, unsigned n, struct cell blank);

/* DCH: delete n cells at pos, which is below the length. Blank cells come in at the end. */
void line_delete(struct line *line, unsigned pos, unsigned n, struct cell blank);

/* Erase cells [start, end). protect: the screen's styles to spare protected cells, or NULL. */
void line_erase(struct line *line, unsigned start, unsigned end, struct cell blank,
	const struct intern *protect);

/* Columns up to the last cell with content. */
unsigned line_trimmed(const struct line *line);

/* Cells up to the last one that is not untouched. */
unsigned line_extent(const struct line *line);

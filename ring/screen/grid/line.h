/*
 * A line of the grid, and what can be done to its cells. Where a wide character loses a half, the other
 * half becomes blank, in the cases and in the style in which xterm.js does it.
 */
#pragma once

#include "ring/screen/grid/cell.h"
#include "ring/screen/grid/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line {
	uint64_t offset;  /* of the output byte that it began with */
	uint64_t version; /* of the screen when it last changed */
	unsigned length; /* cells; may be more than the screen has columns, for those came back once */
	unsigned used;   /* cells from here on are untouched */
	bool wrapped;    /* it continues the line above */
	unsigned shares; /* who else refers to it: then it may not change */
	struct cell cells[];
};

/* A blank one; NULL when memory is short. */
struct line *line_create(unsigned length);

/* One that refers to it less; the last one frees it. NULL is fine. */
void line_unref(struct line *line);

/* Put what another one has into a blank line, as far as there is room. */
void line_copy(struct line *to, const struct line *from);

/* All cells become this one. */
void line_fill(struct line *line, struct cell cell);

/* Cells [start, end), as far as there are any; nothing else. */
void line_set(struct line *line, unsigned start, unsigned end, struct cell cell);

/* Put one cell; nothing happens behind the end. */
static inline void line_put(struct line *line, unsigned at, struct cell cell)
{
	if (at >= line->length)
		return;
	line->cells[at] = cell;
	if (at >= line->used)
		line->used = at + 1;
}

/* ICH, DCH: n cells at pos, which is below the length; blank is what comes in. */
void line_insert(struct line *line, unsigned pos, unsigned n, struct cell blank);
void line_delete(struct line *line, unsigned pos, unsigned n, struct cell blank);

/* Erase [start, end). protect: the screen's styles if protected cells are to be spared, or NULL. */
void line_erase(struct line *line, unsigned start, unsigned end, struct cell blank,
	const struct intern *protect);

/* Columns up to the last cell with content, and up to the last that is not untouched. */
unsigned line_trimmed(const struct line *line);
unsigned line_extent(const struct line *line);

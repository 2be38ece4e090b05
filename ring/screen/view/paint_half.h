/*
 * Draws lone halves of wide characters and what is left of them, the way they come about. The
 * painter draws the rest of a row, from left to right.
 */
#pragma once

#include "ring/screen/view/paint.h"

#define PAINT_WIDE "\xe3\x80\x80" /* an ideographic space: wide */

/* Whether erasing produces an empty cell of this style. */
bool paint_half_is_erased(const struct style *style);

/* Draw an empty cell that erasing cannot produce, not in the last column. Clears the next. */
void paint_half_blank(struct painter *p, const struct style *style, unsigned at);

/* Whether the last of cols columns is such a cell. */
bool paint_half_is_edge(
	const struct painter *p, const struct cell *cells, unsigned extent, unsigned cols);

/*
 * Draw such a cell in the last column, before the row is drawn from column `at` on. If the rest of
 * the row would overwrite it, only its background is drawn. The cursor stays.
 */
void paint_half_edge(struct painter *p, const struct cell *cells, unsigned at, unsigned cols);

/*
 * Draw a lone second half of a wide character, with an empty cell before it. Omitted in the first
 * and the last two columns.
 */
void paint_half_tail(struct painter *p, const struct cell *cells, unsigned at, unsigned cols);

/*
 * Whether a lone first half of a wide character is here, followed by an empty cell or a narrow
 * character in its style, as narrowing and widening leaves it.
 */
bool paint_half_is_head(const struct cell *cells, unsigned at, unsigned extent);

/* Draw it. Nothing may be right of it yet. Returns columns from the cursor to its end. */
unsigned paint_half_head(
	struct painter *p, const struct cell *cells, unsigned at, unsigned extent, unsigned cols);

/* Whether the edge or another character takes the place of the second half. */
bool paint_half_is_cut(const struct cell *cells, unsigned at, unsigned extent, unsigned cols);

/*
 * Halves of wide characters without the other half, and what is left of them: made the way they came about. The painter
 * draws the rest of the row, from left to right.
 */
#pragma once

#include "ring/screen/view/paint.h"

#define PAINT_WIDE "\xe3\x80\x80" /* a wide character */

/* Whether erasing leaves an empty cell that looks like this. */
bool paint_half_is_erased(const struct style *style);

/* An empty cell in a style that no erasing leaves, in any column but the last. The next one is cleared. */
void paint_half_blank(struct painter *p, const struct style *style, unsigned at);

/* Whether the last of cols columns is such a cell. */
bool paint_half_is_edge(
	const struct painter *p, const struct cell *cells, unsigned extent, unsigned cols);

/*
 * Such a cell in the last column, before the rest of the row is drawn, from column `at` on, where the cursor stays. What
 * does not let it be has its background.
 */
void paint_half_edge(struct painter *p, const struct cell *cells, unsigned at, unsigned cols);

/*
 * The second half of a wide character whose first is gone, as inserting between them leaves it; before it
 * there is an empty cell. Where it is the first or one of the last two of a row, it is left out.
 */
void paint_half_tail(struct painter *p, const struct cell *cells, unsigned at, unsigned cols);

/*
 * The first half of a wide character, and then, in its style, an empty cell or another character: what a narrower and then
 * a wider screen leaves.
 */
bool paint_half_is_head(const struct cell *cells, unsigned at, unsigned extent);

/* Draw it. Nothing may be drawn to the right of it yet. Returns by how much the cursor is left of what was drawn. */
unsigned paint_half_head(
	struct painter *p, const struct cell *cells, unsigned at, unsigned extent, unsigned cols);

/* There is no room for the second half of a wide character: the edge or another character is in its place. */
bool paint_half_is_cut(const struct cell *cells, unsigned at, unsigned extent, unsigned cols);

/* Our screen and the second one, side by side: the text of each cell, and the cursor. */
#pragma once

#include "second.h"

#include "ring/screen/screen_internal.h"

struct difference {
	bool text, cursor;
	unsigned row, col; /* of the first cell that differs */
	unsigned ours[2];  /* the cursor: row, column */
	unsigned theirs[2];
};

/* Compare rows [first, end) and the cursor. */
struct difference compare(
	const struct screen *s, const struct second *v, unsigned first, unsigned end);

/* The one of these characters that is written for all that are as wide, where the two count differently. */
uint32_t compare_stand_in(uint32_t code);

/*
 * Code points of a cell of ours, as the second terminal has them: none for a blank one, a second half, and a mark that has joined
 * nothing. A first half on its own is narrow there. Returns how many.
 */
unsigned compare_cell(
	const struct screen *s, unsigned row, unsigned col, uint32_t ret_codes[SCREEN_CLUSTER_MAX]);

/* Say what differs. */
void compare_explain(const struct screen *s, const struct second *v, const struct difference *d);

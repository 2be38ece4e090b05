/* Compares our screen with libvterm's: the text of each cell, and the cursor. */
#pragma once

#include "second.h"

#include "ring/screen/screen_internal.h"

struct difference {
	bool text, cursor;
	unsigned row, col; /* the first cell that differs */
	unsigned ours[2];  /* the cursor: row, column */
	unsigned theirs[2];
};

/* Compare rows [first, end) and the cursor. */
struct difference compare(
	const struct screen *s, const struct second *v, unsigned first, unsigned end);

/* A replacement with the same width, for characters that the terminals count differently. */
uint32_t compare_stand_in(uint32_t code);

/*
 * The code points of our cell as libvterm has them: none for a blank cell, a second half, or a mark without a base. A
 * single first half is narrow there. Returns the number.
 */
unsigned compare_cell(
	const struct screen *s, unsigned row, unsigned col, uint32_t ret_codes[SCREEN_CLUSTER_MAX]);

/* Print a difference. */
void compare_explain(const struct screen *s, const struct second *v, const struct difference *d);

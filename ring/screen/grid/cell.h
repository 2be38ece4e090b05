/*
 * A cell of the grid: eight bytes, what it shows and how. All zeros is the cell that nothing has been
 * written to, so that memory fresh from calloc() is a blank screen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CELL_CODE UINT32_C(0x1fffff) /* the code point, or the cluster's number */
#define CELL_CLUSTER \
	UINT32_C(0x200000) /* several code points: their number in the screen's clusters */
#define CELL_CONTENT (CELL_CODE | CELL_CLUSTER)
#define CELL_WIDTH_SHIFT 22

struct cell {
	uint32_t text;  /* content, and the width in columns xor 1 */
	uint32_t style; /* number in the screen's styles; 0 = the default */
};

/* Columns: 1; 2 for the first half of a wide character; 0 for its second half, or a lone combining mark. */
static inline unsigned cell_width(struct cell c)
{
	return (c.text >> CELL_WIDTH_SHIFT) ^ 1;
}

static inline struct cell cell_make(uint32_t content, unsigned width, uint32_t style)
{
	return (struct cell){.text = content | (width ^ 1) << CELL_WIDTH_SHIFT, .style = style};
}

static inline bool cell_has_content(struct cell c)
{
	return (c.text & CELL_CONTENT) != 0;
}

/* Nothing has been written there, and it looks like it. */
static inline bool cell_is_untouched(struct cell c)
{
	return c.text == 0 && c.style == 0;
}

/* The second half of a wide character. */
static inline bool cell_is_tail(struct cell c)
{
	return cell_width(c) == 0 && !cell_has_content(c);
}

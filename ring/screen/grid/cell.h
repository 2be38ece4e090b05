/*
 * A cell of the grid: text and style in eight bytes. All zeros is a cell never written to, so
 * memory from calloc() is a blank screen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CELL_CODE UINT32_C(0x1fffff) /* code point, or index of the cluster */
/* The cell has several code points: CELL_CODE is an index into the screen's clusters. */
#define CELL_CLUSTER UINT32_C(0x200000)
#define CELL_CONTENT (CELL_CODE | CELL_CLUSTER)
#define CELL_WIDTH_SHIFT 22

/* A cell. */
struct cell {
	uint32_t text;  /* content, and columns xor 1 */
	uint32_t style; /* index into the screen's styles; 0: default */
};

/* Columns: 2 for the first half of a wide character, 0 for its second half or a lone mark. */
static inline unsigned cell_width(struct cell c)
{
	return (c.text >> CELL_WIDTH_SHIFT) ^ 1;
}

/* Make a cell. content: of CELL_CONTENT. */
static inline struct cell cell_make(uint32_t content, unsigned width, uint32_t style)
{
	return (struct cell){.text = content | (width ^ 1) << CELL_WIDTH_SHIFT, .style = style};
}

/* Whether the cell has a character. */
static inline bool cell_has_content(struct cell c)
{
	return (c.text & CELL_CONTENT) != 0;
}

/* Whether the cell equals one that was never written to. */
static inline bool cell_is_untouched(struct cell c)
{
	return c.text == 0 && c.style == 0;
}

/* Whether the cell is the second half of a wide character. */
static inline bool cell_is_tail(struct cell c)
{
	return cell_width(c) == 0 && !cell_has_content(c);
}

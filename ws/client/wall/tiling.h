/* Where tiles stand in a window. Pure. */
#pragma once

#define TILING_TILES_MAX 40u /* on a page */
#define TILING_COLS_MIN 30u  /* of a tile, where the window has them */
#define TILING_ROWS_MIN 6u

struct rect {
	unsigned x, y, cols, rows; /* from 0 */
};

struct tiling {
	unsigned cols, rows;      /* of the window; the last row is no tile's */
	unsigned across, down;    /* tiles of a full row, and rows of them */
	unsigned count;           /* of all tiles */
	unsigned per_page, pages; /* at least 1 each */
};

/* For so many tiles. Cannot fail: where there is room for none, a page has one. */
void tiling_make(struct tiling *l, unsigned count, unsigned cols, unsigned rows);

/* Tiles of a page. */
unsigned tiling_on_page(const struct tiling *l, unsigned page);

/* The place of the index-th tile on its page; one with no rows or columns is not to be seen. */
struct rect tiling_place(const struct tiling *l, unsigned page, unsigned index);

enum tiling_step {
	TILING_LEFT,
	TILING_RIGHT,
	TILING_UP,
	TILING_DOWN,
	TILING_PAGE_UP,
	TILING_PAGE_DOWN,
	TILING_FIRST,
	TILING_LAST
};

/* The tile that is reached from the at-th of all; at the edges it is the same. 0 when there is none. */
unsigned tiling_move(const struct tiling *l, unsigned at, enum tiling_step step);

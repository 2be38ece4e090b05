/* The positions of tiles in a window. Pure. */
#pragma once

#define TILING_TILES_MAX 40u /* on a page */
#define TILING_COLS_MIN 30u  /* of a tile, if the window is large enough */
#define TILING_ROWS_MIN 6u

/* A part of the window. */
struct rect {
	unsigned x, y, cols, rows; /* from 0 */
};

/* The arrangement of all tiles. */
struct tiling {
	unsigned cols, rows;      /* of the window; tiles do not use the last row */
	unsigned across, down;    /* tiles in a full row; rows of tiles */
	unsigned count;           /* of all tiles */
	unsigned per_page, pages; /* at least 1 each */
};

/* Arrange count tiles. Cannot fail: in a window that is too small, a page has one tile. */
void tiling_make(struct tiling *l, unsigned count, unsigned cols, unsigned rows);

/* The number of tiles on a page. */
unsigned tiling_on_page(const struct tiling *l, unsigned page);

/* The position of the index-th tile of a page; without rows or columns if it is invisible. */
struct rect tiling_place(const struct tiling *l, unsigned page, unsigned index);

/* Where to move the choice. */
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

/* The index of the tile that is one step from the at-th of all; the same one at the edges. 0 if there is none. */
unsigned tiling_move(const struct tiling *l, unsigned at, enum tiling_step step);

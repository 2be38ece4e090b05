/* The screen of a session as cells, updated by answers of /screen. Pure. */
#pragma once

#include "ws/client/draw/glyph.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define PICTURE_COLS_MAX 300u  /* tiles show no more columns */
#define PICTURE_WIDE_MAX 1000u /* columns of a wide picture: the limit of sessions */
#define PICTURE_ROWS_MAX 1000u /* the limit of sessions */

#define PEN_DEFAULT UINT32_C(0xffffffff)
#define PEN_RGB UINT32_C(0x1000000) /* | 0xRRGGBB; other values are indexes of the palette */

/* Attributes of struct pen. */
enum {
	PEN_BOLD = 1,
	PEN_DIM = 2,
	PEN_ITALIC = 4,
	PEN_UNDERLINE = 8,
	PEN_INVERSE = 16,
	PEN_STRIKE = 32
};

/* The style of a cell. */
struct pen {
	uint32_t fg, bg;     /* PEN_DEFAULT, PEN_RGB and a colour, or an index */
	unsigned attributes; /* PEN_BOLD and so on */
};

/* A cell. */
struct picture_cell {
	struct glyph glyph; /* length 0: blank; width 0: right half of the cell before */
	struct pen pen;
};

/* A screen, or lines of the scrollback. Zeroed: empty. */
struct picture {
	unsigned rows, cols; /* of the session */
	bool wide;           /* allow up to PICTURE_WIDE_MAX columns */
	unsigned kept;       /* columns of cells */
	unsigned cursor_row, cursor_col;
	bool cursor_visible, alternate;
	uint64_t version, offset;
	bool plain; /* ask for text without styles: an answer with styles is too long */
	struct picture_cell *cells; /* rows * kept; owned */
};

/*
 * Update from an answer of /screen?since=…. Returns 0; -EAGAIN to ask again, because the answer
 * changes another version, or has not all rows (plain is set then); -EPROTO for an invalid answer;
 * -ENOMEM. On errors the picture is unchanged or empty.
 */
int picture_update(struct picture *p, const json_t *answer, uint64_t since);

/* Make a blank picture of that size. Returns 0, -EPROTO for an invalid size, or -ENOMEM. */
int picture_blank(struct picture *p, unsigned rows, unsigned cols);

/* Set rows from an answer of /scrollback?cells=1; line number top is the first row. */
void picture_set_lines(struct picture *p, const json_t *answer, uint64_t top);

/* Toggle attributes of cells; cells outside of the picture are ignored. */
void picture_toggle(
	struct picture *p, unsigned row, unsigned column, unsigned columns, unsigned attributes);

/* Free the cells and zero all fields. */
void picture_finish(struct picture *p);

/* What a session shows, as cells, kept up to date by what the server tells of it. Pure. */
#pragma once

#include "ws/client/draw/glyph.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define PICTURE_COLS_MAX 300u  /* what is right of them no tile shows */
#define PICTURE_WIDE_MAX 1000u /* of one that is wide: a session has no more */
#define PICTURE_ROWS_MAX 1000u /* a session has no more */

#define PEN_DEFAULT UINT32_C(0xffffffff)
#define PEN_RGB UINT32_C(0x1000000) /* and the colour; others are numbers of the palette */

enum {
	PEN_BOLD = 1,
	PEN_DIM = 2,
	PEN_ITALIC = 4,
	PEN_UNDERLINE = 8,
	PEN_INVERSE = 16,
	PEN_STRIKE = 32
};

struct pen {
	uint32_t fg, bg;
	unsigned attributes; /* PEN_BOLD and so on */
};

struct picture_cell {
	struct glyph glyph; /* of length 0: blank; of width 0: the right half of the one before */
	struct pen pen;
};

struct picture {
	unsigned rows, cols;             /* of the session */
	bool wide;                       /* it may have more columns than PICTURE_COLS_MAX */
	unsigned kept;                   /* columns of cells, as many as there may be */
	unsigned cursor_row, cursor_col; /* inside */
	bool cursor_visible, alternate;
	uint64_t version, offset;
	bool plain;                 /* there are too many styles to have them told */
	struct picture_cell *cells; /* rows * kept; owned */
};

/*
 * Take an answer of /screen?since=…. Returns 0; -EAGAIN where it has to be asked for again, because it has only changes of
 * what is not here, or not all rows (then they are asked for plain); -EPROTO where it is none; -ENOMEM. Then the picture is
 * what it was, or empty.
 */
int picture_take(struct picture *p, const json_t *answer, uint64_t since);

/* Lines of a history, of a session so wide: none of them yet. Returns 0, -EPROTO for sizes that are none, or -ENOMEM. */
int picture_blank(struct picture *p, unsigned rows, unsigned cols);

/* Take an answer of /scrollback?cells=1: the line of the number top stands in the first row. */
void picture_take_lines(struct picture *p, const json_t *answer, uint64_t top);

/* Turn attributes of so many cells over, as far as they are there. */
void picture_mark(
	struct picture *p, unsigned row, unsigned column, unsigned columns, unsigned attributes);

/* Empty, of no version; and nothing that it has been told to be. */
void picture_finish(struct picture *p);

/*
 * Painting: lines of cells as the bytes that draw them in another terminal. Used by snapshots,
 * which must reproduce every cell, and by rendering.
 */
#pragma once

#include "ring/screen/screen_internal.h"
#include "ring/screen/view/output.h"

/* Limit of link bytes in one output: a link can be 8 KiB. Further links are omitted. */
#define PAINT_LINKS_MAX ((size_t)16 << 20)

/* The terminal being painted, as far as its state matters. */
struct painter {
	struct output out;
	const struct screen *s; /* source of the styles, clusters and links */
	struct style pen;       /* the terminal's pen */
	size_t link_bytes;      /* written for links so far */
	bool offsets;           /* write each line's offset, for a checkpoint */
	bool images;            /* the terminal shows images; otherwise their cells are spaces */
	uint64_t offset;        /* last offset written */
	uint8_t charset;        /* final byte of the charset in use; 0: ASCII */
	bool mixed;             /* switch mode 2027 as needed: cells were printed in both modes */
	bool clusters;          /* mode 2027 is set now */
	/* Called by paint_lines() when the cursor is in line `mark`, in column `at`. */
	void (*on_mark)(struct painter *p, unsigned at);
	size_t mark;
	const void *user;
};

/* A line, unpacked or packed: one of the two is set. */
struct painted {
	const struct line *line;
	const struct packed *packed;
};

/* Copy the cells of a line up to the last one that is not untouched. Returns their number. */
unsigned paint_cells_of(struct painted from, struct cell cells[SCREEN_SIDE_MAX]);

/* Change the pen to a style. */
void paint_pen(struct painter *p, const struct style *style);

/*
 * Reproduce a pen that only DECRC can produce (an underline without its style) with DECRC from
 * either buffer's slot. Call it before positioning the cursor. Returns true if it set the pen,
 * which must not change then.
 */
bool paint_restored_pen(struct painter *p);

/* The style with this number. */
const struct style *paint_style(const struct painter *p, uint32_t number);

/* A cell's code points, borrowed: those of a cluster, or its only one, stored in *single. */
const uint32_t *paint_codes_of(
	const struct painter *p, struct cell cell, uint32_t *single, size_t *ret_count);

/* Write code points. */
void paint_codes(struct painter *p, const uint32_t *codes, size_t count);

/* Write a cell's characters, in the mode that makes one cell of them. */
void paint_text(struct painter *p, struct cell cell);

/* Whether printing the characters of a cell produces it. Switches mode 2027 for that if needed. */
bool paint_is_printed(struct painter *p, struct cell cell);

/* Whether a packed line has cells of an image that are to be drawn as such. */
bool paint_has_image(const struct painter *p, const struct packed *packed);

/* Draw the cells of an image that begin here: OSC 7007 ; i. Returns their number; 0: there are none. */
unsigned paint_image(struct painter *p, const struct cell *cells, unsigned count);

/* Set whether the terminal joins clusters from here on (mode 2027). */
void paint_clusters(struct painter *p, bool on);

/*
 * Draw lines from the top left corner of a blank screen of cols columns, with soft wraps. Lines
 * that do not fit scroll off at the top.
 */
void paint_lines(struct painter *p, struct painted (*get)(const void *user, size_t i),
	const void *user, size_t count, unsigned cols, unsigned rows);

/* Designate and invoke charsets, from ASCII in all slots. */
void paint_charsets(struct painter *p, const struct charsets *c);

/* Return from these charsets to ASCII. */
void paint_default_charsets(struct painter *p, const struct charsets *c);

/*
 * Redraw the cell in the last column, at the cursor, so that a wrap is pending. If the cell is
 * empty, the rest of the row may be erased.
 */
void paint_pending_wrap(struct painter *p, const struct line *line, unsigned cols);

/* Column of that cell: the one before the last if it is a wide character. */
unsigned paint_pending_column(const struct line *line, unsigned cols);

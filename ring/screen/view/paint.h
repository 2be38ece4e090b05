/*
 * Painting: lines of cells as the bytes that draw them in another terminal. Shared by the snapshot, which
 * has to get every cell right, and by what is shown to people and programs.
 */
#pragma once

#include "ring/screen/screen_internal.h"
#include "ring/screen/view/output.h"

/* Links may be 8 KiB, and come anew with each cell that changes them: of more bytes than these the rest is left out. */
#define PAINT_LINKS_MAX ((size_t)16 << 20)

/* A terminal that is being painted, as far as one has to know what state it is in. */
struct painter {
	struct output out;
	const struct screen *s; /* whose styles, clusters and links are meant */
	struct style pen;       /* the terminal's */
	size_t link_bytes;      /* of links that have been written */
	bool offsets;           /* say where each line began: for a checkpoint */
	uint64_t offset;        /* what was said last */
	uint8_t charset;        /* in use, by its final byte; 0 is ASCII */
	bool mixed; /* mode 2027 may be set and reset: not everything has come in the same mode */
	bool clusters; /* it is set now */
	/* Where lines are drawn, called once the cursor is in line `mark`, in column `at`, and nothing further. */
	void (*on_mark)(struct painter *p, unsigned at);
	size_t mark;
	const void *user;
};

/* A line of either kind. */
struct painted {
	const struct line *line; /* or */
	const struct packed *packed;
};

/* Cells of a line without the untouched ones at its end, into cells. Returns how many. */
unsigned paint_cells_of(struct painted from, struct cell cells[SCREEN_SIDE_MAX]);

/* Change the terminal's pen. */
void paint_pen(struct painter *p, const struct style *style);

/*
 * Where DECRC has brought back a pen that no SGR makes (that there is an underline, but not which): so it does here, from
 * the slot of either buffer. charset: paint_restored_charset() has brought one, which stays. To be called before the cursor
 * comes to its place. Returns whether that was so; the pen must not change then.
 */
bool paint_restored_pen(struct painter *p, bool charset);

/* A style, by its number. */
const struct style *paint_style(const struct painter *p, uint32_t number);

/* A cell's code points: those of a cluster, or its only one, which is put into `single`. Borrowed. */
const uint32_t *paint_codes_of(
	const struct painter *p, struct cell cell, uint32_t *single, size_t *ret_count);

/* Write code points; a cell's characters, in the mode that makes one cell of them. */
void paint_codes(struct painter *p, const uint32_t *codes, size_t count);
void paint_text(struct painter *p, struct cell cell);

/* Whether printing its characters makes such a cell, in the mode that it is set to for that. */
bool paint_is_printed(struct painter *p, struct cell cell);

/* Whether it is to join clusters from here on (mode 2027). */
void paint_clusters(struct painter *p, bool on);

/* Keep what is drawn next from joining what is before the cursor. */
void paint_apart(struct painter *p);

/*
 * Draw lines one under the other from the top left corner of a blank screen of cols columns, with wraps
 * where lines were wrapped. What does not fit scrolls off at the top.
 */
void paint_lines(struct painter *p, struct painted (*get)(const void *user, size_t i),
	const void *user, size_t count, unsigned cols, unsigned rows);

/* Designate a charset: slot is one of "()*+". */
void paint_charset(struct painter *p, char slot, uint8_t final);

/* restored: the one in use comes from a saved cursor; otherwise it has to be in the place that is invoked. */
void paint_charsets(struct painter *p, bool restored);

/*
 * Where DECRC has brought a charset back that is in none of its places: so it does here, from the slot of either
 * buffer. Returns whether that was so.
 */
bool paint_restored_charset(struct painter *p);

/* Whether the charset in use has all of a cell's characters. */
bool paint_has_text(const struct painter *p, struct cell cell);

/*
 * Draw the one cell in the last column of a row, where the cursor is, so that it waits behind it. The column
 * is the one before if the character is wide. If there is nothing in it the rest of the row may suffer.
 */
void paint_pending_wrap(struct painter *p, const struct line *line, unsigned cols);
unsigned paint_pending_column(const struct line *line, unsigned cols);

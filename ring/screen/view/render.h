/*
 * Rendering: lines of a screen and its scrollback for people and programs, as plain text, text with
 * SGR and links, HTML, or line by line with runs of cells in one style.
 *
 * Line numbers count from the session's birth: screen_dropped() is the oldest line of the
 * scrollback, and the screen's rows follow the scrollback. Concealed characters are part of the
 * text, as when copied from a terminal; ANSI and HTML conceal them. Trailing blanks are omitted.
 */
#pragma once

#include "ring/screen/screen.h"
#include "ring/screen/grid/style.h"

#define RENDER_HTML_LINK_MAX 2048u /* bytes of a URI; longer ones become text in HTML */
/* Most cells of lines that render_next() joins. */
#define RENDER_JOINED_CELLS 16384u

/* Formats of render_lines(). */
enum render_format { RENDER_TEXT, RENDER_ANSI, RENDER_HTML };

/* Which lines to render, and how. */
struct render_options {
	uint64_t from, to; /* lines [from, to), limited to existing ones */
	bool join;         /* join soft-wrapped lines */
	uint64_t since;    /* render_next() only: skip rows unchanged since this version; 0: none */
	size_t max;        /* render_lines() only: begin no further line after this many bytes */
};

/* Result of render_lines(). */
struct rendered {
	char *bytes; /* owned by the caller */
	size_t length;
	uint64_t from, to; /* the lines in it */
};

/*
 * Render lines as one text; each ends with a newline. ANSI resets the pen at the end of each line.
 * HTML is one <pre> with the page's colours and links to http, https and mailto only. Returns 0 or
 * -ENOMEM.
 */
int render_lines(const struct screen *s, enum render_format format, const struct render_options *o,
	struct rendered *ret_rendered);

/* Adjacent cells in one style. */
struct render_run {
	const char *text; /* UTF-8; blank cells are spaces */
	size_t length;
	unsigned column, columns; /* place in the joined line */
	struct style style;
	const char *link; /* the unchecked URI of OSC 8, or NULL */
	size_t link_length;
};

/* A line, or several joined ones. */
struct render_line {
	uint64_t number;
	unsigned count;   /* lines joined in this one */
	uint64_t offset;  /* offset of the output byte that it began with */
	uint64_t version; /* version of the last change; 0 in the scrollback */
	bool wrapped;     /* it continues the line above */
	const char *text; /* UTF-8 without trailing blanks */
	size_t length;
	const struct render_run *runs; /* of all cells ever written to */
	size_t run_count;
};

/* Reads lines one by one. The screen must not change meanwhile. */
struct render;

/* Create a reader. o is copied. Returns 0 or -ENOMEM. */
int render_create(
	struct render **ret_render, const struct screen *s, const struct render_options *o);

/* Destroy a reader; NULL is allowed. */
void render_destroy(struct render *r);

/* Read the next line, borrowed until the next call. Returns 1, 0 at the end, or -ENOMEM. */
int render_next(struct render *r, struct render_line *ret_line);

/* Number of the next line. */
uint64_t render_position(const struct render *r);

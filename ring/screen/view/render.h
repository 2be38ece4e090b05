/*
 * Rendering: lines of a screen and its scrollback as people and programs read them. Plain text, text with
 * SGR and links for a terminal, HTML, or line by line with the runs of cells in one style.
 *
 * Lines have numbers that count from the session's birth: screen_dropped() is the oldest of the scrollback,
 * the screen's rows come right behind it. Concealed characters are part of the text, as they are of what
 * a terminal copies; ANSI and HTML conceal them. Blanks at the end of a line are left out.
 */
#pragma once

#include "ring/screen/screen.h"
#include "ring/screen/grid/style.h"

#define RENDER_HTML_LINK_MAX 2048u /* bytes of a URI; longer ones are no links in HTML */
#define RENDER_JOINED_CELLS \
	16384u /* of lines that render_next() joins; what follows is another one */

enum render_format { RENDER_TEXT, RENDER_ANSI, RENDER_HTML };

/* Which lines, and how. */
struct render_options {
	uint64_t from, to; /* lines [from, to), as far as there are any */
	bool join;         /* what was wrapped softly is one line */
	uint64_t since; /* render_next() only: leave out rows that were the same in this version; 0 = none */
	size_t max; /* render_lines() only: bytes after which no further line is begun */
};

/* Lines as one text. */
struct rendered {
	char *bytes; /* to be freed by the caller */
	size_t length;
	uint64_t from, to; /* the lines that are in it */
};

/*
 * Render lines as one text, each ending with a newline. ANSI leaves the pen as a reset would at the end of
 * each line. HTML is one <pre> with colours as the page shows them; only http, https and mailto are links.
 * Returns 0 or -ENOMEM.
 */
int render_lines(const struct screen *s, enum render_format format, const struct render_options *o,
	struct rendered *ret_rendered);

/* Cells next to each other in one style. */
struct render_run {
	const char *text; /* UTF-8; blank cells are spaces */
	size_t length;
	unsigned column, columns; /* of a joined line: as if it were that wide */
	struct style style;
	const char *link; /* the URI of OSC 8, whatever it is, or NULL; link_length bytes */
	size_t link_length;
};

struct render_line {
	uint64_t number;
	unsigned count;   /* lines joined in this one */
	uint64_t offset;  /* of the output byte that it began with */
	uint64_t version; /* in which it last changed; 0 in the scrollback */
	bool wrapped;     /* it continues the line above */
	const char *text; /* UTF-8 without the blanks at its end */
	size_t length;
	const struct render_run *runs; /* of all cells that have been written to */
	size_t run_count;
};

/* Reads lines one after the other; the screen must not change meanwhile. */
struct render;

/* o is copied. Returns 0 or -ENOMEM. */
int render_create(
	struct render **ret_render, const struct screen *s, const struct render_options *o);
void render_destroy(struct render *r);

/* The next line, borrowed until the next call. Returns 1, 0 behind the last, or -ENOMEM. */
int render_next(struct render *r, struct render_line *ret_line);

/* The line behind those that have been read. */
uint64_t render_position(const struct render *r);

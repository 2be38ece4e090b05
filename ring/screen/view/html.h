/*
 * HTML of lines on a screen: one <pre> with inline styles, so that it needs no style sheet. Output
 * of programs is always escaped, and only safe links become links.
 */
#pragma once

#include "ring/screen/view/paint.h"

/* State of the HTML writer. */
struct html {
	const struct screen *s;
	struct style style; /* current style */
	bool in_span;
	uint32_t link; /* link of the open <a>; 0: none */
};

/* Write the opening <pre>. */
void html_begin(struct html *h, struct output *o);

/* Close everything. */
void html_end(struct html *h, struct output *o);

/* Set the style of the text that follows. */
void html_style(struct html *h, struct output *o, const struct style *style);

/* Set the default style. */
void html_plain(struct html *h, struct output *o);

/* Write text, escaped. */
void html_text(struct output *o, const char *text, size_t length);

/* The URI of a link as the program sent it, borrowed; NULL if there is no such link. */
const char *html_uri(const struct screen *s, uint32_t link, size_t *ret_length);

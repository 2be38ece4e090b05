/*
 * HTML of lines on a screen: one <pre>, styles as attributes, so that it stands alone. Whatever the program
 * has printed is text there, and nothing but text; its links are links only to where links may lead.
 */
#pragma once

#include "ring/screen/view/paint.h"

struct html {
	const struct screen *s;
	struct style style; /* that the page is in */
	bool in_span;
	uint32_t link; /* the <a> that is open; 0 = none */
};

void html_begin(struct html *h, struct output *o);
void html_end(struct html *h, struct output *o);

/* What follows is in this style, which h borrows nothing of; html_plain(): in none. */
void html_style(struct html *h, struct output *o, const struct style *style);
void html_plain(struct html *h, struct output *o);

/* Text, escaped. */
void html_text(struct output *o, const char *text, size_t length);

/* The URI of a link, as the program gave it; NULL if there is none of that number. */
const char *html_uri(const struct screen *s, uint32_t link, size_t *ret_length);

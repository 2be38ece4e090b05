/*
 * Search: where a pattern is in what a session has printed, newest line first. In the lines of the screen
 * and its scrollback, with soft wraps joined; and in the output that is older than these, as far as the ring
 * has it, of which only the text is looked at.
 *
 * A search does a bounded amount of work and says from where another one goes on.
 */
#pragma once

#include "ring/search/pattern.h"
#include "ring/screen/screen.h"
#include "ring/stream.h"

#define SEARCH_LINE_MAX 4096u   /* code points; longer lines are taken for several */
#define SEARCH_PIECE 8192u      /* bytes of raw output that are taken at a time */
#define SEARCH_TEXT_BEFORE 128u /* code points of the line that are given before a match */
#define SEARCH_TEXT_MAX 512u    /* code points of the line that are given */
#define SEARCH_MATCH_MAX 256u   /* code points of the match that are given */
#define SEARCH_NO_LINE UINT64_MAX

struct search_match {
	uint64_t line; /* its number, see ring/screen/view/render.h; SEARCH_NO_LINE when it is in the ring only */
	uint64_t offset; /* of the output byte that the line began with */
	unsigned column,
		columns; /* as the terminal counts them; columns of all lines that it is in */
	char *text;      /* of the line around it; owned by the search, as is match */
	size_t text_length;
	char *match;
	size_t match_length;
};

struct search {
	struct pattern *pattern; /* borrowed */
	uint64_t from;           /* search_screen(): lines before this one are not looked at */
	unsigned limit;          /* matches to be found at most; the last line's may be cut short */
	uint64_t work;           /* how much may be done, see pattern_find(); goes down */
	struct search_match *matches; /* newest line first, in a line from left to right */
	size_t count;
	uint64_t next_line;   /* search_screen(): lines before this one are left; 0 = none */
	uint64_t next_offset; /* search_ring(): output before this offset is left; 0 = none */
};

/* Look into the lines before this one (SEARCH_NO_LINE: all). Returns 0 or -ENOMEM. */
int search_screen(struct search *search, const struct screen *s, uint64_t before);

/* Look into the raw output [oldest byte, before). Returns 0 or -ENOMEM. */
int search_ring(struct search *search, const struct stream *bytes, uint64_t before);

/* Output before this offset is in no line of the screen and its scrollback. */
uint64_t search_border(const struct screen *s);

/* Free the matches. */
void search_finish(struct search *search);

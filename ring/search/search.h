/*
 * Search: finds a pattern in what a session has printed, newest line first: in the lines of the
 * screen and its scrollback, with soft wraps joined, and as plain text in older output of the ring.
 * A search does a bounded amount of work and returns where to continue.
 */
#pragma once

#include "ring/search/pattern.h"
#include "ring/screen/screen.h"
#include "ring/stream.h"

#define SEARCH_LINE_MAX 4096u   /* code points; longer lines are split */
#define SEARCH_PIECE 8192u      /* bytes of raw output read at a time */
#define SEARCH_TEXT_BEFORE 128u /* code points of context returned before a match */
#define SEARCH_TEXT_MAX 512u    /* code points of the line returned */
#define SEARCH_MATCH_MAX 256u   /* code points of the match returned */

/* No line number. */
#define SEARCH_NO_LINE UINT64_MAX

/* A match. */
struct search_match {
	uint64_t line;    /* see ring/screen/view/render.h; SEARCH_NO_LINE: in the ring only */
	uint64_t offset;  /* offset of the output byte that the line began with */
	unsigned column;  /* of its first character */
	unsigned columns; /* in all lines that it spans */
	char *text;       /* the line around it; owned by the search, as is `match` */
	size_t text_length;
	char *match;
	size_t match_length;
};

/* A search. */
struct search {
	struct pattern *pattern;      /* borrowed */
	uint64_t from;                /* search_screen() ignores lines before this one */
	unsigned limit;               /* most matches; the last line may have further ones */
	uint64_t work;                /* work left, see pattern_find() */
	struct search_match *matches; /* newest line first, within a line from left to right */
	size_t count;
	uint64_t next_line;   /* search_screen(): continue before this line; 0: done */
	uint64_t next_offset; /* search_ring(): continue before this offset; 0: done */
};

/* Search the lines before a line (SEARCH_NO_LINE: all). Returns 0 or -ENOMEM. */
int search_screen(struct search *search, const struct screen *s, uint64_t before);

/* Search the ring's output before an offset. Returns 0 or -ENOMEM. */
int search_ring(struct search *search, const struct stream *bytes, uint64_t before);

/* Offset before which output is in no line of the screen and its scrollback. */
uint64_t search_border(const struct screen *s);

/* Free the matches. */
void search_finish(struct search *search);

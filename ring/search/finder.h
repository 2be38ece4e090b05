/*
 * Finder: searches output for a pattern while it arrives in pieces. Matches are within a line, as
 * the line reader defines it. Pure.
 */
#pragma once

#include "ring/search/line_reader.h"
#include "ring/search/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FINDER_LINE 2048u /* code points; only the end of a longer line is searched */
#define FINDER_BLANKS 64u /* limit for one move of the cursor; further blanks are dropped */
#define FINDER_WORK (UINT64_C(1) << 22) /* limit of work per search of a line, see pattern_find() */

/* A search in progress. */
struct finder {
	struct line_reader reader;
	struct pattern *pattern; /* borrowed */
	uint64_t from;           /* text before this offset is ignored */
	bool settled_only;       /* only finder_flush() searches an incomplete line */
	bool found;
	uint64_t start, end; /* if found: offsets of the match [start, end) */
	uint64_t base;       /* base of starts and ends */
	uint64_t done;       /* work done, as counted by pattern_find() */
	unsigned column;
	size_t count;  /* code points of the line */
	size_t looked; /* count at the last search; NOT_LOOKED if the line has shrunk since */
	struct pattern_match match; /* if found: in codes */
	uint32_t codes[FINDER_LINE];
	/* bytes of each code point, relative to base */
	uint32_t starts[FINDER_LINE], ends[FINDER_LINE];
};

/*
 * Start at offset, which should be between two sequences; text before `from` is ignored.
 * settled_only: for patterns that match the end of a line.
 */
void finder_init(struct finder *f, struct pattern *pattern, uint64_t offset, uint64_t from,
	bool settled_only);

/* Free the parser. */
void finder_finish(struct finder *f);

/* Discard a match and the rest of its line, and continue. */
void finder_dismiss(struct finder *f);

/* Offset of the next byte to feed. */
uint64_t finder_offset(const struct finder *f);

/*
 * Consume bytes up to the end of a match, without searching an incomplete last line. Returns
 * whether there is a match.
 */
bool finder_consume(struct finder *f, const uint8_t *bytes, size_t length);

/* Search the incomplete last line, unless settled_only. Returns whether there is a match. */
bool finder_search_line(struct finder *f);

/* finder_consume() and finder_search_line(). */
bool finder_feed(struct finder *f, const uint8_t *bytes, size_t length);

/* Most work of feeding length bytes, as counted by pattern_find(). 0: of finder_flush(). */
uint64_t finder_max_work(const struct finder *f, size_t length);

/* Bytes were lost: continue at offset with a new line. */
void finder_skip(struct finder *f, uint64_t offset);

/* Search the last line as it is, when no bytes follow for now. Returns true if found. */
bool finder_flush(struct finder *f);

/* Whether finder_flush() would search anything new. */
bool finder_has_unsearched(const struct finder *f);

/*
 * Copy the text of the match to dst as UTF-8, at most size bytes, cut between characters, without a
 * NUL. Returns its length.
 */
size_t finder_text(const struct finder *f, char *dst, size_t size);

/* The same for the part of the match from an offset on. */
size_t finder_text_from(const struct finder *f, uint64_t offset, char *dst, size_t size);

/*
 * Finder: looks for a pattern in output while it comes, whatever the pieces that it comes in. What is matched is the
 * text of a line, as a line reader has it. Pure.
 */
#pragma once

#include "ring/search/line_reader.h"
#include "ring/search/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FINDER_LINE 2048u /* code points; of a longer line the end is looked at */
#define FINDER_BLANKS 64u /* that the cursor moves over, at a time; more count as so many */
#define FINDER_WORK (UINT64_C(1) << 22) /* for one look at a line, see pattern_find() */

struct finder {
	struct line_reader reader;
	struct pattern *pattern; /* borrowed */
	uint64_t from;           /* text before this offset does not count */
	bool settled_only; /* a line that is not complete is looked at by finder_settle() only */
	bool found;
	uint64_t start, end; /* once found: offsets of the match's first byte and behind its last */
	uint64_t base;       /* offset that starts and ends count from */
	uint64_t done;       /* work so far, as pattern_find() counts it */
	unsigned column;
	size_t count,
		looked; /* code points of the line; how many there were at the last look, if it has only grown */
	struct pattern_match match; /* once found: in codes */
	uint32_t codes[FINDER_LINE];
	uint32_t starts[FINDER_LINE], ends[FINDER_LINE]; /* of their bytes */
};

/*
 * Begin with the byte at `offset`, which should lie between two sequences; text counts from `from` on.
 * settled_only: for patterns that ask for the end of a line.
 */
void finder_init(struct finder *f, struct pattern *pattern, uint64_t offset, uint64_t from,
	bool settled_only);
void finder_finish(struct finder *f);

/* Ignore what it has found, and the rest of that line: go on behind it. */
void finder_dismiss(struct finder *f);

/* Offset of the next byte to be fed. */
uint64_t finder_offset(const struct finder *f);

/*
 * Take bytes, the next ones, up to the one that completes a match; the last line is not looked at before it ends. Returns
 * whether it has been found.
 */
bool finder_take(struct finder *f, const uint8_t *bytes, size_t length);

/* Look at the last line, unless that is for finder_settle() alone. Returns whether it has been found. */
bool finder_look(struct finder *f);

/* Both. */
bool finder_feed(struct finder *f, const uint8_t *bytes, size_t length);

/* How much work feeding so many bytes may be at most, as pattern_find() counts it; 0 bytes: finder_settle(). */
uint64_t finder_most(const struct finder *f, size_t length);

/* Bytes have been lost: what follows is not next to what was before. */
void finder_skip(struct finder *f, uint64_t offset);

/* Nothing follows for now: look at the line as it is. Returns whether it has been found. */
bool finder_settle(struct finder *f);

/* Whether that would look at something new. */
bool finder_has_unseen(const struct finder *f);

/*
 * The text of the match as UTF-8, at most size bytes, cut between characters; nothing ends it: all of it, or what is of
 * bytes from an offset on. Returns its length.
 */
size_t finder_text(const struct finder *f, char *dst, size_t size);
size_t finder_text_from(const struct finder *f, uint64_t offset, char *dst, size_t size);

/*
 * Layout: turns the cells of a group of wrapped lines into packed lines of another width, one at a
 * time, so that memory does not grow with their number. The halves of a wide character stay
 * together.
 */
#pragma once

#include "ring/screen/grid/line.h"
#include "ring/screen/grid/scrollback.h"

#include <stdbool.h>
#include <stddef.h>

/* A line, unpacked or packed. */
struct flow_line {
	struct line *line;     /* owned reference, or NULL while packed */
	struct packed *packed; /* NULL if `line` is set */
	bool owned;            /* `packed` is owned and on the heap */
	uint32_t old;          /* previous index + 1; 0: a new line */
};

/* A line and the lines that continue it. */
struct group {
	const struct flow_line *lines; /* borrowed */
	size_t count;
	unsigned old_cols, new_cols;
};

/* Count the lines that a group becomes. Returns 0 or -ENOMEM. */
int layout_count(const struct group *g, size_t *ret_count);

/*
 * Lay out a group as `count` lines, without the oldest `skip`. lines: receives count - skip lines,
 * owned by the caller. Returns 0, or -ENOMEM and no lines.
 */
int layout_lines(const struct group *g, size_t count, size_t skip, struct packed **lines);

/* Whether the line continues the one above. */
static inline bool flow_line_wrapped(const struct flow_line *at)
{
	return at->line ? at->line->wrapped : at->packed->wrapped;
}

/* Columns up to the last cell with content. */
static inline unsigned flow_line_trimmed(const struct flow_line *at)
{
	return at->line ? line_trimmed(at->line) : at->packed->trimmed;
}

/* Offset of the output byte that the line began with. */
static inline uint64_t flow_line_offset(const struct flow_line *at)
{
	return at->line ? at->line->offset : at->packed->offset;
}

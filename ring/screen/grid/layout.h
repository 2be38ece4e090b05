/*
 * Layout: the cells of lines that belong together go in, and come out as packed lines of another number of columns,
 * one at a time, so that it does not matter how many there are. The halves of a wide character stay together.
 */
#pragma once

#include "ring/screen/grid/line.h"
#include "ring/screen/grid/scrollback.h"

#include <stdbool.h>
#include <stddef.h>

/* A line of either kind. */
struct flow_line {
	struct line *line;     /* a reference of ours, or NULL while it is packed */
	struct packed *packed; /* or NULL */
	bool owned;            /* packed is ours, and on the heap */
	uint32_t old;          /* its place until now, from 1 on; 0: it had none */
};

/* One line, and those that continue it. */
struct group {
	const struct flow_line *lines; /* borrowed */
	size_t count;
	unsigned old_cols, new_cols;
};

/* How many lines a group will be. Returns 0 or -ENOMEM. */
int layout_count(const struct group *g, size_t *ret_count);

/*
 * Lay out all lines of `count`, but for the oldest `skip`, which nobody wants. lines: room for count - skip of them,
 * which are to be freed. Returns 0, or -ENOMEM, and then there are none.
 */
int layout_lines(const struct group *g, size_t count, size_t skip, struct packed **lines);

/* Of a line: whether it continues another; columns up to the last with content; where it began. */
static inline bool flow_line_wrapped(const struct flow_line *at)
{
	return at->line ? at->line->wrapped : at->packed->wrapped;
}

static inline unsigned flow_line_trimmed(const struct flow_line *at)
{
	return at->line ? line_trimmed(at->line) : at->packed->trimmed;
}

static inline uint64_t flow_line_offset(const struct flow_line *at)
{
	return at->line ? at->line->offset : at->packed->offset;
}

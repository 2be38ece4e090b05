/*
 * Lines by number: those of the scrollback, then the rows of the screen. Numbers count from the
 * session's birth, so a line keeps its number until a reflow.
 */
#pragma once

#include "ring/screen/view/paint.h"

/* Number of the oldest line. */
static inline uint64_t lines_first(const struct screen *s)
{
	return s->scrollback.dropped;
}

/* Number of the line in row 0. */
static inline uint64_t lines_base(const struct screen *s)
{
	return s->scrollback.dropped + s->scrollback.count;
}

/* Number after the last line. */
static inline uint64_t lines_end(const struct screen *s)
{
	return lines_base(s) + s->rows;
}

/* A line, which must exist. Borrowed like the result of scrollback_get(). */
static inline struct painted lines_get(const struct screen *s, uint64_t number)
{
	uint64_t i = number - lines_first(s);
	if (i < s->scrollback.count)
		return (struct painted){.packed = scrollback_get(&s->scrollback, (size_t)i)};
	return (struct painted){.line = screen_line(s, (unsigned)(i - s->scrollback.count))};
}

/* Offset of the output byte that a line began with. */
static inline uint64_t lines_offset(const struct screen *s, uint64_t number)
{
	uint64_t i = number - lines_first(s);
	if (i < s->scrollback.count)
		return scrollback_get(&s->scrollback, (size_t)i)->offset;
	return screen_line(s, (unsigned)(i - s->scrollback.count))->offset;
}

/* Whether a line continues the one above. Row 0 of the alternate buffer never does. */
static inline bool lines_wrapped(const struct screen *s, uint64_t number)
{
	uint64_t i = number - lines_first(s);
	if (i == 0 || (i == s->scrollback.count && screen_is_alternate(s)))
		return false;
	if (i < s->scrollback.count)
		return scrollback_get(&s->scrollback, (size_t)i)->wrapped;
	return screen_line(s, (unsigned)(i - s->scrollback.count))->wrapped;
}

/*
 * Copy the visible cells of a line and return their number. joined: the next line will be appended,
 * so blanks at the end count, except the column left free before a wide character.
 */
unsigned lines_cells(
	const struct screen *s, uint64_t number, bool joined, struct cell cells[SCREEN_SIDE_MAX]);

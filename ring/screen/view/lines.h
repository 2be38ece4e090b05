/*
 * Lines by their number: those of the scrollback, and behind them the rows of the screen. They are counted
 * from the session's birth, so that a number stays with its line until a new width lays all of them out anew.
 */
#pragma once

#include "ring/screen/view/paint.h"

/* The oldest line, the one in row 0, and one behind the last. */
static inline uint64_t lines_first(const struct screen *s)
{
	return s->scrollback.dropped;
}

static inline uint64_t lines_base(const struct screen *s)
{
	return s->scrollback.dropped + s->scrollback.count;
}

static inline uint64_t lines_end(const struct screen *s)
{
	return lines_base(s) + s->rows;
}

/* A line that there is. */
static inline struct painted lines_get(const struct screen *s, uint64_t number)
{
	uint64_t i = number - lines_first(s);
	if (i < s->scrollback.count)
		return (struct painted){.packed = scrollback_get(&s->scrollback, (size_t)i)};
	return (struct painted){.line = screen_line(s, (unsigned)(i - s->scrollback.count))};
}

static inline uint64_t lines_offset(const struct screen *s, uint64_t number)
{
	uint64_t i = number - lines_first(s);
	if (i < s->scrollback.count)
		return scrollback_get(&s->scrollback, (size_t)i)->offset;
	return screen_line(s, (unsigned)(i - s->scrollback.count))->offset;
}

/* Whether it continues the line above. The scrollback does not go on in the alternate buffer. */
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
 * The cells of a line, as many as are shown. joined: the line below will be read as its continuation, so
 * that blanks count: all columns but the one that was left free because a wide character did not fit.
 */
unsigned lines_cells(
	const struct screen *s, uint64_t number, bool joined, struct cell cells[SCREEN_SIDE_MAX]);

/*
 * Arranges tiles in rows, so that each shows as much of a terminal of 80 by 24 as possible. Tiles in an
 * incomplete last row are wider. If they do not all fit at their least size, there are several pages.
 */
#include "ws/client/wall/tiling.h"

#include <stdbool.h>

#define WHOLE_COLS 80u
#define WHOLE_ROWS 24u

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned at_least_one(unsigned n)
{
	return n > 0 ? n : 1;
}

static unsigned divide_up(unsigned a, unsigned b)
{
	return (a + b - 1) / at_least_one(b);
}

void tiling_make(struct tiling *l, unsigned count, unsigned cols, unsigned rows)
{
	unsigned space = rows > 1 ? rows - 1 : 0, best = 0;
	unsigned most_across = least(at_least_one(cols / TILING_COLS_MIN), TILING_TILES_MAX);
	unsigned most_down = least(at_least_one(space / TILING_ROWS_MIN),
		at_least_one(TILING_TILES_MAX / most_across));
	unsigned shown = least(at_least_one(count), most_across * most_down);
	*l = (struct tiling){.cols = cols, .rows = rows, .across = 1, .down = 1, .count = count};
	for (unsigned across = 1; across <= most_across; across++) {
		unsigned down = divide_up(shown, across);
		if (down > most_down)
			continue;
		unsigned seen = least(cols / across, WHOLE_COLS) * least(space / down, WHOLE_ROWS);
		if (seen < best)
			continue;
		best = seen;
		l->across = across;
		l->down = down;
	}
	l->per_page = shown;
	l->pages = at_least_one(divide_up(count, l->per_page));
}

unsigned tiling_on_page(const struct tiling *l, unsigned page)
{
	unsigned before = page * l->per_page;
	return before >= l->count ? 0 : least(l->count - before, l->per_page);
}

/* Position and length of one of several parts of a length. The first parts get the remainder. */
static void share(
	unsigned length, unsigned parts, unsigned part, unsigned *ret_at, unsigned *ret_length)
{
	unsigned each = length / parts, over = length % parts;
	*ret_at = part * each + least(part, over);
	*ret_length = each + (part < over);
}

struct rect tiling_place(const struct tiling *l, unsigned page, unsigned index)
{
	struct rect r;
	unsigned shown = tiling_on_page(l, page), row = index / l->across;
	unsigned space = l->rows > 1 ? l->rows - 1 : 0;
	unsigned down = at_least_one(divide_up(shown, l->across));
	unsigned in_row = row + 1 < down ? l->across : shown - (down - 1) * l->across;
	/* Tiles of the last page are as large as those of other pages. */
	down = l->pages > 1 ? l->down : down;
	in_row = l->pages > 1 && page > 0 ? l->across : at_least_one(in_row);
	share(space, down, row, &r.y, &r.rows);
	share(l->cols, in_row, index % l->across, &r.x, &r.cols);
	/* A blank column between neighbours. */
	if (index % l->across + 1 < in_row && r.cols > 0)
		r.cols--;
	return r;
}

static unsigned move_in_rows(const struct tiling *l, unsigned at, bool down)
{
	unsigned page = at / l->per_page, index = at % l->per_page;
	unsigned shown = tiling_on_page(l, page);
	if (!down)
		return index >= l->across ? at - l->across : page > 0 ? page * l->per_page - 1 : at;
	if (index + l->across < shown)
		return at + l->across;
	/* Below is a shorter row, or the next page. */
	if (index / l->across < (shown - 1) / l->across)
		return page * l->per_page + shown - 1;
	return page + 1 < l->pages ? (page + 1) * l->per_page : at;
}

unsigned tiling_move(const struct tiling *l, unsigned at, enum tiling_step step)
{
	unsigned last = l->count > 0 ? l->count - 1 : 0;
	at = least(at, last);
	switch (step) {
	case TILING_LEFT:
		return at > 0 ? at - 1 : at;
	case TILING_RIGHT:
		return least(at + 1, last);
	case TILING_UP:
		return move_in_rows(l, at, false);
	case TILING_DOWN:
		return least(move_in_rows(l, at, true), last);
	case TILING_PAGE_UP:
		return at >= l->per_page ? at - l->per_page : 0;
	case TILING_PAGE_DOWN:
		return least(at + l->per_page, last);
	case TILING_FIRST:
		return 0;
	default:
		return last;
	}
}

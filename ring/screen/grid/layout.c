/*
 * A walk over the cells of a group, which is done twice: to count the lines, and to fill those that are wanted. Lines
 * are unpacked one at a time, and only where their cells matter. Without memory a walk ends where it is.
 */
#include "ring/screen/grid/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct walk {
	const struct group *group;
	struct line *from;     /* the line that is being read, if it had to be unpacked; owned */
	size_t from_index;     /* which one that is */
	struct line *to;       /* the line that is being filled; NULL while nothing is wanted */
	unsigned filled;       /* cells in it */
	size_t done, skip;     /* lines that are full; those of them that nobody wants */
	size_t count;          /* lines that there will be, while they are filled */
	struct packed **lines; /* where they go */
	bool failed;
};

/* A line of the group with its cells; NULL when memory is short. Borrowed until the next one. */
static const struct line *source(struct walk *w, size_t i)
{
	const struct flow_line *at = &w->group->lines[i];
	if (at->line)
		return at->line;
	if (!w->from || w->from_index != i) {
		free(w->from);
		w->from = packed_unpack(at->packed, w->group->old_cols);
		w->from_index = i;
	}
	w->failed |= !w->from;
	return w->from;
}

static struct cell first_cell(const struct flow_line *at)
{
	unsigned cells;
	if (at->line)
		return at->line->cells[0];
	const uint8_t *text = packed_text(at->packed);
	return at->packed->extent > 0 ? packed_next(&text, &cells) : (struct cell){0};
}

/* Whether a packed line has no wide character for sure. */
static bool is_narrow(const struct flow_line *at)
{
	if (at->line)
		return false;
	const struct packed *p = at->packed;
	const uint8_t *text = packed_text(p);
	return !p->odd ||
		(!memchr(text, PACKED_WIDE, p->bytes) && !memchr(text, PACKED_RAW, p->bytes));
}

/* Whether there is nothing in the last column, not even half a wide character. A first half alone counts for two columns. */
static bool ends_blank(struct walk *w, size_t i)
{
	unsigned cols = w->group->old_cols;
	const struct flow_line *at = &w->group->lines[i];
	if (is_narrow(at) && flow_line_trimmed(at) >= cols)
		return false;
	if (!at->line && at->packed->extent < cols)
		return true;
	const struct line *line = source(w, i);
	struct cell last = line ? line->cells[cols - 1] : (struct cell){0};
	return line && !cell_has_content(last) && cell_width(last) == 1;
}

/* Columns of a line that count: all, but for the one that a wide character left free. */
static unsigned extent_of(struct walk *w, size_t i)
{
	const struct group *g = w->group;
	if (i + 1 == g->count)
		return flow_line_trimmed(&g->lines[i]);
	bool free = cell_width(first_cell(&g->lines[i + 1])) == 2 && ends_blank(w, i);
	return free ? g->old_cols - 1 : g->old_cols;
}

/* Half a wide character in the last column counts as two: behind the edge is a second half without looks. */
static void take(struct walk *w, size_t i, unsigned col, unsigned count)
{
	const struct group *g = w->group;
	if (w->done >= w->skip && w->to && count > 0) {
		const struct line *from = source(w, i);
		unsigned length = !from              ? 0
			: from->length < g->old_cols ? from->length
						     : g->old_cols;
		struct cell behind = g->new_cols > g->old_cols ? (struct cell){0}
							       : cell_make(0, 0, 0);
		for (unsigned k = 0; k < count; k++)
			line_put(w->to, w->filled + k,
				col + k < length ? from->cells[col + k] : behind);
	}
	w->filled += count;
}

/* The group has as many lines as before: its last one keeps how it looks where it has nothing. */
static void keep_last_looks(struct walk *w)
{
	const struct group *g = w->group;
	const struct line *last = source(w, g->count - 1);
	for (unsigned x = w->filled + 1; last && x < g->new_cols && x < last->used; x++)
		line_put(w->to, x, last->cells[x]);
}

/* A line is full, or the last. */
static void finish_line(struct walk *w)
{
	const struct group *g = w->group;
	if (w->done >= w->skip && w->to) {
		size_t old = w->done < g->count ? w->done : g->count - 1;
		if (w->done + 1 == g->count && g->count == w->count && g->new_cols < g->old_cols)
			keep_last_looks(w);
		w->to->wrapped = w->done >= g->count || flow_line_wrapped(&g->lines[old]);
		w->to->offset = flow_line_offset(&g->lines[old]);
		struct packed *p = packing_copy_of(w->to);
		w->lines[w->done - w->skip] = p;
		w->failed |= !p;
		line_set(w->to, 0, g->new_cols, (struct cell){0});
	}
	w->done++;
	w->filled = 0;
}

/* The cells of a line that counts to its column `extent`. */
static void take_line(struct walk *w, size_t i, unsigned extent)
{
	unsigned cols = w->group->new_cols, col = 0;
	bool narrow = is_narrow(&w->group->lines[i]);
	while (!w->failed) {
		unsigned room = cols - w->filled, left = extent - col;
		size_t unwanted = w->skip > w->done ? w->skip - w->done : 0;
		if (narrow && unwanted > 0 && left >= room) {
			size_t full = (w->filled + left) / cols;
			full = full < unwanted ? full : unwanted;
			col += (unsigned)full * cols - w->filled;
			w->done += full;
			w->filled = 0;
			continue;
		}
		if (left < room) {
			take(w, i, col, left);
			return;
		}
		const struct line *line = narrow ? NULL : source(w, i);
		bool split = line && col + room - 1 < line->length &&
			cell_width(line->cells[col + room - 1]) == 2;
		take(w, i, col, room - split);
		col += room - split;
		finish_line(w);
	}
}

static void walk(struct walk *w)
{
	const struct group *g = w->group;
	for (size_t i = 0; i < g->count && !w->failed; i++)
		take_line(w, i, extent_of(w, i));
	if (w->filled > 0)
		finish_line(w);
	free(w->from);
	free(w->to);
}

int layout_count(const struct group *g, size_t *ret_count)
{
	struct walk w = {.group = g, .skip = SIZE_MAX};
	walk(&w);
	if (w.failed)
		return -ENOMEM;
	*ret_count = w.done;
	return 0;
}

int layout_lines(const struct group *g, size_t count, size_t skip, struct packed **lines)
{
	struct walk w = {.group = g, .skip = skip, .count = count, .lines = lines};
	memset(lines, 0, (count - skip) * sizeof *lines);
	w.to = line_create(g->new_cols);
	if (!w.to)
		return -ENOMEM;
	walk(&w);
	if (!w.failed)
		return 0;
	for (size_t i = 0; i < count - skip; i++)
		free(lines[i]);
	return -ENOMEM;
}

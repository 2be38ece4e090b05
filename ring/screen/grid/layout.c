/*
 * Walks over the cells of a group, twice: to count the resulting lines, and to fill the wanted
 * ones. Lines are unpacked one at a time and only if needed. The walk stops if memory is short.
 */
#include "ring/screen/grid/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* State of a walk. */
struct walk {
	const struct group *group;
	struct line *from;     /* the unpacked source line; owned */
	size_t from_index;     /* its index */
	struct line *to;       /* the line being filled; NULL while counting */
	unsigned filled;       /* cells in it */
	size_t done, skip;     /* lines completed; how many of the first are not wanted */
	size_t count;          /* number of resulting lines; set while filling */
	struct packed **lines; /* receives the wanted lines */
	bool failed;
};

/* A line of the group, unpacked and borrowed until the next call; NULL if memory is short. */
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

/* Whether a packed line certainly has no wide character. */
static bool is_narrow(const struct flow_line *at)
{
	if (at->line)
		return false;
	const struct packed *p = at->packed;
	const uint8_t *text = packed_text(p);
	return !p->odd ||
		(!memchr(text, PACKED_WIDE, p->bytes) && !memchr(text, PACKED_RAW, p->bytes));
}

/* Whether the last column is empty. A lone first half counts as two columns. */
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

/* Columns of a line that are laid out: all but the one that a wide character left free. */
static unsigned extent_of(struct walk *w, size_t i)
{
	const struct group *g = w->group;
	if (i + 1 == g->count)
		return flow_line_trimmed(&g->lines[i]);
	bool free = cell_width(first_cell(&g->lines[i + 1])) == 2 && ends_blank(w, i);
	return free ? g->old_cols - 1 : g->old_cols;
}

/*
 * Copy cells. Half a wide character in the last column counts as two cells: beyond the edge it has
 * a second half without style.
 */
static void copy_cells(struct walk *w, size_t i, unsigned col, unsigned count)
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

/* If the number of lines is unchanged, the last line keeps its styled blanks. */
static void keep_last_blanks(struct walk *w)
{
	const struct group *g = w->group;
	const struct line *last = source(w, g->count - 1);
	for (unsigned x = w->filled + 1; last && x < g->new_cols && x < last->used; x++)
		line_put(w->to, x, last->cells[x]);
}

/* A line is full or the last one. */
static void finish_line(struct walk *w)
{
	const struct group *g = w->group;
	if (w->done >= w->skip && w->to) {
		size_t old = w->done < g->count ? w->done : g->count - 1;
		if (w->done + 1 == g->count && g->count == w->count && g->new_cols < g->old_cols)
			keep_last_blanks(w);
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

/* Copy the cells of a line up to its column `extent`. */
static void copy_line(struct walk *w, size_t i, unsigned extent)
{
	unsigned cols = w->group->new_cols, col = 0;
	bool narrow = is_narrow(&w->group->lines[i]);
	while (!w->failed) {
		unsigned space = cols - w->filled, left = extent - col;
		size_t unwanted = w->skip > w->done ? w->skip - w->done : 0;
		if (narrow && unwanted > 0 && left >= space) {
			size_t full = (w->filled + left) / cols;
			full = full < unwanted ? full : unwanted;
			col += (unsigned)full * cols - w->filled;
			w->done += full;
			w->filled = 0;
			continue;
		}
		if (left < space) {
			copy_cells(w, i, col, left);
			return;
		}
		const struct line *line = narrow ? NULL : source(w, i);
		bool split = line && col + space - 1 < line->length &&
			cell_width(line->cells[col + space - 1]) == 2;
		copy_cells(w, i, col, space - split);
		col += space - split;
		finish_line(w);
	}
}

static void walk(struct walk *w)
{
	const struct group *g = w->group;
	for (size_t i = 0; i < g->count && !w->failed; i++)
		copy_line(w, i, extent_of(w, i));
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

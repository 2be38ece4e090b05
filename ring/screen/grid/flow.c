/*
 * Wrapped lines are taken as groups: widening joins each from the top down, narrowing splits each from the bottom
 * up and puts the new lines in at the end. Without memory a group stays as it is or loses lines; nothing is undone.
 */
#include "ring/screen/grid/flow.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lines that belong together: one, and those that continue it. */
struct group {
	struct line **lines; /* borrowed from the flow, but for the new ones */
	size_t count, capacity;
	unsigned old_cols, new_cols;
};

static bool reserve(struct flow *f, size_t count)
{
	if (count <= f->capacity)
		return true;
	size_t capacity = f->capacity ? f->capacity * 2 : 256;
	while (capacity < count)
		capacity *= 2;
	struct flow_line *lines = realloc(f->lines, capacity * sizeof *lines);
	if (!lines) {
		f->failed = true;
		return false;
	}
	f->lines = lines;
	f->capacity = capacity;
	return true;
}

static void drop(struct flow_line *line)
{
	free(line->line);
}

void flow_append(struct flow *f, struct flow_line line)
{
	if (reserve(f, f->count + 1))
		f->lines[f->count++] = line;
	else
		drop(&line);
}

void flow_finish(struct flow *f)
{
	for (size_t i = 0; i < f->count; i++)
		drop(&f->lines[i]);
	free(f->lines);
}

static bool is_wrapped(const struct flow *f, size_t i)
{
	return f->lines[i].line ? f->lines[i].line->wrapped : f->lines[i].packed->wrapped;
}

static unsigned trimmed(const struct flow *f, size_t i)
{
	return f->lines[i].line ? line_trimmed(f->lines[i].line) : f->lines[i].packed->trimmed;
}

/* Unpack a line, or make it long enough. */
static struct line *unpacked(struct flow *f, size_t i, unsigned length)
{
	struct flow_line *at = &f->lines[i];
	if (!at->line) {
		at->line = scrollback_unpack(at->packed, length);
		if (at->line)
			at->packed = NULL;
	} else if (at->line->length < length) {
		struct line *longer = line_resize(at->line, length);
		if (!longer)
			return NULL;
		at->line = longer;
	}
	return at->line;
}

static bool group_add(struct group *g, struct line *line)
{
	if (g->count == g->capacity) {
		size_t capacity = g->capacity ? g->capacity * 2 : 16;
		struct line **lines = realloc(g->lines, capacity * sizeof *lines);
		if (!lines)
			return false;
		g->lines = lines;
		g->capacity = capacity;
	}
	g->lines[g->count++] = line;
	return line != NULL;
}

/* Take lines [first, end) of the flow. */
static bool gather(struct flow *f, struct group *g, size_t first, size_t end, unsigned length)
{
	g->count = 0;
	for (size_t i = first; i < end; i++)
		if (!group_add(g, unpacked(f, i, length))) {
			f->failed = true;
			return false;
		}
	return true;
}

/* Columns of a group's line that count: all, but for the one that a wide character left free. */
static unsigned extent_in(const struct group *g, size_t i)
{
	unsigned cols = g->old_cols;
	const struct line *line = g->lines[i];
	if (i + 1 == g->count)
		return line_trimmed(line);
	bool ends_blank = !cell_has_content(line->cells[cols - 1]) &&
		cell_width(line->cells[cols - 1]) == 1;
	return ends_blank && cell_width(g->lines[i + 1]->cells[0]) == 2 ? cols - 1 : cols;
}

/* Half a wide character in the last column counts as two: behind the edge is a second half without looks. */
static void copy(struct line *to, unsigned to_col, const struct line *from, unsigned from_col,
	unsigned count)
{
	unsigned there = from_col < from->length ? from->length - from_col : 0;
	if (to_col >= to->length)
		return;
	if (count > to->length - to_col)
		count = to->length - to_col;
	if (there > count)
		there = count;
	if (there > 0)
		memmove(to->cells + to_col, from->cells + from_col, there * sizeof *to->cells);
	for (unsigned i = there; i < count; i++)
		to->cells[to_col + i] = cell_make(0, 0, 0);
	if (to_col + count > to->used)
		to->used = to_col + count;
}

/* Wider */

/* Move a group's cells up into the room that its lines have now. Returns how many lines are left over. */
static size_t join_lines(struct group *g)
{
	size_t to = 0, from = 1;
	unsigned new_cols = g->new_cols, to_col = extent_in(g, 0), from_col = 0;
	while (from < g->count) {
		unsigned extent = extent_in(g, from);
		unsigned n = extent - from_col < new_cols - to_col ? extent - from_col
								   : new_cols - to_col;
		copy(g->lines[to], to_col, g->lines[from], from_col, n);
		to_col += n;
		if (to_col == new_cols) {
			to++;
			to_col = 0;
		}
		from_col += n;
		if (from_col == extent) {
			from++;
			from_col = 0;
		}
		/* A wide character's halves stay together. */
		if (to_col == 0 && to > 0 && to < g->count &&
			cell_width(g->lines[to - 1]->cells[new_cols - 1]) == 2) {
			copy(g->lines[to], to_col++, g->lines[to - 1], new_cols - 1, 1);
			line_put(g->lines[to - 1], new_cols - 1, (struct cell){0});
		}
	}
	if (to < g->count)
		line_erase(g->lines[to], to_col, new_cols, (struct cell){0}, NULL);
	size_t left = 0;
	for (size_t i = g->count - 1; i > 0 && (i > to || line_trimmed(g->lines[i]) == 0); i--)
		left++;
	return left;
}

static void remove_lines(struct flow *f, size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++) {
		drop(&f->lines[i]);
		f->lines[i] = (struct flow_line){0};
	}
}

/* Close the gaps that remove_lines() has left. Returns their lines. */
static size_t compact(struct flow *f)
{
	size_t kept = 0;
	for (size_t i = 0; i < f->count; i++)
		if (f->lines[i].line || f->lines[i].packed)
			f->lines[kept++] = f->lines[i];
	size_t removed = f->count - kept;
	f->count = kept;
	return removed;
}

void flow_widen(struct flow *f, unsigned old_cols, unsigned new_cols)
{
	struct group g = {.old_cols = old_cols, .new_cols = new_cols};
	size_t cursor = f->base + f->y;
	for (size_t first = 0, end; first + 1 < f->count; first = end) {
		end = first + 1;
		while (end < f->count && is_wrapped(f, end))
			end++;
		/* The shell redraws the line that the cursor is in. */
		if (end == first + 1 || (cursor >= first && cursor < end))
			continue;
		if (!gather(f, &g, first, end, new_cols))
			break;
		size_t left = join_lines(&g);
		remove_lines(f, end - left, left);
	}
	free(g.lines);
	size_t removed = compact(f);
	for (size_t i = 0; i < removed; i++) {
		if (f->base > 0) {
			f->base--;
			continue;
		}
		if (f->y > 0)
			f->y--;
		if (f->count < f->rows)
			flow_append(f, (struct flow_line){.line = line_create(new_cols)});
	}
	f->saved_y = f->saved_y > (int64_t)removed ? f->saved_y - (int64_t)removed : 0;
}

/* Narrower */

/* The columns that each of a group's lines will have. Returns 0 or -ENOMEM. */
static int new_lengths(const struct group *g, unsigned **ret_lengths, size_t *ret_count)
{
	size_t needed = 0, available = 0, count = 0, line = 0;
	unsigned new_cols = g->new_cols, col = 0;
	for (size_t i = 0; i < g->count; i++)
		needed += extent_in(g, i);
	unsigned *lengths = malloc((needed / (new_cols - 1) + 2) * sizeof *lengths);
	if (!lengths)
		return -ENOMEM;
	while (available < needed) {
		if (needed - available < new_cols) {
			lengths[count++] = (unsigned)(needed - available);
			break;
		}
		col += new_cols;
		unsigned extent = extent_in(g, line);
		if (col > extent && line + 1 < g->count) {
			col -= extent;
			line++;
		}
		bool ends_in_wide = col > 0 && col <= g->lines[line]->length &&
			cell_width(g->lines[line]->cells[col - 1]) == 2;
		if (ends_in_wide)
			col--;
		lengths[count] = ends_in_wide ? new_cols - 1 : new_cols;
		available += lengths[count++];
	}
	*ret_lengths = lengths;
	*ret_count = count;
	return 0;
}

/* Move cells down, from the last one on, so that each line has its new length. */
static void split_lines(
	struct group *g, size_t old_count, unsigned last, const unsigned *lengths, size_t count)
{
	if (count == 0)
		return;
	size_t to = count - 1, from = old_count - 1;
	unsigned to_col = lengths[to], from_col = last;
	if (to_col == 0 && to > 0)
		to_col = lengths[--to];
	for (;;) {
		unsigned n = from_col < to_col ? from_col : to_col;
		if (to >= g->count)
			break;
		copy(g->lines[to], to_col - n, g->lines[from], from_col - n, n);
		to_col -= n;
		from_col -= n;
		if (from_col == 0) {
			if (from == 0)
				break;
			from--;
			/* The group is as long as it will be: no line of before is its last. */
			from_col = extent_in(g, from);
		}
		if (to_col == 0) {
			if (to == 0)
				break;
			to_col = lengths[--to];
		}
	}
	for (size_t i = 0; i < g->count && i < count; i++)
		if (lengths[i] < g->new_cols)
			line_put(g->lines[i], lengths[i], (struct cell){0});
}

/* New lines that are to be put into the flow before the line that has index `at` now. */
struct insertion {
	size_t at;
	size_t count;
	struct line **lines; /* owned */
};

struct insertions {
	struct insertion *items; /* from the bottom up */
	size_t count, capacity;
	size_t lines; /* in all */
};

static bool remember(struct insertions *all, size_t at, struct group *g, size_t first)
{
	size_t count = g->count - first;
	if (all->count == all->capacity) {
		size_t capacity = all->capacity ? all->capacity * 2 : 16;
		struct insertion *items = realloc(all->items, capacity * sizeof *items);
		if (!items)
			return false;
		all->items = items;
		all->capacity = capacity;
	}
	struct line **lines = malloc(count * sizeof *lines);
	if (!lines)
		return false;
	memcpy(lines, g->lines + first, count * sizeof *lines);
	all->items[all->count++] = (struct insertion){.at = at, .count = count, .lines = lines};
	all->lines += count;
	return true;
}

/*
 * The lines that have come must have their place. Those that go at the bottom stay where they are until
 * all is done: xterm.js still lays them out, and what it adds to them comes back.
 */
static void make_room(struct flow *f, size_t added, size_t later)
{
	for (; added > 0; added--) {
		if (f->base > 0) {
			size_t total = f->count + later < f->max ? f->count + later : f->max;
			if (f->base + f->rows < total)
				f->base++;
		} else if (f->y + 1 < f->rows) {
			f->y++;
			f->count--;
		} else {
			f->base++;
		}
	}
}

/* Narrow the group of lines [first, end). */
static bool narrow(struct flow *f, struct group *g, struct insertions *all, size_t first, size_t end)
{
	assert(first < end);
	unsigned *lengths;
	size_t count;
	if (!gather(f, g, first, end, g->old_cols) || new_lengths(g, &lengths, &count) < 0)
		return false;
	unsigned last = line_trimmed(g->lines[g->count - 1]);
	size_t old_count = g->count, added = count > old_count ? count - old_count : 0;
	size_t length = f->base == 0 && f->y + 1 != f->count ? f->y : f->count;
	size_t lost = length + added > f->max ? length + added - f->max : 0;
	for (size_t i = 0; i < added; i++) {
		struct line *line = line_create(g->old_cols);
		if (!group_add(g, line)) {
			free(line);
			g->count = old_count + i;
			break;
		}
		line->wrapped = true;
		line->offset = g->lines[old_count - 1]->offset;
	}
	split_lines(g, old_count, last, lengths, count);
	free(lengths);
	if (g->count > old_count && !remember(all, end, g, old_count)) {
		while (g->count > old_count)
			free(g->lines[--g->count]);
		return false;
	}
	if (added > lost)
		make_room(f, added - lost, all->lines);
	f->saved_y += (int64_t)count - (int64_t)old_count;
	if (f->saved_y > (int64_t)(f->base + f->rows) - 1)
		f->saved_y = (int64_t)(f->base + f->rows) - 1;
	return true;
}

/* Put the new lines in their places; the oldest give way when there are too many. */
static void insert_all(struct flow *f, struct insertions *all)
{
	struct flow old = *f;
	size_t total = old.count + all->lines, skip = total > f->max ? total - f->max : 0,
	       next = all->count;
	f->lines = NULL;
	f->count = f->capacity = 0;
	reserve(f, total - skip);
	for (size_t i = 0; i <= old.count; i++) {
		while (next > 0 && (all->items[next - 1].at <= i || i == old.count)) {
			struct insertion *item = &all->items[--next];
			for (size_t k = 0; k < item->count; k++)
				flow_append(f, (struct flow_line){.line = item->lines[k]});
			free(item->lines);
		}
		if (i < old.count)
			flow_append(f, old.lines[i]);
	}
	free(old.lines);
	if (skip > 0 && skip <= f->count) {
		for (size_t i = 0; i < skip; i++)
			drop(&f->lines[i]);
		f->count -= skip;
		memmove(f->lines, f->lines + skip, f->count * sizeof *f->lines);
	}
}

void flow_narrow(struct flow *f, unsigned old_cols, unsigned new_cols)
{
	struct group g = {.old_cols = old_cols, .new_cols = new_cols};
	struct insertions all = {0};
	size_t stored = f->count;
	for (size_t first, end = stored; end > 0; end = first) {
		first = end - 1;
		if (!is_wrapped(f, first) && trimmed(f, first) <= new_cols)
			continue;
		while (first > 0 && is_wrapped(f, first))
			first--;
		size_t cursor = f->base + f->y;
		if (cursor >= first && cursor < end)
			continue;
		if (!narrow(f, &g, &all, first, end)) {
			f->failed = true;
			break;
		}
	}
	for (size_t i = f->count; i < stored; i++)
		drop(&f->lines[i]);
	free(g.lines);
	if (all.lines > 0)
		insert_all(f, &all);
	free(all.items);
}

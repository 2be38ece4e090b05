/*
 * Reflow works on groups of wrapped lines: widening joins each group from the top down, narrowing
 * splits each from the bottom up and inserts the new lines at the end. Groups that will be dropped
 * are only counted. If memory is short a group stays as it is or loses lines.
 */
#include "ring/screen/grid/flow.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

void flow_drop(struct flow_line *at)
{
	line_unref(at->line);
	if (at->owned)
		free(at->packed);
	*at = (struct flow_line){0};
}

void flow_append(struct flow *f, struct flow_line line)
{
	if (!line.line && !line.packed)
		f->failed = true;
	else if (reserve(f, f->count + 1))
		f->lines[f->count++] = line;
	else
		flow_drop(&line);
}

void flow_finish(struct flow *f)
{
	for (size_t i = 0; i < f->count; i++)
		flow_drop(&f->lines[i]);
	free(f->lines);
}

static bool is_wrapped(const struct flow *f, size_t i)
{
	return flow_line_wrapped(&f->lines[i]);
}

static struct group group_of(
	const struct flow *f, size_t first, size_t end, unsigned old_cols, unsigned new_cols)
{
	return (struct group){.lines = f->lines + first,
		.count = end - first,
		.old_cols = old_cols,
		.new_cols = new_cols};
}

/* old: that of the line that it replaces. */
static struct flow_line owned(struct packed *packed, uint32_t old)
{
	return (struct flow_line){.packed = packed, .owned = true, .old = old};
}

/* Wider */

/* Join lines [first, end). Unused lines become gaps. */
static void join(struct flow *f, size_t first, size_t end, unsigned old_cols, unsigned new_cols)
{
	struct group g = group_of(f, first, end, old_cols, new_cols);
	size_t count = 0;
	if (layout_count(&g, &count) < 0) {
		f->failed = true;
		return;
	}
	struct packed **lines = calloc(count + 1, sizeof *lines);
	if (!lines || layout_lines(&g, count, 0, lines) < 0) {
		f->failed = true;
		free(lines);
		return;
	}
	while (count > 1 && lines[count - 1]->trimmed == 0)
		free(lines[--count]);
	for (size_t i = 0; i < end - first && count > 0; i++) {
		uint32_t old = f->lines[first + i].old;
		flow_drop(&f->lines[first + i]);
		if (i < count)
			f->lines[first + i] = owned(lines[i], old);
	}
	for (size_t i = end - first; i < count; i++)
		free(lines[i]);
	free(lines);
}

/* Remove the gaps. Returns their number. */
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
	size_t cursor = f->base + f->y;
	for (size_t first = 0, end; first + 1 < f->count; first = end) {
		end = first + 1;
		while (end < f->count && is_wrapped(f, end))
			end++;
		/* The shell redraws the cursor's line. */
		if (end == first + 1 || (cursor >= first && cursor < end))
			continue;
		join(f, first, end, old_cols, new_cols);
	}
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
	if (removed > 0)
		f->saved_y = f->saved_y > (int64_t)removed ? f->saved_y - (int64_t)removed : 0;
}

/* Narrower */

/* New lines to insert before the line that is at index `at` now. */
struct insertion {
	size_t at;
	size_t count;
	struct packed **lines; /* array and lines are owned */
};

struct insertions {
	struct insertion *items; /* from the bottom up */
	size_t count, capacity;
	size_t lines; /* all new lines, including those not made because they will be dropped */
	size_t made;
};

static bool remember(struct insertions *all, struct insertion item)
{
	if (all->count == all->capacity) {
		size_t capacity = all->capacity ? all->capacity * 2 : 16;
		struct insertion *items = realloc(all->items, capacity * sizeof *items);
		if (!items)
			return false;
		all->items = items;
		all->capacity = capacity;
	}
	all->items[all->count++] = item;
	all->made += item.count;
	return true;
}

/*
 * Make space for added lines. Lines pushed off the bottom stay allocated until the end: xterm.js
 * still lays them out, and what it adds to them comes back.
 */
static void make_space(struct flow *f, size_t added, size_t later)
{
	for (; added > 0 && f->base == 0; added--) {
		if (f->y + 1 < f->rows) {
			f->y++;
			f->count--;
		} else {
			f->base++;
		}
	}
	size_t total = f->count + later < f->max ? f->count + later : f->max;
	size_t space = f->base + f->rows < total ? total - f->base - f->rows : 0;
	f->base += added < space ? added : space;
}

/* Lines from `end` on, including those to be inserted there. */
static size_t below(const struct flow *f, const struct insertions *all, size_t end)
{
	return (f->count > end ? f->count - end : 0) + all->made;
}

/* Whether lines above cannot change which lines are kept or where the screen begins. */
static bool is_decided(const struct flow *f, const struct insertions *all, size_t end)
{
	return f->base > 0 && f->base + f->rows >= f->max && below(f, all, end) >= f->max;
}

/*
 * Make the wanted lines of a group's `count` lines. They replace the group's lines; the rest is
 * remembered for insertion.
 */
static bool split(
	struct flow *f, const struct group *g, struct insertions *all, size_t first, size_t count)
{
	/* One screenful of lines may still be dropped at the bottom. */
	size_t most = f->max + f->rows, there = below(f, all, first + g->count);
	size_t wanted = there < most ? most - there : 0;
	size_t skip = count > wanted ? count - wanted : 0, old = g->count;
	if (count == 0 || count == skip)
		return true;
	struct packed **lines = malloc((count - skip) * sizeof *lines);
	if (!lines || layout_lines(g, count, skip, lines) < 0) {
		free(lines);
		return false;
	}
	for (size_t i = skip; i < count && i < old; i++) {
		uint32_t was = f->lines[first + i].old;
		flow_drop(&f->lines[first + i]);
		f->lines[first + i] = owned(lines[i - skip], was);
	}
	size_t from = old > skip ? old - skip : 0,
	       more = count - skip > from ? count - skip - from : 0;
	if (more > 0) {
		memmove(lines, lines + from, more * sizeof *lines);
		if (remember(all,
			    (struct insertion){.at = first + old, .count = more, .lines = lines}))
			return true;
		while (more > 0)
			free(lines[--more]);
		f->failed = true;
	}
	free(lines);
	return true;
}

/* Narrow the group of lines [first, end). */
static bool narrow(struct flow *f, const struct group *g, struct insertions *all, size_t first)
{
	size_t count, old_count = g->count, end = first + old_count;
	assert(old_count > 0);
	if (layout_count(g, &count) < 0)
		return false;
	size_t added = count > old_count ? count - old_count : 0;
	size_t length = f->base == 0 && f->y + 1 != f->count ? f->y : f->count;
	size_t lost = length + added > f->max ? length + added - f->max : 0;
	if (!is_decided(f, all, end) && !split(f, g, all, first, count))
		return false;
	all->lines += added;
	if (added > lost)
		make_space(f, added - lost, all->lines);
	f->saved_y += (int64_t)count - (int64_t)old_count;
	if (f->saved_y > (int64_t)(f->base + f->rows) - 1)
		f->saved_y = (int64_t)(f->base + f->rows) - 1;
	return true;
}

/* Insert the new lines. The oldest lines are dropped if there are too many. */
static void insert_all(struct flow *f, struct insertions *all)
{
	struct flow old = *f;
	size_t total = old.count + all->made, skip = total > f->max ? total - f->max : 0;
	size_t next = all->count, at = 0;
	struct flow_line *lines = malloc((total - skip + 1) * sizeof *lines);
	f->failed |= !lines;
	f->lines = lines;
	f->count = f->capacity = lines ? total - skip : 0;
	for (size_t i = 0; i <= old.count; i++) {
		while (next > 0 && (all->items[next - 1].at <= i || i == old.count)) {
			struct insertion *item = &all->items[--next];
			for (size_t k = 0; k < item->count; k++, at++)
				if (lines && at >= skip)
					lines[at - skip] = owned(item->lines[k], 0);
				else
					free(item->lines[k]);
			free(item->lines);
		}
		if (i == old.count)
			break;
		if (lines && at >= skip)
			lines[at - skip] = old.lines[i];
		else
			flow_drop(&old.lines[i]);
		at++;
	}
	free(old.lines);
}

void flow_narrow(struct flow *f, unsigned old_cols, unsigned new_cols)
{
	struct insertions all = {0};
	size_t stored = f->count;
	for (size_t first, end = stored; end > 0; end = first) {
		first = end - 1;
		if (is_decided(f, &all, end) && f->saved_y >= (int64_t)(f->base + f->rows) - 1)
			break;
		if (!is_wrapped(f, first) && flow_line_trimmed(&f->lines[first]) <= new_cols)
			continue;
		while (first > 0 && is_wrapped(f, first))
			first--;
		size_t cursor = f->base + f->y;
		if (cursor >= first && cursor < end)
			continue;
		struct group g = group_of(f, first, end, old_cols, new_cols);
		if (!narrow(f, &g, &all, first)) {
			f->failed = true;
			break;
		}
	}
	for (size_t i = f->count; i < stored; i++)
		flow_drop(&f->lines[i]);
	if (all.lines > 0)
		insert_all(f, &all);
	free(all.items);
}

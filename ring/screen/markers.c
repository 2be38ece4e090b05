/* A list ordered by offset. If memory is short, a mark is not recorded. */
#include "ring/screen/markers.h"

#include "ring/screen/grid/flow.h"
#include "ring/screen/screen_internal.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 16u

void markers_finish(struct markers *m)
{
	free(m->items);
	*m = (struct markers){.items = NULL};
}

/* Remove markers of dropped lines, and the oldest quarter if that is not enough. */
static void remove_old(struct screen *s)
{
	struct markers *m = &s->markers;
	unsigned kept = 0;
	for (unsigned i = 0; i < m->count; i++)
		if (m->items[i].line >= s->scrollback.dropped)
			m->items[kept++] = m->items[i];
	m->count = kept;
	if (kept < MARKERS_MAX)
		return;
	m->count -= MARKERS_MAX / 4;
	memmove(m->items, m->items + MARKERS_MAX / 4, m->count * sizeof *m->items);
}

static bool reserve(struct screen *s)
{
	struct markers *m = &s->markers;
	if (m->count < m->capacity)
		return true;
	remove_old(s);
	if (m->count < m->capacity)
		return true;
	unsigned capacity = m->capacity ? m->capacity * 2 : CAPACITY_MIN;
	struct marker *items = realloc(m->items, capacity * sizeof *items);
	if (!items)
		return false;
	m->items = items;
	m->capacity = capacity;
	return true;
}

static void add(struct screen *s, struct marker marker)
{
	struct markers *m = &s->markers;
	if (m->count > 0 && m->items[m->count - 1].offset >= marker.offset)
		return;
	if (reserve(s))
		m->items[m->count++] = marker;
}

/* Remove an earlier prompt in the same line: the prompt is redrawn. */
static void drop_redrawn(struct markers *m, uint64_t line)
{
	for (unsigned i = m->count; i > 0 && m->items[i - 1].line == line; i--) {
		if (m->items[i - 1].kind != 'B')
			continue;
		m->count--;
		memmove(&m->items[i - 1], &m->items[i], (m->count - (i - 1)) * sizeof *m->items);
		return;
	}
}

/* The first D after a C counts, because prompts repeat it. */
void markers_add(struct screen *s, const char *text, size_t length)
{
	const struct buffer *b = s->active;
	struct markers *m = &s->markers;
	if (length == 0 || b != &s->primary)
		return;
	if (s->mark_secret && !memmem(text, length, s->mark_secret, strlen(s->mark_secret)))
		return;
	bool ends = text[0] == 'D' && m->runs;
	m->runs = text[0] == 'C' || (m->runs && !ends);
	if (text[0] != 'B' && !ends)
		return;
	struct marker marker = {.offset = s->parser.offset,
		.line = s->scrollback.dropped + s->scrollback.count + b->y,
		.kind = text[0],
		.left = b->x == 0};
	if (text[0] == 'B')
		drop_redrawn(m, marker.line);
	add(s, marker);
}

void markers_erase(struct screen *s, unsigned first, unsigned end)
{
	struct markers *m = &s->markers;
	uint64_t base = s->scrollback.dropped + s->scrollback.count;
	unsigned kept = 0;
	if (s->active != &s->primary || m->count == 0)
		return;
	for (unsigned i = 0; i < m->count; i++)
		if (m->items[i].line < base + first || m->items[i].line >= base + end)
			m->items[kept++] = m->items[i];
	m->count = kept;
	screen_add_work(s, 1 + m->count / 32);
}

void markers_restore(struct screen *s, const char *text)
{
	char *end;
	struct marker marker = {.kind = text[0], .left = text[0] && text[1] == '0'};
	s->markers.runs |= marker.kind == 'C';
	if ((marker.kind != 'B' && marker.kind != 'D') || !text[1])
		return;
	marker.offset = strtoull(text + 2, &end, 10);
	if (*end == ',')
		marker.line = strtoull(end + 1, NULL, 10);
	if (*end == ',' && s->markers.count < MARKERS_MAX)
		add(s, marker);
}

static int by_line(const void *a, const void *b)
{
	const struct marker *x = a, *y = b;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int by_offset(const void *a, const void *b)
{
	const struct marker *x = a, *y = b;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/*
 * Each line of the flow stores its old index. A marker's line may have been joined to the line
 * above; markers of dropped lines are removed.
 */
void markers_flow(struct screen *s, const struct flow *f, uint64_t dropped)
{
	struct markers *m = &s->markers;
	unsigned kept = 0, next = 0;
	if (m->count == 0)
		return;
	qsort(m->items, m->count, sizeof *m->items, by_line);
	for (size_t i = 0; i <= f->count && next < m->count; i++) {
		uint64_t old = i < f->count ? f->lines[i].old : UINT64_MAX;
		if (old == 0)
			continue;
		/* Markers between the last line and this one. */
		for (; next < m->count && m->items[next].line + 1 < dropped + old; next++)
			if (i > 0) {
				m->items[kept] = m->items[next];
				m->items[kept++].line = s->scrollback.dropped + i - 1;
			}
		for (; i < f->count && next < m->count && m->items[next].line + 1 == dropped + old;
			next++) {
			m->items[kept] = m->items[next];
			m->items[kept++].line = s->scrollback.dropped + i;
		}
	}
	m->count = kept;
	qsort(m->items, m->count, sizeof *m->items, by_offset);
}

bool screen_marked_line(const struct screen *s, uint64_t offset, uint64_t *ret_line, bool *ret_left)
{
	const struct marker key = {.offset = offset};
	const struct marker *found = s->markers.count == 0
		? NULL
		: bsearch(&key, s->markers.items, s->markers.count, sizeof key, by_offset);
	if (!found || found->line < s->scrollback.dropped)
		return false;
	*ret_line = found->line;
	*ret_left = found->left;
	return true;
}

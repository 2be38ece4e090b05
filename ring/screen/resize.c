/*
 * Resizing: rows move from or to the scrollback, and lines are reflowed. The rows of the new size
 * are allocated first: if that fails, nothing changes. If memory is short later, lines are lost.
 */
#include "ring/screen/grid/flow.h"
#include "ring/screen/screen_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Move all lines of the primary buffer to a flow. It borrows those of the old scrollback. */
static void move_lines(struct screen *s, struct flow *f, struct scrollback *ret_old)
{
	struct buffer *b = &s->primary;
	for (unsigned i = 0; i < s->scrollback.count; i++)
		flow_append(f,
			(struct flow_line){
				.packed = scrollback_get(&s->scrollback, i), .old = i + 1});
	for (unsigned y = 0; y < b->count; y++)
		flow_append(f,
			(struct flow_line){
				.line = buffer_row(b, y), .old = s->scrollback.count + y + 1});
	*ret_old = s->scrollback;
	scrollback_init_behind(&s->scrollback, ret_old);
	free(b->rows);
	b->rows = NULL;
	b->count = b->first = 0;
}

/* Change the number of rows at the bottom and the top. old: previous number. */
static void change_rows(struct flow *f, unsigned old, unsigned cols)
{
	unsigned added = 0;
	for (unsigned y = old; y < f->rows; y++) {
		if (f->count >= f->rows + f->base)
			continue;
		if (f->base > 0 && f->count <= f->base + f->y + added + 1) {
			f->base--;
			added++;
		} else {
			flow_append(f, (struct flow_line){.line = line_create(cols)});
		}
	}
	for (unsigned y = old; y > f->rows; y--) {
		if (f->count <= f->rows + f->base)
			continue;
		if (f->count > f->base + f->y + 1) {
			flow_drop(&f->lines[--f->count]);
		} else {
			f->base++;
		}
	}
	if (f->y >= f->rows)
		f->y = f->rows - 1;
	f->y += added;
}

/* Drop the oldest lines beyond the limit. */
static void trim(struct screen *s, struct flow *f)
{
	if (f->count <= f->max)
		return;
	size_t excess = f->count - f->max;
	for (size_t i = 0; i < excess; i++)
		flow_drop(&f->lines[i]);
	f->count -= excess;
	for (size_t i = 0; i < f->count; i++)
		f->lines[i] = f->lines[i + excess];
	f->base = f->base > excess ? f->base - excess : 0;
	f->saved_y = f->saved_y > (int64_t)excess ? f->saved_y - (int64_t)excess : 0;
	s->scrollback.dropped += excess;
}

/* Copy a line of the flow into a blank line. */
static void copy_line(struct line *to, struct flow_line *at)
{
	if (at->line)
		line_copy(to, at->line);
	else
		packed_unpack_to(at->packed, to);
}

/* A line has been cut, perhaps in a wide character: xterm.js blanks the half that is left. */
static void blank_half(struct line *line, unsigned cols)
{
	if (cell_width(line->cells[cols - 1]) == 2)
		line_put(line, cols - 1, (struct cell){0});
}

/* Whether a packed line fits and does not end in half a wide character, for which `odd` is set. */
static bool fits(const struct packed *p, unsigned cols, bool narrowed)
{
	return p->extent < cols || (p->extent == cols && !(narrowed && p->odd));
}

/* Return the lines above the screen to the scrollback, still packed if they fit. */
static void restore_scrollback(struct screen *s, struct flow *f, bool narrowed)
{
	struct line *line = f->base > 0 ? line_create(s->cols) : NULL;
	f->failed |= f->base > 0 && !line;
	for (size_t i = 0; line && i < f->base; i++) {
		struct flow_line *at = &f->lines[i];
		if (at->packed && fits(at->packed, s->cols, narrowed)) {
			f->failed |= !scrollback_put(&s->scrollback, at->packed);
		} else {
			line_fill(line, (struct cell){0});
			copy_line(line, at);
			if (narrowed)
				blank_half(line, s->cols);
			f->failed |= !scrollback_push(&s->scrollback, line);
		}
		flow_drop(at);
	}
	free(line);
}

/* Return the last lines to the screen. fresh: blank rows, which become the screen's. */
static void restore_rows(struct screen *s, const struct flow *f, struct buffer *fresh, bool narrowed)
{
	struct buffer *b = &s->primary;
	b->rows = fresh->rows;
	b->count = fresh->count;
	fresh->rows = NULL;
	for (unsigned y = 0; y < s->rows; y++) {
		if (f->base + y < f->count)
			copy_line(b->rows[y], &f->lines[f->base + y]);
		if (narrowed)
			blank_half(b->rows[y], s->cols);
		b->rows[y]->version = s->version;
	}
}

static int resize_primary(
	struct screen *s, unsigned old_rows, unsigned old_cols, struct buffer *fresh)
{
	struct buffer *b = &s->primary;
	struct flow f = {.max = (size_t)s->rows + s->scrollback.max,
		.base = s->scrollback.count,
		.rows = s->rows,
		.y = b->y,
		.saved_y = b->saved.y};
	struct scrollback old;
	uint64_t dropped = s->scrollback.dropped;
	move_lines(s, &f, &old);
	change_rows(&f, old_rows, s->cols);
	trim(s, &f);
	if (s->cols > old_cols)
		flow_widen(&f, old_cols, s->cols);
	else if (s->cols < old_cols)
		flow_narrow(&f, old_cols, s->cols);
	/* The screen shows the last lines. */
	if (f.base + s->rows < f.count)
		f.base = f.count - s->rows;
	/* After an allocation failure there may be fewer lines. */
	if (f.base > f.count)
		f.base = f.count;
	markers_flow(s, &f, dropped);
	dropped = s->scrollback.dropped;
	restore_scrollback(s, &f, s->cols < old_cols);
	s->scrollback.dropped = dropped;
	restore_rows(s, &f, fresh, s->cols < old_cols);
	flow_finish(&f);
	scrollback_finish(&old);
	b->y = f.y < s->rows ? f.y : s->rows - 1;
	if (b->x >= s->cols)
		b->x = s->cols - 1;
	if (b->saved.x >= s->cols)
		b->saved.x = s->cols - 1;
	b->saved.y = f.saved_y;
	b->top = 0;
	b->bottom = s->rows - 1;
	return f.failed ? -ENOMEM : 0;
}

/* Keep a row, or copy it if it becomes wider. `fresh` gets the unused line. */
static void keep_row(struct line **fresh, struct line **row, bool wider)
{
	if (wider) {
		line_copy(*fresh, *row);
		if ((*row)->length > (*fresh)->length)
			blank_half(*fresh, (*fresh)->length);
		return;
	}
	struct line *blank = *fresh;
	*fresh = *row;
	*row = blank;
}

/* The alternate buffer is not reflowed and keeps cells right of the edge. fresh: blank rows. */
static void resize_alternate(
	struct screen *s, unsigned old_rows, unsigned old_cols, struct buffer *fresh)
{
	struct buffer *b = &s->alternate;
	b->bottom = s->rows - 1;
	if (!b->rows)
		return;
	assert(fresh->rows);
	/* Rows are removed at the top only if the cursor would be lost at the bottom. */
	unsigned first = 0;
	if (old_rows > s->rows && b->y + 1 > s->rows)
		first = b->y + 1 - s->rows;
	for (unsigned y = first; y < old_rows && y - first < s->rows; y++)
		keep_row(&fresh->rows[y - first], buffer_slot(b, y), s->cols > old_cols);
	for (unsigned y = 0; y < s->rows; y++)
		fresh->rows[y]->version = s->version;
	struct line **rows = b->rows;
	unsigned count = b->count;
	b->rows = fresh->rows;
	b->first = 0;
	b->count = s->rows;
	fresh->rows = rows;
	fresh->count = count;
	if (b->x >= s->cols)
		b->x = s->cols - 1;
	if (b->y >= s->rows)
		b->y = s->rows - 1;
	if (b->saved.x >= s->cols)
		b->saved.x = s->cols - 1;
	b->saved.y = b->saved.y > (int64_t)first ? b->saved.y - (int64_t)first : 0;
	b->top = 0;
}

int screen_resize(struct screen *s, unsigned rows, unsigned cols)
{
	unsigned old_rows = s->rows, old_cols = s->cols;
	rows = rows < 1 ? 1 : rows > SCREEN_SIDE_MAX ? SCREEN_SIDE_MAX : rows;
	cols = cols < SCREEN_COLS_MIN    ? SCREEN_COLS_MIN
		: cols > SCREEN_SIDE_MAX ? SCREEN_SIDE_MAX
					 : cols;
	if (rows == old_rows && cols == old_cols)
		return 0;
	struct buffer primary = {0}, alternate = {0};
	int rc = -ENOMEM;
	if (!buffer_fill(&primary, rows, cols) ||
		(s->alternate.rows && !buffer_fill(&alternate, rows, cols)) ||
		!scrollback_thaw(&s->scrollback) || !screen_make_pool(s, rows))
		goto out;
	s->version++;
	s->in_run = false;
	s->rows = rows;
	s->cols = cols;
	rc = resize_primary(s, old_rows, old_cols, &primary);
	resize_alternate(s, old_rows, old_cols, &alternate);
	buffer_tabs_resized(&s->primary, cols);
	buffer_tabs_resized(&s->alternate, cols);
	s->primary.moved = s->alternate.moved = s->version;
	screen_plan_sweeps(s);
out:
	buffer_empty(&primary, 0, 0);
	buffer_empty(&alternate, 0, 0);
	return rc;
}

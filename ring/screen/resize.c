/* The terminal's size changes: rows come from the scrollback or go there, lines are laid out anew. */
#include "ring/screen/grid/flow.h"
#include "ring/screen/screen_internal.h"

#include <errno.h>
#include <stdlib.h>

/* Hand all lines of the primary buffer over to a flow. It borrows those of the scrollback, which is emptied. */
static void take_lines(struct screen *s, struct flow *f, struct scrollback *ret_old)
{
	struct buffer *b = &s->primary;
	for (unsigned i = 0; i < s->scrollback.count; i++)
		flow_append(f, (struct flow_line){.packed = scrollback_get(&s->scrollback, i)});
	for (unsigned y = 0; y < b->count; y++) {
		unsigned i = b->first + y;
		flow_append(
			f, (struct flow_line){.line = b->rows[i >= b->count ? i - b->count : i]});
	}
	*ret_old = s->scrollback;
	scrollback_init(&s->scrollback, ret_old->max);
	s->scrollback.dropped = ret_old->dropped;
	free(b->rows);
	b->rows = NULL;
	b->count = b->first = 0;
}

/* The screen has other rows: what happens at its bottom and its top. old: rows until now. */
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
			f->count--;
			free(f->lines[f->count].line);
		} else {
			f->base++;
		}
	}
	if (f->y >= f->rows)
		f->y = f->rows - 1;
	f->y += added;
}

/* There may be more lines than are kept. */
static void trim(struct screen *s, struct flow *f)
{
	size_t excess = f->count > f->max ? f->count - f->max : 0;
	for (size_t i = 0; i < excess; i++)
		free(f->lines[i].line);
	f->count -= excess;
	for (size_t i = 0; excess > 0 && i < f->count; i++)
		f->lines[i] = f->lines[i + excess];
	f->base = f->base > excess ? f->base - excess : 0;
	f->saved_y = f->saved_y > (int64_t)excess ? f->saved_y - (int64_t)excess : 0;
	s->scrollback.dropped += excess;
}

/* A line of exactly so many cells; NULL when memory is short. */
static struct line *fit(struct flow_line *at, unsigned cols)
{
	struct line *line = at->line ? at->line : scrollback_unpack(at->packed, cols);
	if (line && line->length != cols) {
		struct line *other = line_resize(line, cols);
		if (!other) {
			free(at->line ? NULL : line);
			return NULL;
		}
		line = other;
	}
	if (line)
		at->packed = NULL;
	at->line = NULL;
	return line;
}

/* What is above the screen goes back into the scrollback, packed as it was if it still fits. */
static void give_scrollback(struct screen *s, struct flow *f)
{
	for (size_t i = 0; i < f->base; i++) {
		struct flow_line *at = &f->lines[i];
		if (at->packed && at->packed->extent <= s->cols) {
			scrollback_put(&s->scrollback, at->packed);
			at->packed = NULL;
			continue;
		}
		struct line *line = fit(at, s->cols);
		if (line)
			scrollback_push(&s->scrollback, line);
		free(line);
	}
}

static bool give_rows(struct screen *s, struct flow *f)
{
	struct buffer *b = &s->primary;
	b->rows = calloc(s->rows, sizeof *b->rows);
	if (!b->rows)
		return false;
	b->count = s->rows;
	for (unsigned y = 0; y < s->rows; y++) {
		size_t i = f->base + y;
		b->rows[y] = i < f->count ? fit(&f->lines[i], s->cols) : line_create(s->cols);
		if (!b->rows[y])
			return false;
		b->rows[y]->version = s->version;
	}
	return true;
}

static int resize_primary(struct screen *s, unsigned old_rows, unsigned old_cols)
{
	struct buffer *b = &s->primary;
	struct flow f = {.max = (size_t)s->rows + s->scrollback.max,
		.base = s->scrollback.count,
		.rows = s->rows,
		.y = b->y,
		.saved_y = b->saved.y};
	struct scrollback old;
	take_lines(s, &f, &old);
	change_rows(&f, old_rows, s->cols);
	trim(s, &f);
	if (s->cols > old_cols)
		flow_widen(&f, old_cols, s->cols);
	else if (s->cols < old_cols)
		flow_narrow(&f, old_cols, s->cols);
	/* The screen is what comes last. */
	if (f.base + s->rows < f.count)
		f.base = f.count - s->rows;
	uint64_t dropped = s->scrollback.dropped;
	give_scrollback(s, &f);
	s->scrollback.dropped = dropped;
	bool ok = give_rows(s, &f) && !f.failed;
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
	return ok ? 0 : -ENOMEM;
}

/* The alternate buffer is not laid out anew, and its lines keep what is beyond the right edge. */
static int resize_alternate(struct screen *s, unsigned old_rows, unsigned old_cols)
{
	struct buffer *b = &s->alternate;
	b->bottom = s->rows - 1;
	if (!b->rows)
		return 0;
	struct line **rows = calloc(s->rows, sizeof *rows);
	if (!rows)
		return -ENOMEM;
	/* Rows go at the top only when the cursor would be lost at the bottom. */
	unsigned first = 0;
	if (old_rows > s->rows && b->y + 1 > s->rows)
		first = b->y + 1 - s->rows;
	int rc = 0;
	for (unsigned y = 0; y < old_rows; y++) {
		unsigned i = b->first + y;
		struct line *line = b->rows[i >= b->count ? i - b->count : i];
		if (y < first || y - first >= s->rows)
			free(line);
		else
			rows[y - first] = line;
	}
	for (unsigned y = 0; y < s->rows; y++) {
		struct line *line = rows[y];
		if (!line)
			line = line_create(s->cols);
		else if (s->cols > old_cols)
			line = line_resize(line, s->cols);
		if (line)
			line->version = s->version;
		else
			rc = -ENOMEM;
		rows[y] = line ? line : rows[y];
	}
	free(b->rows);
	b->rows = rows;
	b->first = 0;
	b->count = s->rows;
	if (b->x >= s->cols)
		b->x = s->cols - 1;
	if (b->y >= s->rows)
		b->y = s->rows - 1;
	if (b->saved.x >= s->cols)
		b->saved.x = s->cols - 1;
	b->saved.y = b->saved.y > (int64_t)first ? b->saved.y - (int64_t)first : 0;
	b->top = 0;
	return rc;
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
	s->version++;
	s->in_run = false;
	s->rows = rows;
	s->cols = cols;
	int rc = resize_primary(s, old_rows, old_cols);
	int rc_alternate = resize_alternate(s, old_rows, old_cols);
	buffer_tabs_resized(&s->primary, cols);
	buffer_tabs_resized(&s->alternate, cols);
	s->primary.moved = s->alternate.moved = s->version;
	return rc < 0 ? rc : rc_alternate;
}

/* A buffer of rows: scrolling, tab stops, and the two buffers of a screen. */
#include "ring/screen/screen_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TAB_WIDTH 8u

static void free_rows(struct buffer *b)
{
	for (unsigned i = 0; b->rows && i < b->count; i++)
		free(b->rows[i]);
	free(b->rows);
	b->rows = NULL;
	b->count = b->first = 0;
}

bool buffer_fill(struct buffer *b, unsigned rows, unsigned cols, struct cell blank)
{
	b->rows = calloc(rows, sizeof *b->rows);
	if (!b->rows)
		return false;
	b->first = 0;
	b->count = rows;
	for (unsigned i = 0; i < rows; i++) {
		b->rows[i] = line_create(cols);
		if (!b->rows[i]) {
			free_rows(b);
			return false;
		}
		line_fill(b->rows[i], blank);
	}
	return true;
}

static void set_default_tabs(struct buffer *b, unsigned cols)
{
	memset(b->tabs, 0, sizeof b->tabs);
	for (unsigned col = 0; col < cols; col += TAB_WIDTH)
		buffer_set_tab(b, col, true);
}

void buffer_empty(struct buffer *b, unsigned rows, unsigned cols)
{
	free_rows(b);
	b->x = b->y = b->top = 0;
	b->bottom = rows > 0 ? rows - 1 : 0;
	set_default_tabs(b, cols);
}

/* Tab stops */

bool buffer_has_tab(const struct buffer *b, unsigned col)
{
	return col / 64 < SCREEN_TAB_WORDS && (b->tabs[col / 64] >> col % 64 & 1);
}

void buffer_set_tab(struct buffer *b, unsigned col, bool on)
{
	if (col / 64 >= SCREEN_TAB_WORDS)
		return;
	if (on)
		b->tabs[col / 64] |= UINT64_C(1) << col % 64;
	else
		b->tabs[col / 64] &= ~(UINT64_C(1) << col % 64);
}

unsigned buffer_next_tab(const struct buffer *b, unsigned col, unsigned cols)
{
	do
		col++;
	while (col < cols && !buffer_has_tab(b, col));
	return col >= cols ? cols - 1 : col;
}

unsigned buffer_previous_tab(const struct buffer *b, unsigned col, unsigned cols)
{
	while (col > 0 && !buffer_has_tab(b, --col))
		;
	return col >= cols ? cols - 1 : col;
}

/* xterm.js goes on with stops of the default width from the last one that is left. */
void buffer_tabs_resized(struct buffer *b, unsigned cols)
{
	unsigned col = cols;
	if (!buffer_has_tab(b, col))
		col = buffer_previous_tab(b, col, cols);
	for (; col < cols; col += TAB_WIDTH)
		buffer_set_tab(b, col, true);
}

/* Scrolling */

static struct line **slot(const struct buffer *b, unsigned y)
{
	unsigned i = b->first + y;
	return &b->rows[i >= b->count ? i - b->count : i];
}

static void renew(struct screen *s, struct line *line, struct cell blank)
{
	/* What it had behind the edge is gone; it can only be longer than it should be. */
	line->length = s->cols;
	if (line->used > s->cols)
		line->used = s->cols;
	line_fill(line, blank);
	line->wrapped = false;
	line->version = s->version;
	line->offset = s->parser.offset;
}

void screen_shift(struct screen *s, unsigned top, unsigned bottom, int n, struct cell blank)
{
	struct buffer *b = s->active;
	unsigned height = bottom - top + 1;
	unsigned by = (unsigned)(n < 0 ? -n : n) % height;
	/* Moving them all out is the same as renewing them in place. */
	unsigned renewed = (unsigned)(n < 0 ? -n : n) >= height ? height : by;
	for (unsigned i = 0; i < by; i++) {
		if (n > 0) { /* up */
			struct line *line = *slot(b, top);
			for (unsigned y = top; y < bottom; y++)
				*slot(b, y) = *slot(b, y + 1);
			*slot(b, bottom) = line;
		} else {
			struct line *line = *slot(b, bottom);
			for (unsigned y = bottom; y > top; y--)
				*slot(b, y) = *slot(b, y - 1);
			*slot(b, top) = line;
		}
	}
	for (unsigned i = 0; i < renewed; i++)
		renew(s, *slot(b, n > 0 ? bottom - i : top + i), blank);
	b->moved = s->version;
	screen_worked(s, (size_t)height + (size_t)renewed * s->cols);
}

void screen_scroll(struct screen *s, bool wrapped)
{
	struct buffer *b = s->active;
	struct cell blank = screen_blank(s);
	if (b->top > 0) {
		screen_shift(s, b->top, b->bottom, 1, blank);
	} else {
		struct line *line = *slot(b, 0);
		if (b == &s->primary)
			scrollback_push(&s->scrollback, line);
		if (b->bottom == s->rows - 1) {
			if (++b->first >= b->count)
				b->first = 0;
		} else {
			for (unsigned y = 0; y < b->bottom; y++)
				*slot(b, y) = *slot(b, y + 1);
			*slot(b, b->bottom) = line;
		}
		renew(s, line, blank);
		b->moved = s->version;
		screen_worked(s, s->cols);
	}
	screen_line(s, b->bottom)->wrapped = wrapped;
}

int64_t screen_base(const struct screen *s)
{
	return s->active == &s->primary ? (int64_t)s->scrollback.count : 0;
}

/* The two buffers */

void screen_use_alternate(struct screen *s)
{
	struct buffer *b = &s->alternate;
	if (s->active == b)
		return;
	/* Without memory for it, the program goes on in the primary buffer. */
	if (!buffer_fill(b, s->rows, s->cols, screen_blank(s)))
		return;
	for (unsigned y = 0; y < s->rows; y++) {
		assert(b->rows[y]);
		b->rows[y]->offset = s->parser.offset;
	}
	b->x = s->primary.x;
	b->y = s->primary.y;
	s->active = b;
	b->moved = s->version;
	s->modes.kitty_flags = b->kitty.flags;
	screen_worked(s, (size_t)s->rows * s->cols);
}

void screen_use_primary(struct screen *s)
{
	if (s->active == &s->primary)
		return;
	s->primary.x = s->alternate.x;
	s->primary.y = s->alternate.y;
	buffer_empty(&s->alternate, s->rows, s->cols);
	s->active = &s->primary;
	s->primary.moved = s->version;
	s->modes.kitty_flags = s->primary.kitty.flags;
}

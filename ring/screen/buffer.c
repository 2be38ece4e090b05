/*
 * A buffer of rows: scrolling, tab stops, and the screen's two buffers. Equal rows that are created
 * together share a line until one of them is written, so that no sequence costs more than what it
 * shows. If memory for a row is short, the row stays as it is.
 */
#include "ring/screen/screen_internal.h"

#include <stdlib.h>
#include <string.h>

#define TAB_WIDTH 8u

static void free_rows(struct buffer *b)
{
	for (unsigned i = 0; b->rows && i < b->count; i++)
		line_unref(b->rows[i]);
	free(b->rows);
	b->rows = NULL;
	b->count = b->first = 0;
}

static bool make_rows(struct buffer *b, unsigned rows)
{
	b->rows = calloc(rows, sizeof *b->rows);
	b->first = 0;
	b->count = b->rows ? rows : 0;
	return b->rows != NULL;
}

bool buffer_fill(struct buffer *b, unsigned rows, unsigned cols)
{
	bool made = make_rows(b, rows);
	for (unsigned i = 0; made && i < rows; i++)
		made = (b->rows[i] = line_create(cols)) != NULL;
	if (!made)
		free_rows(b);
	return made;
}

bool buffer_fill_shared(struct buffer *b, unsigned rows, unsigned cols)
{
	struct line *line = line_create(cols);
	if (!line || !make_rows(b, rows)) {
		line_unref(line);
		return false;
	}
	line->shares = rows - 1;
	for (unsigned i = 0; i < rows; i++)
		b->rows[i] = line;
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

/* xterm.js continues with stops of the default width after the last remaining stop. */
void buffer_tabs_resized(struct buffer *b, unsigned cols)
{
	unsigned col = cols;
	if (!buffer_has_tab(b, col))
		col = buffer_previous_tab(b, col, cols);
	for (; col < cols; col += TAB_WIDTH)
		buffer_set_tab(b, col, true);
}

/* Shared lines */

bool screen_make_pool(struct screen *s, unsigned rows)
{
	struct line **pool = malloc(rows * sizeof *pool);
	if (!pool)
		return false;
	screen_free_pool(s);
	s->pool = pool;
	return true;
}

void screen_free_pool(struct screen *s)
{
	while (s->pooled > 0)
		free(s->pool[--s->pooled]);
	free(s->pool);
	s->pool = NULL;
}

/* An unshared line with undefined content, or NULL. */
static struct line *alloc_line(struct screen *s, unsigned length)
{
	if (s->pooled > 0 && length == s->cols)
		return s->pool[--s->pooled];
	return line_create(length);
}

/* Drop a row's reference to its line. */
static void drop_line(struct screen *s, struct line *line)
{
	if (line->shares == 0 && line->length == s->cols && s->pooled < s->rows)
		s->pool[s->pooled++] = line;
	else
		line_unref(line);
}

struct line *screen_make_line(struct screen *s)
{
	struct line *line = alloc_line(s, s->cols);
	if (!line)
		return NULL;
	line_fill(line, (struct cell){0});
	line->wrapped = false;
	line->version = s->version;
	line->offset = s->parser.offset;
	return line;
}

struct line *screen_unshare(struct screen *s, struct line **at)
{
	/* Writes go here if memory is short. */
	static _Thread_local _Alignas(struct line)
		uint8_t nowhere[sizeof(struct line) + SCREEN_SIDE_MAX * sizeof(struct cell)];
	struct line *lost = (struct line *)(void *)nowhere, *from = *at,
		    *line = alloc_line(s, from->length);
	if (!line) {
		line = lost;
		line->length = from->length;
	}
	unsigned used = line->used;
	line_copy(line, from);
	if (used > line->used)
		memset(line->cells + line->used, 0, (used - line->used) * sizeof *line->cells);
	if (line != lost) {
		from->shares--;
		*at = line;
	}
	return line;
}

unsigned screen_same_rows(const struct screen *s, unsigned first, unsigned end)
{
	const struct line *line = screen_line(s, first);
	unsigned y = first + 1;
	while (line->shares > 0 && y < end && screen_line(s, y) == line)
		y++;
	return y;
}

/* Set rows [first, end) to this line. The caller keeps its own reference. */
void screen_set_rows(struct screen *s, unsigned first, unsigned end, struct line *line)
{
	for (unsigned y = first, next; y < end; y = next) {
		struct line *old = *screen_slot(s, y);
		next = screen_same_rows(s, y, end);
		line->shares += next - y;
		old->shares -= next - y - 1;
		drop_line(s, old);
		for (unsigned i = y; i < next; i++)
			*screen_slot(s, i) = line;
	}
}

void screen_spread_row(struct screen *s, unsigned y, unsigned end, struct line *line)
{
	/* The line may be the dummy of screen_unshare(). */
	if (y + 1 < end && screen_line(s, y) == line)
		screen_set_rows(s, y + 1, end, line);
	s->active->moved = s->version;
}

static bool are_plain(const struct screen *s, unsigned first, unsigned end)
{
	for (unsigned y = first; s->active == &s->alternate && y < end; y++)
		if (screen_line(s, y)->length != s->cols)
			return false;
	return true;
}

void screen_fill_rows(struct screen *s, unsigned first, unsigned end, struct cell cell)
{
	/* Cells right of the edge are filled as well. */
	bool plain = end - first > 1 && are_plain(s, first, end);
	struct line *line = plain ? screen_make_line(s) : NULL;
	if (line) {
		line_fill(line, cell);
		screen_set_rows(s, first, end, line);
		drop_line(s, line);
		screen_add_work(s, (end - first) / 8 + s->cols);
		return;
	}
	for (unsigned y = first; y < end; y++) {
		line = screen_touch(s, y);
		line_fill(line, cell);
		line->wrapped = false;
		line->offset = s->parser.offset;
		screen_add_work(s, line->length);
	}
}

/* Scrolling */

/* Blank a row and drop its cells right of the edge. */
static void blank_row(struct screen *s, unsigned y, struct cell blank)
{
	struct line **at = screen_slot(s, y), *line = *at;
	if (line->shares > 0) {
		line = screen_make_line(s);
		if (!line)
			return;
		screen_set_rows(s, y, y + 1, line);
		line->shares--;
	}
	/* A line is never shorter than the screen is wide. */
	line->length = s->cols;
	if (line->used > s->cols)
		line->used = s->cols;
	line_fill(line, blank);
	line->wrapped = false;
	line->version = s->version;
	line->offset = s->parser.offset;
}

/* Rotate the circular array so that row 0 comes first. */
static void straighten(struct buffer *b)
{
	struct line *rows[SCREEN_SIDE_MAX];
	if (b->first == 0)
		return;
	memcpy(rows, b->rows, b->first * sizeof *rows);
	memmove(b->rows, b->rows + b->first, (b->count - b->first) * sizeof *rows);
	memcpy(b->rows + b->count - b->first, rows, b->first * sizeof *rows);
	b->first = 0;
}

/* Move rows [top, bottom] up by n, or down if n is negative, reusing those that leave. */
static void rotate(struct buffer *b, unsigned top, unsigned bottom, int n)
{
	unsigned height = bottom - top + 1, by = (unsigned)(n < 0 ? -n : n);
	struct line *rows[SCREEN_SIDE_MAX], **at;
	straighten(b);
	at = b->rows + top;
	if (n > 0) {
		memcpy(rows, at, by * sizeof *rows);
		memmove(at, at + by, (height - by) * sizeof *rows);
		memcpy(at + height - by, rows, by * sizeof *rows);
	} else {
		memcpy(rows, at + height - by, by * sizeof *rows);
		memmove(at + by, at, (height - by) * sizeof *rows);
		memcpy(at, rows, by * sizeof *rows);
	}
}

/* Blank rows [first, end) and drop their cells right of the edge. */
static void blank_rows(struct screen *s, unsigned first, unsigned end, struct cell blank)
{
	struct line *line = end - first > 1 ? screen_make_line(s) : NULL;
	if (!line) {
		for (unsigned y = first; y < end; y++)
			blank_row(s, y, blank);
		screen_add_work(s, (size_t)(end - first) * s->cols);
		return;
	}
	line_fill(line, blank);
	screen_set_rows(s, first, end, line);
	drop_line(s, line);
	screen_add_work(s, s->cols + (end - first) / 8);
}

void screen_shift(struct screen *s, unsigned top, unsigned bottom, int n, struct cell blank)
{
	struct buffer *b = s->active;
	unsigned height = bottom - top + 1, by = (unsigned)(n < 0 ? -n : n);
	if (by < height)
		rotate(b, top, bottom, n);
	else
		by = height;
	if (n > 0)
		blank_rows(s, bottom + 1 - by, bottom + 1, blank);
	else
		blank_rows(s, top, top + by, blank);
	b->moved = s->version;
	screen_add_work(s, height / 8 + 1);
}

void screen_scroll(struct screen *s, bool wrapped)
{
	struct buffer *b = s->active;
	struct cell blank = screen_blank(s);
	if (b->top > 0) {
		screen_shift(s, b->top, b->bottom, 1, blank);
	} else {
		if (s->missing > 0)
			s->missing--;
		else if (b == &s->primary)
			scrollback_push(&s->scrollback, screen_line(s, 0));
		if (b->bottom == s->rows - 1) {
			if (++b->first >= b->count)
				b->first = 0;
		} else if (b->bottom > 0) {
			rotate(b, 0, b->bottom, 1);
		}
		blank_row(s, b->bottom, blank);
		b->moved = s->version;
		screen_add_work(s, s->cols);
	}
	if (wrapped)
		screen_touch(s, b->bottom)->wrapped = true;
}

/* Adjacent rows that share a line are pushed together. */
void screen_push_rows(struct screen *s, unsigned count)
{
	for (unsigned y = 0, end; y < count; y = end) {
		end = screen_same_rows(s, y, count);
		scrollback_push_many(&s->scrollback, screen_line(s, y), end - y);
		screen_add_work(s, s->cols);
	}
}

void screen_scroll_in(struct screen *s, uint64_t n, struct line *line)
{
	struct buffer *b = s->active;
	unsigned height = b->bottom - b->top + 1, by = n < height ? (unsigned)n : height;
	bool keep = b->top == 0 && b == &s->primary;
	if (keep)
		screen_push_rows(s, by);
	if (keep && n > by)
		scrollback_push_many(&s->scrollback, line, n - by);
	if (by < height)
		rotate(b, b->top, b->bottom, (int)by);
	screen_set_rows(s, b->bottom + 1 - by, b->bottom + 1, line);
	b->moved = s->version;
	screen_add_work(s, height / 8 + s->cols);
}

void screen_renew_bottom(struct screen *s)
{
	struct buffer *b = s->active;
	blank_row(s, b->bottom, screen_blank(s));
	b->moved = s->version;
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
	/* If memory is short, the program continues in the primary buffer. */
	struct line **rows = malloc(s->rows * sizeof *rows), *line = screen_make_line(s);
	if (!rows || !line) {
		free(rows);
		free(line);
		return;
	}
	line_fill(line, screen_blank(s));
	line->shares = s->rows - 1;
	for (unsigned y = 0; y < s->rows; y++)
		rows[y] = line;
	b->rows = rows;
	b->first = 0;
	b->count = s->rows;
	b->x = s->primary.x;
	b->y = s->primary.y;
	s->active = b;
	b->moved = s->version;
	screen_add_work(s, s->rows / 8 + s->cols);
}

void screen_use_primary(struct screen *s)
{
	if (s->active == &s->primary)
		return;
	s->primary.x = s->alternate.x;
	s->primary.y = s->alternate.y;
	buffer_empty(&s->alternate, s->rows, s->cols);
	s->active = &s->primary;
	screen_add_work(s, s->rows / 8);
	s->primary.moved = s->version;
}

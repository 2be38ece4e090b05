/*
 * Each row is positioned by itself and filled with blanks, so that a terminal with other widths of
 * characters does not shift what follows. Text of other programs passes glyph_next().
 */
#include "ws/client/draw/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void canvas_bytes(struct canvas *p, const void *bytes, size_t length)
{
	if (p->length + length > p->size) {
		size_t size = (p->length + length) * 2;
		char *more = realloc(p->bytes, size);
		if (!more) {
			p->failed = true;
			return;
		}
		p->bytes = more;
		p->size = size;
	}
	memcpy(p->bytes + p->length, bytes, length);
	p->length += length;
}

static void __attribute__((format(printf, 2, 3)))
put_format(struct canvas *p, const char *format, ...)
{
	char text[64];
	va_list list;
	va_start(list, format);
	int n = vsnprintf(text, sizeof text, format, list);
	va_end(list);
	if (n > 0 && n < (int)sizeof text)
		canvas_bytes(p, text, (size_t)n);
}

void canvas_move(struct canvas *p, unsigned x, unsigned y)
{
	put_format(p, "\033[%u;%uH", y + 1, x + 1);
}

void canvas_blanks(struct canvas *p, unsigned n)
{
	for (; n > 0; n--)
		canvas_bytes(p, " ", 1);
}

unsigned canvas_text(struct canvas *p, const char *text, unsigned cols)
{
	struct glyph g;
	unsigned used = 0;
	const char *end = text + strlen(text);
	while (glyph_next(&text, end, &g) && used + g.width <= cols) {
		canvas_bytes(p, g.text, g.length);
		used += g.width;
	}
	return used;
}

static void put_color(struct canvas *p, uint32_t color, unsigned base)
{
	if (color == PEN_DEFAULT)
		return;
	if (color & PEN_RGB)
		put_format(p, ";%u;2;%u;%u;%u", base + 8, color >> 16 & 0xff, color >> 8 & 0xff,
			color & 0xff);
	else
		put_format(p, ";%u;5;%u", base + 8, color & 0xff);
}

static void put_pen(struct canvas *p, const struct pen *pen, bool cursor)
{
	static const struct {
		unsigned attribute, number;
	} attributes[] = {{PEN_BOLD, 1}, {PEN_DIM, 2}, {PEN_ITALIC, 3}, {PEN_UNDERLINE, 4},
		{PEN_INVERSE, 7}, {PEN_STRIKE, 9}};
	unsigned on = cursor ? pen->attributes ^ PEN_INVERSE : pen->attributes;
	canvas_bytes(p, "\033[0", 3);
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (on & attributes[i].attribute)
			put_format(p, ";%u", attributes[i].number);
	put_color(p, pen->fg, 30);
	put_color(p, pen->bg, 40);
	canvas_bytes(p, "m", 1);
}

static bool is_same(const struct pen *a, const struct pen *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->attributes == b->attributes;
}

void canvas_row(struct canvas *p, const struct picture *s, unsigned row, unsigned cols)
{
	static const struct pen plain = {.fg = PEN_DEFAULT, .bg = PEN_DEFAULT};
	const struct picture_cell *cells = s->cells + (size_t)row * s->kept;
	const struct pen *pen = &plain;
	unsigned last = cols < s->kept ? cols : s->kept;
	bool was_cursor = false;
	for (unsigned i = 0; i < last; i++) {
		const struct picture_cell *c = &cells[i];
		bool cursor = s->cursor_visible && row == s->cursor_row && i == s->cursor_col;
		bool cut = i + c->glyph.width > last; /* only half of a wide character fits */
		if (!is_same(pen, &c->pen) || cursor != was_cursor)
			put_pen(p, &c->pen, cursor);
		pen = &c->pen;
		was_cursor = cursor;
		if (c->glyph.length > 0 && !cut)
			canvas_bytes(p, c->glyph.text, c->glyph.length);
		else if (c->glyph.width > 0)
			canvas_bytes(p, " ", 1);
	}
	canvas_bytes(p, "\033[m", 3);
	canvas_blanks(p, cols - last);
}

void canvas_clear(struct canvas *p)
{
	canvas_bytes(p, "\033[m\033[2J", 7);
}

void canvas_line(struct canvas *p, unsigned row, unsigned cols, const char *text)
{
	canvas_move(p, 0, row);
	canvas_bytes(p, "\033[0;7m", 6);
	canvas_blanks(p, cols - canvas_text(p, text, cols));
	canvas_bytes(p, "\033[m", 3);
}

void canvas_finish(struct canvas *p)
{
	free(p->bytes);
	*p = (struct canvas){0};
}

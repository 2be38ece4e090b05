/* What must hold of every screen at all times. Aborts if it does not. */
#pragma once

#include "ring/screen/grid/charset.h"
#include "tests/lib/drawn.h"

static inline void drawn_check_cell(const struct screen *s, struct cell cell)
{
	const struct style *style = drawn_style(s, cell.style);
	size_t length = 0;
	DRAWN_CHECK(cell_width(cell) <= 2);
	DRAWN_CHECK(style->underline <= UNDERLINE_DASHED);
	DRAWN_CHECK((style->flags & STYLE_EXTENDED) ||
		(style->link == 0 && style->underline == 0 && style->underline_color == 0));
	DRAWN_CHECK(style->link == 0 || intern_get(&s->links, style->link, NULL));
	if (!(cell.text & CELL_CLUSTER)) {
		DRAWN_CHECK((cell.text & CELL_CODE) <= 0x10ffff);
		return;
	}
	const uint32_t *codes = intern_get(&s->clusters, cell.text & CELL_CODE, &length);
	DRAWN_CHECK(codes != NULL && length % sizeof *codes == 0);
	DRAWN_CHECK(length > sizeof *codes && length <= SCREEN_CLUSTER_MAX * sizeof *codes);
}

static inline void drawn_check_line(const struct screen *s, const struct line *line)
{
	DRAWN_CHECK(line->length >= s->cols && line->length <= SCREEN_SIDE_MAX);
	DRAWN_CHECK(line->used <= line->length);
	DRAWN_CHECK(line->offset <= screen_offset(s));
	DRAWN_CHECK(line->version <= s->version);
	DRAWN_CHECK(line_extent(line) <= line->used && line_trimmed(line) <= line->used + 1);
	for (unsigned x = 0; x < line->used; x++)
		drawn_check_cell(s, line->cells[x]);
	for (unsigned x = line->used; x < line->length; x++)
		DRAWN_CHECK(cell_is_untouched(line->cells[x]));
}

static inline void drawn_check_charsets(const struct charsets *c)
{
	DRAWN_CHECK(c->level < 4 && c->designated <= 4);
	for (unsigned i = 0; i < 4; i++)
		DRAWN_CHECK(charset_exists(c->g[i]) && (i < c->designated || c->g[i] == 'B'));
}

static inline void drawn_check_buffer(const struct screen *s, const struct buffer *b)
{
	DRAWN_CHECK(b->top <= b->bottom && b->bottom < s->rows);
	DRAWN_CHECK(b->saved.x <= 2 * SCREEN_SIDE_MAX);
	drawn_check_charsets(&b->saved.charsets);
	DRAWN_CHECK(b->kitty.count <= SCREEN_KITTY_MAX && b->kitty.flags < 32);
	DRAWN_CHECK(b->moved <= s->version);
	if (!b->rows)
		return;
	DRAWN_CHECK(b->count == s->rows && b->first < b->count);
	DRAWN_CHECK(b->y < s->rows);
	for (unsigned y = 0; y < b->count; y++)
		drawn_check_line(s, b->rows[y]);
}

static inline void drawn_check_scrollback(const struct screen *s)
{
	const struct scrollback *b = &s->scrollback;
	size_t bytes = b->frozen ? frozen_bytes(b->frozen) : 0,
	       stored = b->frozen ? frozen_stored(b->frozen) : 0;
	uint64_t number = b->number + b->frozen_lines;
	DRAWN_CHECK(b->count <= b->max && b->used <= b->count && b->used <= b->capacity);
	DRAWN_CHECK(b->frozen_lines <= b->count && (b->frozen_lines > 0) == (b->frozen != NULL));
	DRAWN_CHECK(b->count <= 1 || b->bytes <= (size_t)b->max * SCROLLBACK_LINE_BYTES);
	for (unsigned i = 0; i < b->count; i++) {
		const struct packed *p = scrollback_get(b, i);
		const uint8_t *at = packed_text(p), *end = at + p->bytes;
		unsigned cells = 0, in_runs = 0, count;
		DRAWN_CHECK(p->extent <= s->cols && p->trimmed <= p->extent + 1);
		DRAWN_CHECK(p->offset <= screen_offset(s));
		for (; at < end; cells += count)
			drawn_check_cell(s, packed_next(&at, &count));
		DRAWN_CHECK(at == end && cells == p->extent);
		for (unsigned run = 0; run < p->runs; run++) {
			drawn_style(s, p->run[run].style);
			in_runs += p->run[run].cells;
		}
		DRAWN_CHECK(p->runs == 0 || in_runs == p->extent);
	}
	for (unsigned i = 0; i < b->used; i++) {
		const struct scrollback_entry *e = &b->entries[(b->first + i) & (b->capacity - 1)];
		const struct packed *p = e->line;
		DRAWN_CHECK(e->size == sizeof *p + p->runs * sizeof *p->run + p->bytes);
		DRAWN_CHECK(e->end > number);
		bytes += e->size * (e->end - number);
		number = e->end;
		stored += e->size;
	}
	DRAWN_CHECK(bytes == b->bytes && stored == b->stored && number == b->number + b->count);
	DRAWN_CHECK(scrollback_is_whole(b));
	scrollback_drop_cache(b);
}

static inline void drawn_check_text(const char *text, size_t max)
{
	DRAWN_CHECK(!text || (strlen(text) <= max && drawn_is_clean(text, strlen(text))));
}

static inline void drawn_check(const struct drawn *d)
{
	const struct screen *s = d->screen;
	unsigned row, col;
	DRAWN_CHECK(s->active == &s->primary || s->active == &s->alternate);
	DRAWN_CHECK((s->alternate.rows != NULL) == (s->active == &s->alternate));
	DRAWN_CHECK(s->primary.rows != NULL);
	drawn_check_buffer(s, &s->primary);
	drawn_check_buffer(s, &s->alternate);
	drawn_check_scrollback(s);
	screen_cursor(s, &row, &col);
	DRAWN_CHECK(row < s->rows && col <= s->cols);
	DRAWN_CHECK(s->active->x <= 2 * SCREEN_SIDE_MAX);
	DRAWN_CHECK(s->pen.link == 0 || intern_get(&s->links, s->pen.link, NULL));
	DRAWN_CHECK(s->pen_changed || drawn_style(s, s->pen_style));
	DRAWN_CHECK(s->pen_changed || drawn_style(s, s->erase_style));
	DRAWN_CHECK(s->modes.cursor_style <= 6 && s->modes.kitty_flags < 32);
	drawn_check_charsets(&s->charsets);
	DRAWN_CHECK(s->titles.count <= SCREEN_TITLES_MAX && s->icons.count <= SCREEN_TITLES_MAX);
	drawn_check_text(s->title, SCREEN_TITLE_MAX);
	drawn_check_text(s->icon, SCREEN_TITLE_MAX);
	drawn_check_text(s->cwd, SCREEN_CWD_MAX);
	for (unsigned i = 0; i < s->titles.count; i++)
		drawn_check_text(s->titles.items[i], SCREEN_TITLE_MAX);
	for (unsigned i = 0; i < s->icons.count; i++)
		drawn_check_text(s->icons.items[i], SCREEN_TITLE_MAX);
	DRAWN_CHECK(s->parser.string_capacity <= PARSER_STRING_MAX);
	DRAWN_CHECK(s->styles.count <= s->styles.max && s->clusters.count <= s->clusters.max);
	DRAWN_CHECK(s->links.count <= s->links.max);
}

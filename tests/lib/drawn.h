/*
 * A screen that is fed by a test, and all that it has said. Checks on demand what has to hold at every
 * moment, and compares two of them. For unit tests and fuzzing alike, so it aborts on failure.
 */
#pragma once

#include "ring/screen/screen_internal.h"
#include "ring/screen/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN_CHECK(condition)                                                                    \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

struct drawn_text {
	char *bytes; /* owned; ends with a NUL */
	size_t length, capacity;
};

struct drawn {
	struct screen *screen;
	struct drawn_text replies;         /* one behind the other */
	struct drawn_text events;          /* a line each: offset, name, text, [detail] */
	uint64_t reply_at;                 /* offset of the newest reply */
	void (*on_reply)(struct drawn *d); /* or NULL */
	void *user;                        /* for on_reply */
};

static inline void drawn_put(struct drawn_text *to, const void *bytes, size_t length)
{
	if (to->length + length + 1 > to->capacity) {
		to->capacity = (to->length + length + 1) * 2;
		to->bytes = realloc(to->bytes, to->capacity);
		DRAWN_CHECK(to->bytes != NULL);
	}
	if (length > 0)
		memcpy(to->bytes + to->length, bytes, length);
	to->length += length;
	to->bytes[to->length] = '\0';
}

__attribute__((format(printf, 2, 3))) static inline void drawn_format(
	struct drawn_text *to, const char *format, ...)
{
	char text[256];
	va_list list;
	va_start(list, format);
	int length = vsnprintf(text, sizeof text, format, list);
	va_end(list);
	DRAWN_CHECK(length >= 0 && (size_t)length < sizeof text);
	drawn_put(to, text, (size_t)length);
}

/* Empty it; returns it for chaining. */
static inline void drawn_clear(struct drawn_text *t)
{
	t->length = 0;
	drawn_put(t, "", 0);
}

/* Whether it is UTF-8 of printable characters, and ends with a NUL. */
static inline bool drawn_is_clean(const char *text, size_t length)
{
	const uint8_t *at = (const uint8_t *)text, *end = at + length;
	if (*end != 0)
		return false;
	while (at < end) {
		uint8_t again[4];
		uint32_t code;
		unsigned size = *at < 0x80 ? 1
			: *at < 0xc2       ? 0
			: *at < 0xe0       ? 2
			: *at < 0xf0       ? 3
			: *at < 0xf5       ? 4
					   : 0;
		if (size == 0 || size > end - at)
			return false;
		utf8_decode(at, &code);
		if (code < 0x20 || (code >= 0x80 && code < 0xa0) || code > 0x10ffff ||
			(code >= 0xd800 && code < 0xe000) || utf8_encode(code, again) != size ||
			memcmp(again, at, size) != 0)
			return false;
		at += size;
	}
	return true;
}

static inline void drawn_on_reply(void *user, const char *bytes, size_t length)
{
	struct drawn *d = user;
	DRAWN_CHECK(length > 0);
	drawn_put(&d->replies, bytes, length);
	d->reply_at = screen_offset(d->screen);
	if (d->on_reply)
		d->on_reply(d);
}

static inline void drawn_on_event(void *user, const struct screen_event *e)
{
	static const char *const names[] = {
		"bell", "title", "icon", "cwd", "notification", "clipboard", "mark", "focus"};
	struct drawn *d = user;
	DRAWN_CHECK(e->offset == screen_offset(d->screen));
	DRAWN_CHECK(drawn_is_clean(e->text, e->length));
	drawn_format(&d->events, "%llu %s", (unsigned long long)e->offset, names[e->type]);
	if (e->number != 0)
		drawn_format(&d->events, " %d", e->number);
	if (e->length > 0)
		drawn_put(&d->events, " ", 1);
	drawn_put(&d->events, e->text, e->length);
	if (e->detail) {
		drawn_put(&d->events, " [", 2);
		drawn_put(&d->events, e->detail, e->detail_length);
		drawn_put(&d->events, "]", 1);
	}
	drawn_put(&d->events, "\n", 1);
}

static inline void drawn_init(struct drawn *d, unsigned rows, unsigned cols, unsigned scrollback)
{
	static const struct screen_callbacks callbacks = {
		.reply = drawn_on_reply, .event = drawn_on_event};
	*d = (struct drawn){0};
	drawn_clear(&d->replies);
	drawn_clear(&d->events);
	DRAWN_CHECK(screen_create(&d->screen,
			    &(struct screen_options){.rows = rows,
				    .cols = cols,
				    .scrollback = scrollback,
				    .callbacks = &callbacks,
				    .user = d}) == 0);
}

static inline void drawn_finish(struct drawn *d)
{
	screen_destroy(d->screen);
	free(d->replies.bytes);
	free(d->events.bytes);
	*d = (struct drawn){0};
}

/*
 * How many cells a call may touch beyond its work and twice its bytes: what one sequence can, at the most.
 * That is to repeat a cluster all over the screen, which scrolls with every other column of it.
 */
static inline size_t drawn_slack(const struct screen *s)
{
	return (size_t)(s->rows + 1) * (s->cols + 1) * (SCREEN_CLUSTER_MAX + 4) * 2 + 65536;
}

/* Feed one piece, in as many calls as it takes. */
static inline void drawn_feed(struct drawn *d, const void *bytes, size_t length, size_t work)
{
	/* In memory of its own, so that ASan sees what is read beyond. */
	uint8_t *copy = malloc(length ? length : 1);
	uint64_t offset = screen_offset(d->screen);
	DRAWN_CHECK(copy != NULL);
	if (length > 0)
		memcpy(copy, bytes, length);
	for (size_t at = 0; at < length;) {
		size_t n = screen_feed(d->screen, copy + at, length - at, work);
		DRAWN_CHECK(n >= 1 && n <= length - at);
		DRAWN_CHECK(n == length - at || d->screen->work >= work);
		DRAWN_CHECK(work > SIZE_MAX / 2 || d->screen->work <= work + drawn_slack(d->screen));
		at += n;
	}
	free(copy);
	DRAWN_CHECK(screen_offset(d->screen) == offset + length);
	DRAWN_CHECK(screen_resume_offset(d->screen) <= screen_offset(d->screen));
}

/* Feed a literal or a string. */
static inline void drawn_type(struct drawn *d, const char *text)
{
	drawn_feed(d, text, strlen(text), SIZE_MAX);
}

static inline const struct style *drawn_style(const struct screen *s, uint32_t number)
{
	static const struct style plain;
	const struct style *style = number ? intern_get(&s->styles, number, NULL) : &plain;
	DRAWN_CHECK(style != NULL);
	return style;
}

/* A row of a buffer. */
static inline const struct line *drawn_line(const struct buffer *b, unsigned y)
{
	unsigned i = b->first + y;
	return b->rows[i >= b->count ? i - b->count : i];
}

/* What has to hold */

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

static inline void drawn_check_buffer(const struct screen *s, const struct buffer *b)
{
	DRAWN_CHECK(b->top <= b->bottom && b->bottom < s->rows);
	DRAWN_CHECK(b->saved.x <= 2 * SCREEN_SIDE_MAX && b->saved.y >= 0);
	DRAWN_CHECK(charset_exists(b->saved.charset));
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
	size_t bytes = 0;
	DRAWN_CHECK(b->count <= b->max && b->count <= b->capacity);
	DRAWN_CHECK(b->count <= 1 || b->bytes <= (size_t)b->max * SCROLLBACK_LINE_BYTES);
	for (unsigned i = 0; i < b->count; i++) {
		const struct packed *p = scrollback_get(b, i);
		const uint8_t *at = packed_text(p), *end = at + p->bytes;
		unsigned cells = 0, in_runs = 0, count;
		bytes += sizeof *p + p->runs * sizeof *p->run + p->bytes;
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
	DRAWN_CHECK(bytes == b->bytes);
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
	DRAWN_CHECK(s->modes.cursor_style <= 6 && s->modes.kitty_flags == s->active->kitty.flags);
	DRAWN_CHECK(s->charsets.level < 4 && charset_exists(s->charsets.current));
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

/* What two of them have in common */

static inline void drawn_same_bytes(const void *a, size_t a_length, const void *b, size_t b_length)
{
	DRAWN_CHECK(a_length == b_length);
	DRAWN_CHECK(a_length == 0 || memcmp(a, b, a_length) == 0);
}

/* The address of a link; the id if it is to be the same as well. */
static inline const char *drawn_link(
	const struct screen *s, uint32_t number, bool id, size_t *ret_length)
{
	size_t length = 0;
	const char *link = intern_get(&s->links, number, &length);
	*ret_length = length;
	if (!link || id)
		return link;
	size_t skip = (*link == 'i' ? strlen(link + 1) : sizeof s->next_link) + 2;
	*ret_length = length - skip;
	return link + skip;
}

static inline void drawn_same_style(const struct screen *a, const struct style *x,
	const struct screen *b, const struct style *y, bool id)
{
	DRAWN_CHECK(x->fg == y->fg && x->bg == y->bg);
	DRAWN_CHECK(x->flags == y->flags);
	DRAWN_CHECK(x->underline == y->underline);
	DRAWN_CHECK(x->underline_color == y->underline_color);
	DRAWN_CHECK((x->link != 0) == (y->link != 0));
	if (x->link != 0) {
		size_t x_length, y_length;
		const char *x_link = drawn_link(a, x->link, id, &x_length);
		const char *y_link = drawn_link(b, y->link, id, &y_length);
		drawn_same_bytes(x_link, x_length, y_link, y_length);
	}
}

static inline void drawn_same_cell(
	const struct screen *a, struct cell x, const struct screen *b, struct cell y, bool id)
{
	DRAWN_CHECK(cell_width(x) == cell_width(y));
	if (x.style != 0 || y.style != 0)
		drawn_same_style(a, drawn_style(a, x.style), b, drawn_style(b, y.style), id);
	DRAWN_CHECK((x.text & CELL_CLUSTER) == (y.text & CELL_CLUSTER));
	if (x.text & CELL_CLUSTER) {
		size_t x_length = 0, y_length = 0;
		const void *x_codes = intern_get(&a->clusters, x.text & CELL_CODE, &x_length);
		const void *y_codes = intern_get(&b->clusters, y.text & CELL_CODE, &y_length);
		drawn_same_bytes(x_codes, x_length, y_codes, y_length);
	} else {
		DRAWN_CHECK((x.text & CELL_CODE) == (y.text & CELL_CODE));
	}
}

static inline void drawn_same_line(const struct screen *a, const struct line *x,
	const struct screen *b, const struct line *y, unsigned cols, bool id)
{
	for (unsigned i = 0; i < cols && (i < x->used || i < y->used); i++)
		drawn_same_cell(a, x->cells[i], b, y->cells[i], id);
}

/* The cell that a wrap is pending behind has something in it once a snapshot has brought it back. */
static inline bool drawn_is_filled(const struct screen *a, const struct buffer *x, unsigned row)
{
	return x == a->active && row == x->y && x->x >= a->cols;
}

static inline void drawn_same_rows(const struct screen *a, const struct buffer *x,
	const struct screen *b, const struct buffer *y, bool id)
{
	DRAWN_CHECK((x->rows != NULL) == (y->rows != NULL));
	/* What was above the oldest line that there is left is not known any more. */
	bool first = !id && x == &a->primary && b->scrollback.count == 0;
	for (unsigned row = 0; x->rows && row < a->rows; row++) {
		bool filled = !id && drawn_is_filled(a, x, row) &&
			!cell_has_content(drawn_line(x, row)->cells[a->cols - 1]);
		drawn_same_line(a, drawn_line(x, row), b, drawn_line(y, row), a->cols - filled, id);
		DRAWN_CHECK((first && row == 0) ||
			drawn_line(x, row)->wrapped == drawn_line(y, row)->wrapped);
	}
}

static inline void drawn_same_tabs(const struct buffer *x, const struct buffer *y, unsigned cols)
{
	for (unsigned col = 0; col < cols; col++)
		DRAWN_CHECK(buffer_has_tab(x, col) == buffer_has_tab(y, col));
}

static inline void drawn_same_kitty(const struct kitty_stack *x, const struct kitty_stack *y)
{
	DRAWN_CHECK(x->flags == y->flags && x->count == y->count);
	DRAWN_CHECK(memcmp(x->saved, y->saved, x->count) == 0);
}

/* Of the scrollback the newest lines, as many as the second has. */
static inline void drawn_same_scrollback(const struct screen *a, const struct screen *b, bool id)
{
	DRAWN_CHECK(a->scrollback.count >= b->scrollback.count);
	for (unsigned i = 0; i < b->scrollback.count; i++) {
		unsigned skip = a->scrollback.count - b->scrollback.count;
		struct line *x = scrollback_unpack(
			scrollback_get(&a->scrollback, skip + i), a->cols);
		struct line *y = scrollback_unpack(scrollback_get(&b->scrollback, i), b->cols);
		drawn_same_line(a, x, b, y, a->cols, id);
		DRAWN_CHECK(x->wrapped == y->wrapped || (!id && i == 0));
		free(x);
		free(y);
	}
}

static inline void drawn_same_titles(const struct title_stack *x, const struct title_stack *y)
{
	DRAWN_CHECK(x->count == y->count);
	for (unsigned i = 0; i < x->count; i++)
		DRAWN_CHECK(strcmp(x->items[i], y->items[i]) == 0);
}

static inline void drawn_same_modes(const struct screen_modes *x, const struct screen_modes *y)
{
	DRAWN_CHECK(x->application_cursor == y->application_cursor);
	DRAWN_CHECK(x->application_keypad == y->application_keypad);
	DRAWN_CHECK(x->origin == y->origin);
	DRAWN_CHECK(x->wraparound == y->wraparound);
	DRAWN_CHECK(x->reverse_wraparound == y->reverse_wraparound);
	DRAWN_CHECK(x->insert == y->insert);
	DRAWN_CHECK(x->newline == y->newline);
	DRAWN_CHECK(x->cursor_hidden == y->cursor_hidden);
	DRAWN_CHECK(x->cursor_blink == y->cursor_blink);
	DRAWN_CHECK(x->bracketed_paste == y->bracketed_paste);
	DRAWN_CHECK(x->focus == y->focus);
	DRAWN_CHECK(x->color_scheme == y->color_scheme);
	DRAWN_CHECK(x->cursor_style == y->cursor_style);
	DRAWN_CHECK(x->modify_other_keys == y->modify_other_keys);
	DRAWN_CHECK(x->kitty_flags == y->kitty_flags);
	DRAWN_CHECK(x->mouse == y->mouse);
	DRAWN_CHECK(x->mouse_encoding == y->mouse_encoding);
}

static inline void drawn_same_palette(const struct palette *x, const struct palette *y)
{
	for (unsigned i = 0; i < PALETTE_SIZE; i++)
		DRAWN_CHECK(palette_get(x, i) == palette_get(y, i));
	for (unsigned i = 0; i < 3; i++)
		DRAWN_CHECK(palette_dynamic(x, i) == palette_dynamic(y, i));
}

static inline void drawn_same_saved(const struct saved_cursor *x, const struct saved_cursor *y)
{
	DRAWN_CHECK(x->x == y->x && x->y == y->y);
	DRAWN_CHECK(x->fg == y->fg && x->bg == y->bg && x->flags == y->flags);
	DRAWN_CHECK(x->charset == y->charset);
}

static inline void drawn_same_strings(const struct screen *a, const struct screen *b)
{
	DRAWN_CHECK(strcmp(screen_title(a), screen_title(b)) == 0);
	DRAWN_CHECK(strcmp(screen_icon(a), screen_icon(b)) == 0);
}

/* What no sequence takes back. */
static inline void drawn_same_past(const struct screen *a, const struct screen *b)
{
	DRAWN_CHECK(strcmp(screen_cwd(a), screen_cwd(b)) == 0);
	drawn_same_titles(&a->titles, &b->titles);
	drawn_same_titles(&a->icons, &b->icons);
}

/* All that two screens have that were fed the same, but in other pieces. */
static inline void drawn_expect_same(const struct drawn *left, const struct drawn *right)
{
	const struct screen *a = left->screen, *b = right->screen;
	const struct buffer *buffers[2][2] = {
		{&a->primary, &b->primary}, {&a->alternate, &b->alternate}};
	DRAWN_CHECK(a->rows == b->rows && a->cols == b->cols);
	DRAWN_CHECK(screen_is_alternate(a) == screen_is_alternate(b));
	DRAWN_CHECK(a->parser.offset == b->parser.offset && a->parser.state == b->parser.state);
	DRAWN_CHECK(screen_resume_offset(a) == screen_resume_offset(b));
	DRAWN_CHECK(a->scrollback.count == b->scrollback.count);
	DRAWN_CHECK(a->scrollback.dropped == b->scrollback.dropped);
	drawn_same_scrollback(a, b, true);
	for (unsigned i = 0; i < 2; i++) {
		const struct buffer *x = buffers[i][0], *y = buffers[i][1];
		drawn_same_rows(a, x, b, y, true);
		drawn_same_tabs(x, y, SCREEN_TAB_WORDS * 64);
		drawn_same_kitty(&x->kitty, &y->kitty);
		drawn_same_saved(&x->saved, &y->saved);
		DRAWN_CHECK(x->x == y->x && x->y == y->y);
		DRAWN_CHECK(x->top == y->top && x->bottom == y->bottom);
		for (unsigned row = 0; x->rows && row < a->rows; row++)
			DRAWN_CHECK(drawn_line(x, row)->offset == drawn_line(y, row)->offset);
	}
	drawn_same_style(a, &a->pen, b, &b->pen, true);
	DRAWN_CHECK(memcmp(&a->charsets, &b->charsets, sizeof a->charsets) == 0);
	DRAWN_CHECK(a->modes.synchronized_output == b->modes.synchronized_output);
	DRAWN_CHECK(a->join == b->join && a->next_link == b->next_link);
	drawn_same_modes(&a->modes, &b->modes);
	drawn_same_palette(&a->palette, &b->palette);
	drawn_same_strings(a, b);
	drawn_same_bytes(
		left->events.bytes, left->events.length, right->events.bytes, right->events.length);
}

/* The same, and it has answered the same. */
static inline void drawn_expect_same_replies(const struct drawn *left, const struct drawn *right)
{
	drawn_same_bytes(left->replies.bytes, left->replies.length, right->replies.bytes,
		right->replies.length);
}

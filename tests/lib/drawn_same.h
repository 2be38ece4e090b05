/*
 * Compares two screens. exact: they must be equal in everything. Otherwise the second was made from the first's
 * snapshot, which changes the ids of links and does not say whether a line above its oldest one wrapped.
 */
#pragma once

#include "tests/lib/drawn.h"

static inline void drawn_same_bytes(const void *a, size_t a_length, const void *b, size_t b_length)
{
	DRAWN_CHECK(a_length == b_length);
	DRAWN_CHECK(a_length == 0 || memcmp(a, b, a_length) == 0);
}

/* The address of a link, and if exact its id too. */
static inline const char *drawn_link(
	const struct screen *s, uint32_t number, bool exact, size_t *ret_length)
{
	size_t length = 0;
	const char *link = intern_get(&s->links, number, &length);
	*ret_length = length;
	if (!link || exact || *link == 'p') /* an image has no id */
		return link;
	size_t skip = (*link == 'i' ? strlen(link + 1) : sizeof s->next_link) + 2;
	*ret_length = length - skip;
	return link + skip;
}

/* The visible kind of underline. DECRC restores that there is one, but not which kind. */
static inline unsigned drawn_underline(const struct style *style)
{
	if (!(style->flags & STYLE_UNDERLINE))
		return UNDERLINE_NONE;
	if (!(style->flags & STYLE_EXTENDED) ||
		(style->underline == UNDERLINE_NONE && style->link != 0))
		return UNDERLINE_SINGLE;
	return style->underline;
}

static inline void drawn_same_style(const struct screen *a, const struct style *x,
	const struct screen *b, const struct style *y, bool exact)
{
	/* Only some snapshots have images. */
	if (!exact && x->flags & STYLE_IMAGE && !(y->flags & STYLE_IMAGE))
		x = &(const struct style){0};
	const uint16_t kept = exact ? UINT16_MAX : (uint16_t) ~(STYLE_UNDERLINE | STYLE_EXTENDED);
	DRAWN_CHECK(x->fg == y->fg && x->bg == y->bg);
	DRAWN_CHECK((x->flags & kept) == (y->flags & kept));
	DRAWN_CHECK(drawn_underline(x) == drawn_underline(y));
	DRAWN_CHECK(!exact || x->underline == y->underline);
	if (exact || drawn_underline(x) != UNDERLINE_NONE)
		DRAWN_CHECK(x->underline_color == y->underline_color);
	/* A link may remain in the pen without being visible. */
	if (!exact && !(x->flags & STYLE_EXTENDED))
		return;
	DRAWN_CHECK((x->link != 0) == (y->link != 0));
	if (x->link != 0) {
		size_t x_length, y_length;
		const char *x_link = drawn_link(a, x->link, exact, &x_length);
		const char *y_link = drawn_link(b, y->link, exact, &y_length);
		drawn_same_bytes(x_link, x_length, y_link, y_length);
	}
}

static inline void drawn_same_cell(
	const struct screen *a, struct cell x, const struct screen *b, struct cell y, bool exact)
{
	DRAWN_CHECK(cell_width(x) == cell_width(y));
	/* The second half of a wide character is drawn with the first: its own style is not visible. */
	bool seen = exact || !cell_is_tail(x);
	if (seen && (x.style != 0 || y.style != 0))
		drawn_same_style(a, drawn_style(a, x.style), b, drawn_style(b, y.style), exact);
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
	const struct screen *b, const struct line *y, unsigned cols, bool exact)
{
	for (unsigned i = 0; i < cols && (i < x->used || i < y->used); i++)
		drawn_same_cell(a, x->cells[i], b, y->cells[i], exact);
}

/* After a snapshot, the cell before a pending wrap has content. */
static inline bool drawn_is_filled(const struct screen *a, const struct buffer *x, unsigned row)
{
	return x == a->active && row == x->y && x->x >= a->cols;
}

static inline void drawn_same_rows(const struct screen *a, const struct buffer *x,
	const struct screen *b, const struct buffer *y, bool exact)
{
	DRAWN_CHECK((x->rows != NULL) == (y->rows != NULL));
	/* The snapshot does not contain what was above the oldest line that is left. */
	bool first = !exact && x == &a->primary && b->scrollback.count == 0;
	for (unsigned row = 0; x->rows && row < a->rows; row++) {
		bool filled = !exact && drawn_is_filled(a, x, row) &&
			!cell_has_content(buffer_row(x, row)->cells[a->cols - 1]);
		drawn_same_line(
			a, buffer_row(x, row), b, buffer_row(y, row), a->cols - filled, exact);
		DRAWN_CHECK((first && row == 0) ||
			buffer_row(x, row)->wrapped == buffer_row(y, row)->wrapped);
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

/* Compare the newest lines of the scrollback, as many as b has. */
static inline void drawn_same_scrollback(const struct screen *a, const struct screen *b, bool exact)
{
	DRAWN_CHECK(a->scrollback.count >= b->scrollback.count);
	for (unsigned i = 0; i < b->scrollback.count; i++) {
		unsigned skip = a->scrollback.count - b->scrollback.count;
		struct line *x = packed_unpack(scrollback_get(&a->scrollback, skip + i), a->cols);
		struct line *y = packed_unpack(scrollback_get(&b->scrollback, i), b->cols);
		drawn_same_line(a, x, b, y, a->cols, exact);
		DRAWN_CHECK(x->wrapped == y->wrapped || (!exact && i == 0));
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

/* Whether the cursor blinks is the viewer's choice until a program sets it. */
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
	DRAWN_CHECK(x->bracketed_paste == y->bracketed_paste);
	DRAWN_CHECK(x->focus == y->focus);
	DRAWN_CHECK(x->color_scheme == y->color_scheme);
	DRAWN_CHECK(x->graphemes == y->graphemes);
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
	DRAWN_CHECK(x->origin == y->origin && x->wraparound == y->wraparound);
	DRAWN_CHECK(memcmp(x->charsets.g, y->charsets.g, sizeof x->charsets.g) == 0);
	DRAWN_CHECK(x->charsets.level == y->charsets.level);
}

static inline void drawn_same_strings(const struct screen *a, const struct screen *b)
{
	/* A snapshot does not reset what was never set. */
	DRAWN_CHECK(!a->title || strcmp(screen_title(a), screen_title(b)) == 0);
	DRAWN_CHECK(!a->icon || strcmp(screen_icon(a), screen_icon(b)) == 0);
}

/* What no sequence restores. */
static inline void drawn_same_past(const struct screen *a, const struct screen *b)
{
	DRAWN_CHECK(strcmp(screen_cwd(a), screen_cwd(b)) == 0);
	drawn_same_titles(&a->titles, &b->titles);
	drawn_same_titles(&a->icons, &b->icons);
}

/* Compare two screens that were fed the same in different pieces. */
static inline void drawn_expect_same(const struct drawn *left, const struct drawn *right)
{
	const struct screen *a = left->screen, *b = right->screen;
	const struct buffer *buffers[2][2] = {
		{&a->primary, &b->primary}, {&a->alternate, &b->alternate}};
	DRAWN_CHECK(a->rows == b->rows && a->cols == b->cols);
	DRAWN_CHECK(screen_is_alternate(a) == screen_is_alternate(b));
	DRAWN_CHECK(a->parser.offset == b->parser.offset &&
		a->parser.tokenizer.state == b->parser.tokenizer.state);
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
			DRAWN_CHECK(buffer_row(x, row)->offset == buffer_row(y, row)->offset);
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

/* Compare their replies. */
static inline void drawn_expect_same_replies(const struct drawn *left, const struct drawn *right)
{
	drawn_same_bytes(left->replies.bytes, left->replies.length, right->replies.bytes,
		right->replies.length);
}

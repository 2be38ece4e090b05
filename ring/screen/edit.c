/* Erasing, inserting, deleting and scrolling of cells and lines. */
#include "ring/screen/screen_internal.h"

static const struct intern *protection(const struct screen *s, bool selective)
{
	return selective ? &s->styles : NULL;
}

static void erase(struct screen *s, unsigned y, unsigned start, unsigned end, bool selective)
{
	line_erase(screen_touch(s, y), start, end, screen_blank(s), protection(s, selective));
	screen_add_work(s, s->cols);
}

/* Erase all cells but protected ones. */
static void erase_unprotected(struct screen *s, struct line *line)
{
	struct cell blank = screen_blank(s);
	uint32_t last = 0;
	bool spared = false;
	for (unsigned x = 0; x < line->length; x++) {
		if (line->cells[x].style != last) {
			last = line->cells[x].style;
			const struct style *style = intern_get(&s->styles, last, NULL);
			spared = style && (style->flags & STYLE_PROTECTED);
		}
		if (!spared)
			line_put(line, x, blank);
	}
	line->wrapped = false;
	screen_add_work(s, s->cols);
}

static void erase_rows(struct screen *s, unsigned first, unsigned end, bool selective)
{
	markers_erase(s, first, end);
	if (!selective && first < end)
		screen_fill_rows(s, first, end, screen_blank(s));
	for (unsigned y = first, next; selective && y < end; y = next) {
		next = screen_same_rows(s, y, end);
		struct line *line = screen_touch(s, y);
		erase_unprotected(s, line);
		screen_spread_row(s, y, next, line);
	}
}

static void erase_below(struct screen *s, bool selective)
{
	struct buffer *b = s->active;
	erase(s, b->y, b->x, s->cols, selective);
	if (b->x == 0)
		screen_touch(s, b->y)->wrapped = false;
	erase_rows(s, b->y + 1, s->rows, selective);
}

/* Clear the wrap flag of a line; absolute: counted from the oldest line of the scrollback. */
static void unwrap(struct screen *s, unsigned absolute)
{
	unsigned base = (unsigned)screen_base(s);
	if (absolute < s->scrollback.frozen_lines)
		screen_add_work(s, BLOCK_BYTES);
	if (absolute < base)
		scrollback_unwrap(&s->scrollback, absolute);
	else if (absolute - base < s->rows)
		screen_touch(s, absolute - base)->wrapped = false;
}

static void erase_above(struct screen *s, bool selective)
{
	struct buffer *b = s->active;
	erase(s, b->y, 0, b->x + 1, selective);
	screen_touch(s, b->y)->wrapped = false;
	/* xterm.js uses the row's number as an absolute one here. */
	if (b->x + 1 >= s->cols)
		unwrap(s, b->y + 1);
	erase_rows(s, 0, b->y, selective);
}

/* ED, DECSED */
static void erase_in_display(struct screen *s, int which, bool selective)
{
	screen_clamp_cursor(s, s->cols);
	switch (which) {
	case 0:
		erase_below(s, selective);
		break;
	case 1:
		erase_above(s, selective);
		break;
	case 2:
		erase_rows(s, 0, s->rows, selective);
		break;
	case 3:
		if (s->active == &s->primary)
			scrollback_drop(&s->scrollback, s->scrollback.count);
		break;
	default:
		break;
	}
}

/* EL, DECSEL. While a wrap is pending, no cell is right of the cursor. */
static void erase_in_line(struct screen *s, int which, bool selective)
{
	struct buffer *b = s->active;
	screen_clamp_cursor(s, s->cols);
	switch (which) {
	case 0:
		erase(s, b->y, b->x, s->cols, selective);
		if (b->x == 0)
			screen_touch(s, b->y)->wrapped = false;
		break;
	case 1:
		erase(s, b->y, 0, b->x + 1, selective);
		break;
	case 2:
		erase(s, b->y, 0, s->cols, selective);
		screen_touch(s, b->y)->wrapped = false;
		break;
	default:
		break;
	}
}

static bool in_region(const struct screen *s)
{
	return s->active->y >= s->active->top && s->active->y <= s->active->bottom;
}

/* Limit a distance to SCREEN_SIDE_MAX. */
static int shift_of(unsigned n)
{
	return n > SCREEN_SIDE_MAX ? (int)SCREEN_SIDE_MAX : (int)n;
}

/* IL, DL: sign 1 deletes. */
static void shift_lines(struct screen *s, unsigned n, int sign)
{
	struct buffer *b = s->active;
	screen_clamp_cursor(s, s->cols - 1);
	if (!in_region(s))
		return;
	screen_shift(s, b->y, b->bottom, sign * shift_of(n), screen_blank(s));
	b->x = 0;
}

/* Columns of the whole region: DECIC, DECDC, SL, SR. */
static void shift_columns(struct screen *s, unsigned x, unsigned n, bool insert)
{
	struct buffer *b = s->active;
	if (!in_region(s))
		return;
	for (unsigned y = b->top, next; y <= b->bottom; y = next) {
		next = screen_same_rows(s, y, b->bottom + 1);
		struct line *line = screen_touch(s, y);
		if (insert)
			line_insert(line, x, n, screen_blank(s));
		else
			line_delete(line, x, n, screen_blank(s));
		line->wrapped = false;
		screen_spread_row(s, y, next, line);
		screen_add_work(s, s->cols);
	}
}

/* ICH, DCH, ECH */
static void edit_cells(struct screen *s, uint32_t id, unsigned n)
{
	struct buffer *b = s->active;
	screen_clamp_cursor(s, s->cols - 1);
	struct line *line = screen_touch(s, b->y);
	struct cell blank = screen_blank(s);
	if (id == '@')
		line_insert(line, b->x, n, blank);
	else if (id == 'P')
		line_delete(line, b->x, n, blank);
	else
		line_erase(line, b->x, n > SCREEN_SIDE_MAX ? UINT32_MAX : b->x + n, blank, NULL);
	screen_add_work(s, s->cols);
}

bool screen_edit(struct screen *s, uint32_t id, const struct params *a)
{
	struct buffer *b = s->active;
	unsigned n = screen_param_or_one(a, 0);
	switch (id) {
	case '@':
	case 'P':
	case 'X':
		edit_cells(s, id, n);
		break;
	case 'J':
	case SEQUENCE('?', 'J'):
		erase_in_display(s, screen_param(a, 0), id != 'J');
		break;
	case 'K':
	case SEQUENCE('?', 'K'):
		erase_in_line(s, screen_param(a, 0), id != 'K');
		break;
	case 'L':
		shift_lines(s, n, -1);
		break;
	case 'M':
		shift_lines(s, n, 1);
		break;
	case 'S':
		screen_shift(s, b->top, b->bottom, shift_of(n), screen_blank(s));
		break;
	case 'T':
	case '^':
		/* Unlike elsewhere, lines that come in at the top have the default background. */
		screen_shift(s, b->top, b->bottom, -shift_of(n), (struct cell){0});
		break;
	case SEQUENCE(' ', '@'):
		shift_columns(s, 0, n, false);
		break;
	case SEQUENCE(' ', 'A'):
		shift_columns(s, 0, n, true);
		break;
	case SEQUENCE('\'', '}'):
		shift_columns(s, b->x, n, true);
		break;
	case SEQUENCE('\'', '~'):
		shift_columns(s, b->x, n, false);
		break;
	default:
		return false;
	}
	return true;
}

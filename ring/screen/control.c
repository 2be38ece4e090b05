/* Control characters, escape sequences, and the cursor. */
#include "ring/screen/grid/charset.h"
#include "ring/screen/screen_internal.h"

#include <string.h>

#define IND 0x84
#define NEL 0x85
#define HTS 0x88

void screen_clamp_cursor(struct screen *s, unsigned max_x)
{
	struct buffer *b = s->active;
	unsigned min = s->modes.origin ? b->top : 0;
	unsigned max = s->modes.origin ? b->bottom : s->rows - 1;
	if (b->x > max_x)
		b->x = max_x;
	b->y = b->y < min ? min : b->y > max ? max : b->y;
}

void screen_set_cursor(struct screen *s, int64_t x, int64_t y)
{
	struct buffer *b = s->active;
	if (s->modes.origin)
		y += b->top;
	b->x = x < 0 ? 0 : x > s->cols ? s->cols : (unsigned)x;
	b->y = y < 0 ? 0 : y > s->rows ? s->rows : (unsigned)y;
	screen_clamp_cursor(s, s->cols - 1);
}

void screen_save_cursor(struct screen *s)
{
	struct buffer *b = s->active;
	b->saved = (struct saved_cursor){.x = b->x,
		.y = screen_base(s) + b->y,
		.fg = s->pen.fg,
		.bg = s->pen.bg,
		.flags = s->pen.flags,
		.origin = s->modes.origin,
		.wraparound = s->modes.wraparound,
		.charsets = s->charsets};
}

void screen_restore_cursor(struct screen *s)
{
	struct buffer *b = s->active;
	int64_t y = b->saved.y - screen_base(s);
	b->x = b->saved.x;
	b->y = y < 0 ? 0 : y > s->rows ? s->rows : (unsigned)y;
	s->pen.fg = b->saved.fg;
	s->pen.bg = b->saved.bg;
	s->pen.flags = b->saved.flags;
	s->pen_changed = true;
	memcpy(s->charsets.g, b->saved.charsets.g, b->saved.charsets.designated);
	if (s->charsets.designated < b->saved.charsets.designated)
		s->charsets.designated = b->saved.charsets.designated;
	s->charsets.level = b->saved.charsets.level;
	s->modes.origin = b->saved.origin;
	s->modes.wraparound = b->saved.wraparound;
	screen_clamp_cursor(s, s->cols - 1);
}

/* The cursor moves to an empty line: set the line's offset. The line looks as before. */
static void begin_line(struct screen *s)
{
	struct line **at = screen_slot(s, s->active->y), *line = *at;
	if (line->shares > 0)
		line = screen_unshare(s, at);
	line->offset = s->parser.offset;
}

static void line_feed(struct screen *s)
{
	struct buffer *b = s->active;
	if (s->modes.newline)
		b->x = 0;
	b->y++;
	if (b->y == b->bottom + 1) {
		b->y--;
		screen_scroll(s, false);
		if (b->x == 0 && s->parser.offset >= s->bulk_at)
			s->pause = true;
	} else if (b->y >= s->rows) {
		b->y = s->rows - 1;
	} else {
		const struct line *line = screen_line(s, b->y);
		if (line->wrapped)
			screen_touch(s, b->y)->wrapped = false;
		if (line->used == 0)
			begin_line(s);
	}
	if (b->x >= s->cols)
		b->x--;
}

static void index_down(struct screen *s)
{
	struct buffer *b = s->active;
	screen_clamp_cursor(s, s->cols - 1);
	b->y++;
	if (b->y == b->bottom + 1) {
		b->y--;
		screen_scroll(s, false);
	} else if (b->y >= s->rows) {
		b->y = s->rows - 1;
	}
	screen_clamp_cursor(s, s->cols - 1);
}

static void reverse_index(struct screen *s)
{
	struct buffer *b = s->active;
	screen_clamp_cursor(s, s->cols - 1);
	if (b->y == b->top) {
		screen_shift(s, b->top, b->bottom, -1, screen_blank(s));
	} else if (b->y > 0) {
		b->y--;
		screen_clamp_cursor(s, s->cols - 1);
	}
}

/* Move back over the left edge into the line that was wrapped there. */
static void back_to_line_above(struct screen *s)
{
	struct buffer *b = s->active;
	if (b->y <= b->top || b->y > b->bottom || !screen_line(s, b->y)->wrapped)
		return;
	screen_touch(s, b->y)->wrapped = false;
	b->y--;
	b->x = s->cols - 1;
	struct cell cell = screen_line(s, b->y)->cells[b->x];
	/* Skip the column that a wide character left free. */
	if (cell_width(cell) > 0 && !cell_has_content(cell))
		b->x--;
}

static void backspace(struct screen *s)
{
	struct buffer *b = s->active;
	screen_clamp_cursor(s, s->modes.reverse_wraparound ? s->cols : s->cols - 1);
	if (b->x > 0)
		b->x--;
	else if (s->modes.reverse_wraparound)
		back_to_line_above(s);
	screen_clamp_cursor(s, s->cols - 1);
}

static void invoke(struct screen *s, uint8_t level)
{
	s->charsets.level = level;
}

static void designate(struct screen *s, uint8_t g, uint8_t final)
{
	s->charsets.g[g] = final;
	if (s->charsets.designated <= g)
		s->charsets.designated = g + 1;
}

static void execute_control(struct screen *s, uint8_t code)
{
	struct buffer *b = s->active;
	switch (code) {
	case '\a':
		screen_emit(s, (struct screen_event){.type = SCREEN_BELL, .text = ""});
		break;
	case '\b':
		backspace(s);
		break;
	case '\t':
		if (b->x < s->cols)
			b->x = buffer_next_tab(b, b->x, s->cols);
		break;
	case '\n':
	case '\v':
	case '\f':
		line_feed(s);
		break;
	case '\r':
		b->x = 0;
		break;
	case 0x0e: /* SO */
		invoke(s, 1);
		break;
	case 0x0f: /* SI */
		invoke(s, 0);
		break;
	case IND:
		index_down(s);
		break;
	case NEL:
		b->x = 0;
		index_down(s);
		break;
	case HTS:
		buffer_set_tab(b, b->x, true);
		break;
	default:
		break;
	}
}

void screen_control(void *user, uint8_t code)
{
	struct screen *s = user;
	execute_control(s, code);
	s->join = 0;
	s->in_run = false;
}

/* DECALN */
static void fill_with_e(struct screen *s)
{
	struct style style = s->pen;
	/* xterm.js drops the extended attributes of the cell, but keeps their flag. */
	style.underline = 0;
	style.underline_color = style.link = 0;
	struct cell cell = cell_make('E', 1, screen_style(s, &style));
	screen_set_cursor(s, 0, 0);
	/*
	 * Fill from the cursor's row on, which is not row 0 in origin mode. xterm.js then continues
	 * with the oldest lines; here those are only filled if there is no scrollback.
	 */
	bool round = screen_is_alternate(s) || s->scrollback.max == 0;
	screen_fill_rows(s, round ? 0 : s->active->y, s->rows, cell);
	screen_set_cursor(s, 0, 0);
}

/* SCS: ESC ( F etc. */
static void select_charset(struct screen *s, uint32_t id)
{
	static const char intermediates[] = "()*+-.";
	static const uint8_t g[] = {0, 1, 2, 3, 1, 2};
	uint8_t final = id & 0xff;
	for (unsigned i = 0; i < sizeof g; i++)
		if (id >> 8 == (uint32_t)intermediates[i] && charset_exists(final))
			designate(s, g[i], final);
}

static void execute_escape(struct screen *s, uint32_t id)
{
	switch (id) {
	case '7':
		screen_save_cursor(s);
		break;
	case '8':
		screen_restore_cursor(s);
		break;
	case 'D':
		index_down(s);
		break;
	case 'E':
		s->active->x = 0;
		index_down(s);
		break;
	case 'H':
		buffer_set_tab(s->active, s->active->x, true);
		break;
	case 'M':
		reverse_index(s);
		break;
	case '=':
		s->modes.application_keypad = true;
		break;
	case '>':
		s->modes.application_keypad = false;
		break;
	case 'c':
		screen_reset(s);
		break;
	case 'n':
	case '}':
		invoke(s, 2);
		break;
	case 'o':
	case '|':
		invoke(s, 3);
		break;
	case '~':
		invoke(s, 1);
		break;
	case 'Z': /* DECID */
		screen_query(s, 'c', &(struct params){.count = 1});
		break;
	case SEQUENCE('#', '8'):
		fill_with_e(s);
		break;
	case SEQUENCE('%', '@'):
	case SEQUENCE('%', 'G'):
		invoke(s, 0);
		designate(s, 0, 'B');
		break;
	default:
		select_charset(s, id);
	}
}

void screen_escape(void *user, uint32_t id)
{
	struct screen *s = user;
	execute_escape(s, id);
	s->join = 0;
	s->in_run = false;
}

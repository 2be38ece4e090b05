/* Dispatch of control sequences, and those that move the cursor. */
#include "ring/screen/screen_internal.h"

#include <string.h>

/* Move relative to the cursor, in rows of the screen even in origin mode, as in xterm.js. */
static void move(struct screen *s, int64_t dx, int64_t dy)
{
	screen_clamp_cursor(s, s->cols - 1);
	struct buffer *b = s->active;
	screen_set_cursor(s, (int64_t)b->x + dx, (int64_t)b->y + dy);
}

/* CUU and CUD stop at the margin, unless the cursor is beyond it. */
static void up(struct screen *s, unsigned n)
{
	const struct buffer *b = s->active;
	if (b->y >= b->top && n > b->y - b->top)
		n = b->y - b->top;
	move(s, 0, -(int64_t)n);
}

static void down(struct screen *s, unsigned n)
{
	const struct buffer *b = s->active;
	if (b->y <= b->bottom && n > b->bottom - b->y)
		n = b->bottom - b->y;
	move(s, 0, n);
}

static void tab_forward(struct screen *s, unsigned n)
{
	struct buffer *b = s->active;
	unsigned from = b->x;
	for (; b->x < s->cols - 1 && n > 0; n--)
		b->x = buffer_next_tab(b, b->x, s->cols);
	if (b->x > from)
		screen_add_work(s, b->x - from);
}

static void tab_backward(struct screen *s, unsigned n)
{
	struct buffer *b = s->active;
	if (b->x >= s->cols)
		return;
	screen_add_work(s, b->x);
	for (; b->x > 0 && n > 0; n--)
		b->x = buffer_previous_tab(b, b->x, s->cols);
}

/* TBC */
static void clear_tabs(struct screen *s, int which)
{
	struct buffer *b = s->active;
	if (which == 0)
		buffer_set_tab(b, b->x, false);
	else if (which == 3)
		memset(b->tabs, 0, sizeof b->tabs);
}

/* DECSTBM */
static void set_region(struct screen *s, const struct params *a)
{
	unsigned top = screen_param_or_one(a, 0), bottom = s->rows;
	if (a->count >= 2 && screen_param(a, 1) > 0 && (unsigned)screen_param(a, 1) <= s->rows)
		bottom = (unsigned)screen_param(a, 1);
	if (bottom <= top)
		return;
	s->active->top = top - 1;
	s->active->bottom = bottom - 1;
	screen_set_cursor(s, 0, 0);
}

static bool move_cursor(struct screen *s, uint32_t id, const struct params *a)
{
	unsigned n = screen_param_or_one(a, 0);
	switch (id) {
	case 'A':
		up(s, n);
		break;
	case 'B':
		down(s, n);
		break;
	case 'C':
	case 'a':
		move(s, n, 0);
		break;
	case 'D':
		move(s, -(int64_t)n, 0);
		break;
	case 'E':
		down(s, n);
		s->active->x = 0;
		break;
	case 'F':
		up(s, n);
		s->active->x = 0;
		break;
	case 'G':
	case '`':
		screen_set_cursor(s, (int64_t)n - 1, s->active->y);
		break;
	case 'H':
	case 'f':
		screen_set_cursor(s, (int64_t)screen_param_or_one(a, 1) - 1, (int64_t)n - 1);
		break;
	case 'I':
		tab_forward(s, n);
		break;
	case 'Z':
		tab_backward(s, n);
		break;
	case 'd':
		screen_set_cursor(s, s->active->x, (int64_t)n - 1);
		break;
	case 'e':
		move(s, 0, n);
		break;
	default:
		return false;
	}
	return true;
}

/* DECSCUSR */
static void set_cursor_style(struct screen *s, int style)
{
	unsigned shape = (s->modes.cursor_style + 1u) / 2;
	if (style <= 6)
		s->modes.cursor_style = (uint8_t)style;
	else if (shape > 0) /* larger values keep the shape; odd ones blink */
		s->modes.cursor_style = (uint8_t)(shape * 2 - (unsigned)(style & 1));
}

/* DECSCA */
static void set_protection(struct screen *s, int n)
{
	if (n == 1)
		s->pen.flags |= STYLE_PROTECTED;
	else if (n == 0 || n == 2)
		s->pen.flags &= (uint16_t)~STYLE_PROTECTED;
	s->pen_changed = true;
}

static void set_state(struct screen *s, uint32_t id, const struct params *a)
{
	switch (id) {
	case 'h':
	case 'l':
		screen_set_modes(s, a, id == 'h');
		break;
	case SEQUENCE('?', 'h'):
	case SEQUENCE('?', 'l'):
		screen_set_private_modes(s, a, (id & 0xff) == 'h');
		break;
	case 'r':
		set_region(s, a);
		break;
	case 's':
		screen_save_cursor(s);
		break;
	case 'u':
		screen_restore_cursor(s);
		break;
	case 'g':
		clear_tabs(s, screen_param(a, 0));
		break;
	case 't':
		screen_window_op(s, a);
		break;
	case SEQUENCE('!', 'p'):
		screen_soft_reset(s);
		break;
	case SEQUENCE(' ', 'q'):
		set_cursor_style(s, screen_param(a, 0));
		break;
	case SEQUENCE('"', 'q'):
		set_protection(s, screen_param(a, 0));
		break;
	case SEQUENCE('>', 'm'): /* XTMODKEYS */
		if (a->count >= 2 && screen_param(a, 0) == 4)
			s->modes.modify_other_keys = (uint8_t)(screen_param(a, 1) & 3);
		else if (screen_param(a, 0) == 4 || screen_param(a, 0) == 0)
			s->modes.modify_other_keys = 0;
		break;
	case SEQUENCE('=', 'u'):
	case SEQUENCE('>', 'u'):
	case SEQUENCE('<', 'u'):
		screen_kitty(s, id, a);
		break;
	default:
		break;
	}
}

void screen_csi(void *user, uint32_t id, const struct params *a)
{
	struct screen *s = user;
	screen_add_work(s, 1);
	if (id == 'm')
		screen_sgr(s, a);
	else if (id == 'b')
		screen_repeat(s, screen_param_or_one(a, 0));
	else if (!move_cursor(s, id, a) && !screen_edit(s, id, a) && !screen_query(s, id, a))
		set_state(s, id, a);
	s->join = 0;
	s->in_run = false;
}

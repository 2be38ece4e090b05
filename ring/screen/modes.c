/* Modes: SM, RM, DECSET, DECRST, DECSTR, and the kitty keyboard protocol's stacks. */
#include "ring/screen/screen_internal.h"

#include <string.h>

void screen_set_modes(struct screen *s, const struct params *a, bool on)
{
	for (unsigned i = 0; i < a->count; i++) {
		if (a->value[i] == 4)
			s->modes.insert = on;
		else if (a->value[i] == 20)
			s->modes.newline = on;
	}
}

static void set_mouse(struct screen *s, enum mouse_protocol protocol, bool on)
{
	s->modes.mouse = on ? protocol : MOUSE_NONE;
}

static void set_mouse_encoding(struct screen *s, enum mouse_encoding encoding, bool on)
{
	s->modes.mouse_encoding = on ? encoding : MOUSE_DEFAULT;
}

/* ?47, ?1047, ?1049. The flags are exchanged even if the buffer is in use already, as in xterm.js. */
static void set_alternate(struct screen *s, int mode, bool on)
{
	struct kitty_stack *from = on ? &s->primary.kitty : &s->alternate.kitty,
			   *to = on ? &s->alternate.kitty : &s->primary.kitty;
	if (on && mode == 1049)
		screen_save_cursor(s);
	from->flags = s->modes.kitty_flags;
	s->modes.kitty_flags = to->flags;
	if (on)
		screen_use_alternate(s);
	else
		screen_use_primary(s);
	if (!on && mode == 1049)
		screen_restore_cursor(s);
}

static void set_private_mode(struct screen *s, int mode, bool on)
{
	struct screen_modes *m = &s->modes;
	switch (mode) {
	case 1:
		m->application_cursor = on;
		break;
	case 2: /* DECANM: ANSI mode resets the charsets */
		if (on) {
			memset(s->charsets.g, 'B', sizeof s->charsets.g);
			s->charsets.designated = sizeof s->charsets.g;
		}
		break;
	case 6:
		m->origin = on;
		screen_set_cursor(s, 0, 0);
		break;
	case 7:
		m->wraparound = on;
		break;
	case 9:
		set_mouse(s, MOUSE_X10, on);
		break;
	case 25:
		m->cursor_hidden = !on;
		break;
	case 45:
		m->reverse_wraparound = on;
		break;
	case 66:
		m->application_keypad = on;
		break;
	case 1000:
		set_mouse(s, MOUSE_VT200, on);
		break;
	case 1002:
		set_mouse(s, MOUSE_DRAG, on);
		break;
	case 1003:
		set_mouse(s, MOUSE_ANY, on);
		break;
	case 1004:
		if (on && !m->focus)
			screen_emit(s, (struct screen_event){.type = SCREEN_FOCUS, .text = ""});
		m->focus = on;
		break;
	case 1006:
		set_mouse_encoding(s, MOUSE_SGR, on);
		break;
	case 1016:
		set_mouse_encoding(s, MOUSE_SGR_PIXELS, on);
		break;
	case 1048:
		if (on)
			screen_save_cursor(s);
		else
			screen_restore_cursor(s);
		break;
	case 47:
	case 1047:
	case 1049:
		set_alternate(s, mode, on);
		break;
	case 2004:
		m->bracketed_paste = on;
		break;
	case 2026:
		m->synchronized_output = on;
		break;
	case 2027:
		m->graphemes = on;
		s->had_graphemes = true;
		break;
	case 2031:
		m->color_scheme = on;
		break;
	default:
		break;
	}
}

void screen_set_private_modes(struct screen *s, const struct params *a, bool on)
{
	for (unsigned i = 0; i < a->count; i++)
		set_private_mode(s, a->value[i], on);
}

/* DECSTR as in xterm.js, which also resets the modes of a full reset. */
void screen_soft_reset(struct screen *s)
{
	struct buffer *b = s->active;
	struct screen_modes old = s->modes;
	s->modes = (struct screen_modes){
		.wraparound = true,
		.newline = old.newline,
		.mouse = old.mouse,
		.mouse_encoding = old.mouse_encoding,
		.modify_other_keys = old.modify_other_keys,
		.graphemes = old.graphemes,
	};
	b->top = 0;
	b->bottom = s->rows - 1;
	s->pen = (struct style){0};
	s->pen_changed = true;
	s->charsets = screen_charsets;
	s->primary.kitty = s->alternate.kitty = (struct kitty_stack){0};
	/* xterm.js keeps the rest of what DECSC saved. */
	b->saved.x = 0;
	b->saved.y = screen_base(s);
	b->saved.fg = b->saved.bg = 0;
	b->saved.flags = 0;
}

/* sw.kovidgoyal.net/kitty/keyboard-protocol: = sets, > pushes, < pops. */
void screen_kitty(struct screen *s, uint32_t id, const struct params *a)
{
	struct kitty_stack *k = &s->active->kitty;
	uint8_t *current = &s->modes.kitty_flags, flags = (uint8_t)(screen_param(a, 0) & 0x1f);
	switch (id >> 8) {
	case '=':
		if (screen_param_or_one(a, 1) == 1)
			*current = flags;
		else if (screen_param(a, 1) == 2)
			*current |= flags;
		else if (screen_param(a, 1) == 3)
			*current &= (uint8_t)~flags;
		break;
	case '>':
		if (k->count == SCREEN_KITTY_MAX)
			memmove(k->saved, k->saved + 1, --k->count);
		k->saved[k->count++] = *current;
		*current = flags;
		break;
	default:
		for (unsigned n = screen_param_or_one(a, 0); n > 0 && k->count > 0; n--)
			*current = k->saved[--k->count];
		if (k->count == 0) /* even after the oldest entry */
			*current = 0;
	}
}

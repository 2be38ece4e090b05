/* SGR: sets the pen. */
#include "ring/screen/screen_internal.h"

static void flag(struct screen *s, uint16_t mask, bool on)
{
	if (on)
		s->pen.flags |= mask;
	else
		s->pen.flags &= (uint16_t)~mask;
}

/* Underline style, colour and link are in effect while there is a style or a link. */
static void update_extended(struct screen *s)
{
	flag(s, STYLE_EXTENDED, s->pen.underline != UNDERLINE_NONE || s->pen.link != 0);
}

static void set_underline(struct screen *s, int style)
{
	if (style < 0 || style > UNDERLINE_DASHED)
		style = UNDERLINE_SINGLE;
	s->pen.underline = (uint16_t)style;
	flag(s, STYLE_UNDERLINE, style != UNDERLINE_NONE);
	update_extended(s);
}

static void reset(struct screen *s)
{
	s->pen.fg = s->pen.bg = s->pen.underline_color = COLOR_DEFAULT;
	s->pen.flags = 0;
	s->pen.underline = UNDERLINE_NONE;
	update_extended(s);
}

static uint32_t make_color(uint32_t old, int mode, int c1, int c2, int c3)
{
	if (mode == 2)
		return COLOR_RGB | (uint32_t)(c1 & 0xff) << 16 | (uint32_t)(c2 & 0xff) << 8 |
			(uint32_t)(c3 & 0xff);
	if (mode == 5)
		return COLOR_INDEXED | (uint32_t)(c1 & 0xff);
	return old;
}

/*
 * 38, 48 and 58, with components as parameters or subparameters, with or without a colour space.
 * Returns the parameters consumed after the one at i.
 */
static unsigned extended_color(struct screen *s, const struct params *a, unsigned i)
{
	int part[6] = {0, 0, -1, 0, 0, 0}; /* 38, mode, space, components */
	unsigned space = 0, n = 0;
	do {
		part[n + space] = a->value[i + n];
		if (a->sub_end[i + n] > a->sub_first[i + n]) {
			unsigned k = 0, count = (unsigned)a->sub_end[i + n] - a->sub_first[i + n];
			do {
				if (part[1] == 5)
					space = 1;
				if (n + k + 1 + space < 6)
					part[n + k + 1 + space] = a->sub[a->sub_first[i + n] + k];
			} while (++k < count && k + n + 1 + space < 6);
			break;
		}
		if ((part[1] == 5 && n + space >= 2) || (part[1] == 2 && n + space >= 5))
			break;
		if (part[1] != 0)
			space = 1;
	} while (++n + i < a->count && n + space < 6);
	for (unsigned k = 2; k < 6; k++)
		if (part[k] == -1)
			part[k] = 0;
	uint32_t *color = part[0] == 38 ? &s->pen.fg
		: part[0] == 48         ? &s->pen.bg
					: &s->pen.underline_color;
	*color = make_color(*color, part[1], part[3], part[4], part[5]);
	return n;
}

static bool set_basic_color(struct screen *s, int p)
{
	if (p >= 30 && p <= 37)
		s->pen.fg = COLOR_BASIC | (uint32_t)(p - 30);
	else if (p >= 40 && p <= 47)
		s->pen.bg = COLOR_BASIC | (uint32_t)(p - 40);
	else if (p >= 90 && p <= 97)
		s->pen.fg = COLOR_BASIC | (uint32_t)(p - 90 + 8);
	else if (p >= 100 && p <= 107)
		s->pen.bg = COLOR_BASIC | (uint32_t)(p - 100 + 8);
	else if (p == 39)
		s->pen.fg = COLOR_DEFAULT;
	else if (p == 49)
		s->pen.bg = COLOR_DEFAULT;
	else
		return false;
	return true;
}

static void set_attribute(struct screen *s, int p)
{
	switch (p) {
	case 0:
		reset(s);
		break;
	case 1:
		flag(s, STYLE_BOLD, true);
		break;
	case 2:
		flag(s, STYLE_DIM, true);
		break;
	case 3:
	case 23:
		flag(s, STYLE_ITALIC, p == 3);
		break;
	case 5:
	case 25:
		flag(s, STYLE_BLINK, p == 5);
		break;
	case 7:
	case 27:
		flag(s, STYLE_INVERSE, p == 7);
		break;
	case 8:
	case 28:
		flag(s, STYLE_CONCEAL, p == 8);
		break;
	case 9:
	case 29:
		flag(s, STYLE_STRIKE, p == 9);
		break;
	case 21:
		set_underline(s, UNDERLINE_DOUBLE);
		break;
	case 22:
		flag(s, STYLE_BOLD | STYLE_DIM, false);
		break;
	case 24:
		set_underline(s, UNDERLINE_NONE);
		break;
	case 53:
	case 55:
		flag(s, STYLE_OVERLINE, p == 53);
		break;
	case 221: /* kitty's: bold and faint apart */
		flag(s, STYLE_BOLD, false);
		break;
	case 222:
		flag(s, STYLE_DIM, false);
		break;
	case 59:
		s->pen.underline_color = COLOR_RGB | COLOR_VALUE; /* as in xterm.js */
		update_extended(s);
		break;
	default:
		break;
	}
}

void screen_sgr(struct screen *s, const struct params *a)
{
	s->pen_changed = true;
	for (unsigned i = 0; i < a->count; i++) {
		int p = a->value[i];
		bool subs = a->sub_end[i] > a->sub_first[i];
		if (p == 38 || p == 48 || p == 58)
			i += extended_color(s, a, i);
		else if (p == 4)
			set_underline(s, subs ? a->sub[a->sub_first[i]] : UNDERLINE_SINGLE);
		else if (!set_basic_color(s, p))
			set_attribute(s, p);
	}
}

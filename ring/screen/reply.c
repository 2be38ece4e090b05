/*
 * Replies to queries. They contain only numbers and fixed text: echoing data that a program sent
 * would let it type into the shell. No reply is itself a query, because the terminal line may echo
 * it.
 */
#include "ring/cell_size.h"
#include "ring/screen/screen_internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define IMAGE_COLORS 1024u  /* of sixel graphics */
#define IMAGE_LARGEST 4096u /* pixels of a side that are allowed with any other */

/* DECRPM: 0 not recognised, 1 set, 2 reset, 3 permanently set, 4 permanently reset. */
enum { UNKNOWN = 0, SET = 1, RESET = 2, ALWAYS = 3, NEVER = 4 };

static int set_or_not(bool on)
{
	return on ? SET : RESET;
}

static int ansi_mode(const struct screen *s, int mode)
{
	switch (mode) {
	case 2:
		return NEVER;
	case 4:
		return set_or_not(s->modes.insert);
	case 12:
		return ALWAYS;
	case 20:
		return set_or_not(s->modes.newline);
	default:
		return UNKNOWN;
	}
}

static int mouse_mode(const struct screen_modes *m, int mode)
{
	switch (mode) {
	case 9:
		return set_or_not(m->mouse == MOUSE_X10);
	case 1000:
		return set_or_not(m->mouse == MOUSE_VT200);
	case 1002:
		return set_or_not(m->mouse == MOUSE_DRAG);
	case 1003:
		return set_or_not(m->mouse == MOUSE_ANY);
	case 1005:
	case 1015:
		return NEVER;
	case 1006:
		return set_or_not(m->mouse_encoding == MOUSE_SGR);
	case 1016:
		return set_or_not(m->mouse_encoding == MOUSE_SGR_PIXELS);
	default:
		return UNKNOWN;
	}
}

static int private_mode(const struct screen *s, int mode)
{
	const struct screen_modes *m = &s->modes;
	switch (mode) {
	case 1:
		return set_or_not(m->application_cursor);
	case 6:
		return set_or_not(m->origin);
	case 7:
		return set_or_not(m->wraparound);
	case 8:
		return ALWAYS;
	case 12:
		return set_or_not(m->cursor_style % 2 == 1);
	case 25:
		return set_or_not(!m->cursor_hidden);
	case 45:
		return set_or_not(m->reverse_wraparound);
	case 47:
	case 1047:
	case 1049:
		return set_or_not(screen_is_alternate(s));
	case 66:
		return set_or_not(m->application_keypad);
	case 67:
		return NEVER;
	case 1004:
		return set_or_not(m->focus);
	case 1048:
		return SET;
	case 2004:
		return set_or_not(m->bracketed_paste);
	case 2026:
		return set_or_not(m->synchronized_output);
	case 2027:
		return set_or_not(m->graphemes);
	case 2031:
		return set_or_not(m->color_scheme);
	default:
		return mouse_mode(m, mode);
	}
}

/* DSR */
static void report_status(struct screen *s, int what)
{
	unsigned x = s->active->x + 1;
	if (what == 5)
		screen_reply(s, "\033[0n");
	else if (what == 6)
		screen_reply(s, "\033[%u;%uR", s->active->y + 1, x);
}

/* contour-terminal.org/vt-extensions/color-palette-update-notifications: 1 is dark, 2 light. */
static int color_scheme(const struct screen *s)
{
	return theme_is_dark(&s->palette.theme) ? 1 : 2;
}

void screen_set_theme(struct screen *s, const struct theme *theme)
{
	bool changes = theme_is_dark(theme) != theme_is_dark(&s->palette.theme);
	s->palette.theme = *theme;
	if (changes && s->modes.color_scheme)
		screen_emit(s,
			(struct screen_event){
				.type = SCREEN_COLOR_SCHEME, .number = color_scheme(s), .text = ""});
}

static void report_private_status(struct screen *s, int what)
{
	switch (what) {
	case 6: /* DECXCPR */
		screen_reply(s, "\033[?%u;%uR", s->active->y + 1, s->active->x + 1);
		break;
	case 15: /* no printer */
		screen_reply(s, "\033[?13n");
		break;
	case 25: /* no user-defined keys to be locked */
		screen_reply(s, "\033[?20n");
		break;
	case 26: /* keyboard: North American */
		screen_reply(s, "\033[?27;1;0;0n");
		break;
	case 53: /* no locator */
	case 55:
		screen_reply(s, "\033[?50n");
		break;
	case 996:
		screen_reply(s, "\033[?997;%dn", color_scheme(s));
		break;
	default:
		break;
	}
}

/* XTWINOPS. There is no window: replies are fixed, and titles are not disclosed. */
static void report_window(struct screen *s, int what)
{
	switch (what) {
	case 11:
		screen_reply(s, "\033[1t");
		break;
	case 13:
		screen_reply(s, "\033[3;0;0t");
		break;
	case 14:
		screen_reply(s, "\033[4;%u;%ut", s->rows * CELL_HEIGHT, s->cols * CELL_WIDTH);
		break;
	case 15:
		screen_reply(s, "\033[5;%u;%ut", s->rows * CELL_HEIGHT, s->cols * CELL_WIDTH);
		break;
	case 16:
		screen_reply(s, "\033[6;%u;%ut", CELL_HEIGHT, CELL_WIDTH);
		break;
	case 18:
		screen_reply(s, "\033[8;%u;%ut", s->rows, s->cols);
		break;
	case 19:
		screen_reply(s, "\033[9;%u;%ut", s->rows, s->cols);
		break;
	case 20:
		screen_reply(s, "\033]L\033\\");
		break;
	case 21:
		screen_reply(s, "\033]l\033\\");
		break;
	default:
		break;
	}
}

/*
 * XTSMGRAPHICS: colours of sixel graphics (1), and their size (2), now (1) and at most (4). There is no reply to anything else:
 * an echoed error would be a query that fails again.
 */
static void report_graphics(struct screen *s, int item, int action)
{
	bool reads = action == 1 || action == 4;
	if (item == 1 && reads)
		screen_reply(s, "\033[?1;0;%uS", IMAGE_COLORS);
	else if (item == 2 && action == 1)
		screen_reply(s, "\033[?2;0;%u;%uS", s->cols * CELL_WIDTH, s->rows * CELL_HEIGHT);
	else if (item == 2 && reads)
		screen_reply(s, "\033[?2;0;%u;%uS", IMAGE_LARGEST, IMAGE_LARGEST);
}

bool screen_query(struct screen *s, uint32_t id, const struct params *a)
{
	int p = screen_param(a, 0);
	switch (id) {
	case 'c': /* DA1: as xterm.js, with sixel graphics (4), as tmux says it */
		if (p == 0)
			screen_reply(s, "\033[?1;2;4c");
		break;
	case SEQUENCE('>', 'c'): /* DA2; an echoed reply is not a query */
		if (p == 0 && a->count == 1)
			screen_reply(s, "\033[>0;276;0c");
		break;
	case SEQUENCE('=', 'c'): /* DA3 */
		if (p == 0)
			screen_reply(s, "\033P!|00000000\033\\");
		break;
	case 'n':
		report_status(s, p);
		break;
	case SEQUENCE('?', 'n'):
		report_private_status(s, p);
		break;
	case SEQUENCE('$', 'p'): /* DECRQM */
		screen_reply(s, "\033[%d;%d$y", p, ansi_mode(s, p));
		break;
	case SEQUENCE('?' << 8 | '$', 'p'):
		screen_reply(s, "\033[?%d;%d$y", p, private_mode(s, p));
		break;
	case SEQUENCE('>', 'q'): /* XTVERSION */
		if (p == 0)
			screen_reply(s, "\033P>|Ringside\033\\");
		break;
	case SEQUENCE('?', 'u'): /* kitty keyboard flags; with a parameter it is an echoed reply */
		if (s->parser.offset - s->parser.start == sizeof "\033[?u" - 1)
			screen_reply(s, "\033[?%uu", s->modes.kitty_flags);
		break;
	case SEQUENCE('?', 'm'): /* XTQMODKEYS */
		if (p == 4)
			screen_reply(s, "\033[>4;%um", s->modes.modify_other_keys);
		break;
	case SEQUENCE('?', 'S'): /* XTSMGRAPHICS */
		report_graphics(s, p, screen_param(a, 1));
		break;
	case 'x': /* DECREQTPARM */
		if (p <= 1)
			screen_reply(s, "\033[%d;1;1;128;128;1;0x", p + 2);
		break;
	case 't':
		if (p < 11 || p > 21)
			return false;
		report_window(s, p);
		break;
	default:
		return false;
	}
	return true;
}

/* DECRQSS */

/* The pen, as SGR parameters. */
static size_t write_pen(const struct screen *s, char *to, size_t cap)
{
	static const struct {
		uint16_t flag;
		const char *sgr;
	} flags[] = {{STYLE_BOLD, ";1"}, {STYLE_DIM, ";2"}, {STYLE_ITALIC, ";3"},
		{STYLE_BLINK, ";5"}, {STYLE_INVERSE, ";7"}, {STYLE_CONCEAL, ";8"},
		{STYLE_STRIKE, ";9"}, {STYLE_OVERLINE, ";53"}};
	const struct style *pen = &s->pen;
	size_t n = (size_t)snprintf(to, cap, "0");
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (pen->flags & flags[i].flag)
			n += (size_t)snprintf(to + n, cap - n, "%s", flags[i].sgr);
	if (pen->flags & STYLE_UNDERLINE)
		n += (size_t)snprintf(to + n, cap - n,
			pen->underline > UNDERLINE_SINGLE ? ";4:%u" : ";4", pen->underline);
	const uint32_t colors[2] = {pen->fg, pen->bg};
	for (unsigned i = 0; i < 2; i++) {
		unsigned value = colors[i] & COLOR_VALUE, base = i == 0 ? 30 : 40;
		switch (colors[i] & COLOR_MODE) {
		case COLOR_BASIC:
			n += (size_t)snprintf(to + n, cap - n, ";%u",
				value < 8 ? base + value : base + 52 + value);
			break;
		case COLOR_INDEXED:
			n += (size_t)snprintf(to + n, cap - n, ";%u;5;%u", base + 8, value);
			break;
		case COLOR_RGB:
			n += (size_t)snprintf(to + n, cap - n, ";%u;2;%u;%u;%u", base + 8,
				value >> 16, value >> 8 & 0xff, value & 0xff);
			break;
		default:
			break;
		}
	}
	return n;
}

static void report_setting(struct screen *s, const char *what)
{
	char pen[256];
	const struct buffer *b = s->active;
	if (strcmp(what, "m") == 0) {
		write_pen(s, pen, sizeof pen);
		screen_reply(s, "\033P1$r%sm\033\\", pen);
	} else if (strcmp(what, "r") == 0) {
		screen_reply(s, "\033P1$r%u;%ur\033\\", b->top + 1, b->bottom + 1);
	} else if (strcmp(what, " q") == 0) {
		unsigned style = s->modes.cursor_style ? s->modes.cursor_style : 2u;
		screen_reply(s, "\033P1$r%u q\033\\", style);
	} else if (strcmp(what, "\"q") == 0) {
		screen_reply(s, "\033P1$r%d\"q\033\\", s->pen.flags & STYLE_PROTECTED ? 1 : 0);
	} else if (strcmp(what, "\"p") == 0) {
		screen_reply(s, "\033P1$r61;1\"p\033\\");
	} else {
		screen_reply(s, "\033P0$r\033\\");
	}
}

/* XTGETTCAP: names in hexadecimal, separated by semicolons. Stops at the first unknown one. */
static void report_capabilities(struct screen *s, const char *names)
{
	static const struct {
		const char *name, *answer;
	} known[] = {
		{"544e", "544e=787465726d2d323536636f6c6f72"},         /* TN: xterm-256color */
		{"6e616d65", "6e616d65=787465726d2d323536636f6c6f72"}, /* name: the same */
		{"436f", "436f=323536"},                               /* Co: 256 */
		{"636f6c6f7273", "636f6c6f7273=323536"},               /* colors: 256 */
		{"524742", "524742=382f382f38"},                       /* RGB: 8/8/8 */
	};
	while (*names) {
		size_t length = strcspn(names, ";"), i = 0, count = sizeof known / sizeof *known;
		while (i < count &&
			(strlen(known[i].name) != length ||
				strncasecmp(known[i].name, names, length) != 0))
			i++;
		if (i == count) {
			screen_reply(s, "\033P0+r\033\\");
			return;
		}
		screen_reply(s, "\033P1+r%s\033\\", known[i].answer);
		names += length + (names[length] == ';');
	}
}

void screen_dcs(void *user, uint32_t id, const struct params *a, const char *data, size_t length)
{
	struct screen *s = user;
	(void)a;
	s->join = 0;
	s->in_run = false;
	screen_add_work(s, 1 + length / 16);
	if (id == 'q')
		screen_draw_sixel(s, data, length);
	else if (id == SEQUENCE('$', 'q'))
		report_setting(s, data);
	else if (id == SEQUENCE('+', 'q'))
		report_capabilities(s, data);
}

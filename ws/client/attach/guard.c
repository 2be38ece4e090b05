/*
 * The machine of xterm.js, as ring/scan has it, but for what comes out. A sequence is held until it is whole, then passes or
 * not: of strings those in a list, of escapes too, of control sequences all that are not known for more than drawing. It
 * cannot fail.
 */
#include "ws/client/attach/guard.h"

#include <string.h>

#define ESC 0x1b
#define BEL 0x07
#define CAN 0x18
#define SUB 0x1a
#define ST "\033\\"
#define CSI_MAX 1000u     /* longer ones the server hides */
#define SELECTION_MAX 24u /* of an OSC 52, up to its data */
#define NUMBER_MAX 100000u

struct feed {
	struct guard *g;
	char *dst;
	size_t length;
};

static void put(struct feed *f, const void *bytes, size_t length)
{
	memcpy(f->dst + f->length, bytes, length);
	f->length += length;
}

static void begin(struct guard *g, enum guard_state state)
{
	g->state = state;
	g->length = 0;
	g->refused = false;
}

static void hold(struct guard *g, uint8_t c, size_t most)
{
	if (g->length < most)
		g->held[g->length++] = (char)c;
	else
		g->refused = true;
}

/* The number at s[*at], which moves behind its digits. */
static unsigned take_number(const char *s, size_t length, size_t *at)
{
	unsigned n = 0;
	for (; *at < length && s[*at] >= '0' && s[*at] <= '9'; ++*at)
		n = n < NUMBER_MAX ? n * 10 + (unsigned)(s[*at] - '0') : n;
	return n;
}

/* A control sequence, taken apart. */
struct csi {
	char prefix, inter; /* 0: none; of several intermediates the last */
	const char *params;
	size_t params_length;
	char final;
};

static struct csi read_csi(const struct guard *g, char final)
{
	struct csi csi = {.final = final};
	size_t at = 0, end;
	if (g->length > 0 && g->held[0] >= '<')
		csi.prefix = g->held[at++];
	for (end = at; end < g->length && g->held[end] >= '0'; end++)
		;
	csi.params = g->held + at;
	csi.params_length = end - at;
	if (end < g->length)
		csi.inter = g->held[g->length - 1];
	return csi;
}

static bool has_mode(const struct csi *c, const unsigned *modes, size_t count)
{
	for (size_t at = 0; at < c->params_length; at++) {
		unsigned mode = take_number(c->params, c->params_length, &at);
		for (size_t i = 0; i < count; i++)
			if (modes[i] == mode)
				return true;
	}
	return false;
}

/* Modes that lock the terminal or its keyboard, change its window, write files, or answer at once. */
static bool may_set(const struct csi *c)
{
	/* KAM, SRM */
	static const unsigned ansi[] = {2, 12};
	/* VT52; Tektronix; 132 columns; a log; highlighting with the mouse; sizes, pastes and keys as reports */
	static const unsigned private[] = {2, 38, 40, 46, 1001, 2048, 5522, 9001};
	return c->prefix == '?' ? !has_mode(c, private, sizeof private / sizeof *private)
				: !has_mode(c, ansi, sizeof ansi / sizeof *ansi);
}

/* Of what XTWINOPS does only the stack of titles stays inside. */
static bool may_window(const struct csi *c)
{
	size_t at = 0;
	unsigned what = take_number(c->params, c->params_length, &at);
	return c->prefix == 0 && c->inter == 0 && (what == 22 || what == 23);
}

static bool may_csi(const struct csi *c)
{
	switch (c->final) {
	case 'h':
	case 'l':
		return may_set(c);
	case 't':
		return may_window(c);
	case 'i': /* printing */
	case '[': /* of the Linux console: consoles, blanking */
	case ']':
	case '|': /* DECSLPP, DECSCPP; DECRQLP, XTREPORTSGR */
		return false;
	/* Questions, as in ring/asks. */
	case 'c':
		return c->prefix == '?';
	case 'n':
		return c->prefix == '>';
	case 'x':
		return c->inter == '$' || c->inter == '*';
	case 'p': /* DECRQM; DECSCL, after which little is understood */
		return c->inter != '$' && c->inter != '"';
	case 'q':
		return c->prefix != '>';
	case 'u':
		return c->prefix != '?' && c->inter == 0;
	case 'S':
	case 'm':
	case 'g':
		return c->prefix != '?';
	case 'R':
		return c->inter != '#';
	case 'w': /* and DECEFR */
		return c->inter == 0;
	case 'y': /* and tests of the hardware */
		return false;
	case 'z': /* DECELR, DECSLE: the mouse; DECINVM: macros */
	case '{':
		return c->inter == '$';
	case '}': /* DECSASD, DECSSDT: the status line; DECPS: sounds */
	case '~':
		return c->inter == '\'';
	default:
		return true;
	}
}

static bool may_osc(const struct guard *g)
{
	size_t at = 0;
	unsigned number = take_number(g->held, g->length, &at);
	if (at == 0 || (at < g->length && g->held[at] != ';'))
		return false;
	switch (number) {
	case 0: /* titles */
	case 1:
	case 2:
	case 7:   /* the directory */
	case 8:   /* links */
	case 104: /* colours */
	case 110:
	case 111:
	case 112:
	case 133: /* prompts and commands */
		return true;
	case 4:
	case 10:
	case 11:
	case 12:
		return !memchr(g->held, '?', g->length);
	default:
		return false;
	}
}

/* A string has come to its end. */
static void end_string(struct feed *f, enum guard_state state)
{
	struct guard *g = f->g;
	if (state == GUARD_CLIPBOARD) {
		put(f, ST, 2);
	} else if (state == GUARD_OSC && !g->refused && may_osc(g)) {
		put(f, "\033]", 2);
		put(f, g->held, g->length);
		put(f, ST, 2);
	}
	begin(g, GUARD_GROUND);
}

/* Whatever is going on is given up, and has no effect. */
static void give_up(struct feed *f)
{
	struct guard *g = f->g;
	const char can = CAN;
	if (g->state == GUARD_CLIPBOARD)
		put(f, &can, 1);
	begin(g, GUARD_GROUND);
}

static bool in_string(const struct guard *g)
{
	return g->state >= GUARD_OSC;
}

static void end_escape(struct feed *f, uint8_t c)
{
	struct guard *g = f->g;
	bool passes = g->length == 0 ? c && strchr("78=>cDEHMno|}~", c) != NULL
				     : strchr("()*+-./#", g->held[0]) != NULL;
	if (passes && !g->refused) {
		put(f, "\033", 1);
		put(f, g->held, g->length);
		put(f, &c, 1);
	}
	begin(g, GUARD_GROUND);
}

static void take_escape(struct feed *f, uint8_t c)
{
	struct guard *g = f->g;
	if (c < 0x30)
		hold(g, c, 4);
	else if (g->length > 0)
		end_escape(f, c);
	else if (c == '[')
		begin(g, GUARD_CSI);
	else if (c == ']')
		begin(g, GUARD_OSC);
	else if (c == 'P')
		begin(g, GUARD_DCS);
	else if (c == 'X' || c == '^' || c == '_')
		begin(g, GUARD_STRING);
	else
		end_escape(f, c);
}

static void take_csi(struct feed *f, uint8_t c)
{
	struct guard *g = f->g;
	if (c < 0x40) {
		/* One of < = > ? comes first or not at all; behind an intermediate no parameter follows. */
		if (g->length > 0 && (c >= '<' || (c >= '0' && g->held[g->length - 1] < '0')))
			g->refused = true;
		hold(g, c, CSI_MAX);
		return;
	}
	struct csi csi = read_csi(g, (char)c);
	if (!g->refused && may_csi(&csi)) {
		put(f, "\033[", 2);
		put(f, g->held, g->length);
		put(f, &c, 1);
	}
	begin(g, GUARD_GROUND);
}

static bool is_base64(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		c == '+' || c == '/' || c == '=';
}

/* Whether what is held is an OSC 52 up to its data: 52 ; selections ; */
static bool is_before_data(const struct guard *g)
{
	size_t at = 0;
	if (g->length > SELECTION_MAX || take_number(g->held, g->length, &at) != 52 ||
		at + 1 >= g->length || g->held[at++] != ';')
		return false;
	while (at + 1 < g->length && strchr("cpqs01234567", g->held[at]))
		at++;
	return at + 1 == g->length && g->held[at] == ';';
}

static void take_osc(struct feed *f, uint8_t c)
{
	struct guard *g = f->g;
	if (g->clipboard && !g->refused && is_base64(c) && is_before_data(g)) {
		put(f, "\033]", 2);
		put(f, g->held, g->length);
		put(f, &c, 1);
		g->state = GUARD_CLIPBOARD;
		return;
	}
	hold(g, c, GUARD_HELD_MAX);
}

static void take_control(struct feed *f, uint8_t c)
{
	struct guard *g = f->g;
	if (c == CAN || c == SUB)
		give_up(f);
	else if (c == BEL && (g->state == GUARD_OSC || g->state == GUARD_CLIPBOARD))
		end_string(f, g->state);
	else if (c >= BEL && c <= 0x0f && !in_string(g))
		put(f, &c, 1); /* it acts at once, whatever it stands in */
}

static void take_esc(struct guard *g)
{
	if (in_string(g)) {
		g->string = g->state;
		g->state = GUARD_STRING_END;
	} else {
		begin(g, GUARD_ESCAPE);
	}
}

static void take_ascii(struct feed *f, uint8_t c)
{
	struct guard *g = f->g;
	if (g->state == GUARD_STRING_END) {
		end_string(f, g->string);
		if (c == '\\')
			return;
		begin(g, GUARD_ESCAPE); /* that ESC began something else */
	}
	if (c == ESC)
		take_esc(g);
	else if (c < 0x20)
		take_control(f, c);
	else if (c == 0x7f)
		return;
	else if (g->state == GUARD_GROUND)
		put(f, &c, 1);
	else if (g->state == GUARD_ESCAPE)
		take_escape(f, c);
	else if (g->state == GUARD_CSI)
		take_csi(f, c);
	else if (g->state == GUARD_OSC)
		take_osc(f, c);
	else if (g->state == GUARD_CLIPBOARD && is_base64(c))
		put(f, &c, 1);
}

/* U+0080 to U+009F: what ESC and another character say as well. */
static void take_c1(struct feed *f, uint8_t c)
{
	struct guard *g = f->g;
	if (c == 0x9c && in_string(g)) {
		end_string(f, g->state);
		return;
	}
	give_up(f);
	begin(g, GUARD_ESCAPE);
	take_escape(f, (uint8_t)(c - 0x40));
}

/* A whole character of two or more bytes. */
static void take_character(struct feed *f)
{
	struct guard *g = f->g;
	if (memcmp(g->character, "\xef\xbb\xbf", 3) == 0)
		return; /* the decoder drops it */
	if (g->state == GUARD_STRING_END) {
		end_string(f, g->string);
		begin(g, GUARD_ESCAPE);
	}
	if (g->character[0] == 0xc2 && g->character[1] < 0xa0)
		take_c1(f, g->character[1]);
	else if (g->state == GUARD_GROUND)
		put(f, g->character, g->have);
	else if (g->state == GUARD_OSC)
		for (uint8_t i = 0; i < g->have; i++)
			hold(g, g->character[i], GUARD_HELD_MAX);
	else if (g->state == GUARD_CSI && g->refused)
		return; /* what is broken already ends with its last byte */
	else if (g->state != GUARD_CLIPBOARD && g->state != GUARD_DCS)
		give_up(f);
}

/* The bytes that a character has of which this is the first; 0: it is none. */
static uint8_t announced(uint8_t c)
{
	return c >= 0xc2 && c < 0xe0    ? 2
		: c >= 0xe0 && c < 0xf0 ? 3
		: c >= 0xf0 && c < 0xf5 ? 4
					: 0;
}

/* Whether a character may go on with this byte: neither too long a form of another, nor half of one, nor too large. */
static bool may_follow(const struct guard *g, uint8_t c)
{
	if (c < 0x80 || c > 0xbf)
		return false;
	if (g->have > 1)
		return true;
	switch (g->character[0]) {
	case 0xe0:
		return c >= 0xa0;
	case 0xed:
		return c < 0xa0;
	case 0xf0:
		return c >= 0x90;
	case 0xf4:
		return c < 0x90;
	default:
		return true;
	}
}

static void take_byte(struct feed *f, uint8_t c)
{
	struct guard *g = f->g;
	if (g->due > 0 && may_follow(g, c)) {
		g->character[g->have++] = c;
		if (g->have < g->due)
			return;
		take_character(f);
		g->due = 0;
		return;
	}
	g->due = 0;
	if (c < 0x80) {
		take_ascii(f, c);
	} else {
		memset(g->character, 0, sizeof g->character);
		g->character[0] = c;
		g->have = 1;
		g->due = announced(c);
	}
}

size_t guard_take(struct guard *g, const char *bytes, size_t length, char *dst)
{
	struct feed f = {.g = g, .dst = dst};
	const char *end = bytes + length;
	while (bytes < end) {
		const char *p = bytes;
		if (g->state == GUARD_GROUND && g->due == 0)
			while (p < end && *p >= ' ' && *p < 0x7f)
				p++;
		put(&f, bytes, (size_t)(p - bytes));
		bytes = p;
		if (p < end)
			take_byte(&f, (uint8_t)*bytes++);
	}
	return f.length;
}

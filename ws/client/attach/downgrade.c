/*
 * A sequence is held until it is complete, then passed in whole or in part. The Linux console (vt.c
 * up to 5.7) ends a control sequence at a prefix such as > or an intermediate, and prints the rest.
 * GNU screen prints the bytes of a string behind the first 768.
 */
#include "ws/client/attach/downgrade.h"

#include "ws/client/attach/palette.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESC 0x1b
#define BEL 0x07
#define TITLE_MAX 255u
#define REPEAT_MAX 1000u
#define ITEM_MAX 16u /* numbers of one item of SGR */

/* A kind of terminal. */
struct downgrade_kind {
	const char *name;   /* TERM, or its beginning */
	bool all;           /* match all TERMs that begin so */
	unsigned colours;   /* 0, 8, 256 */
	bool sequences;     /* supports sequences at all */
	bool alternate;     /* has an alternate screen (smcup) */
	bool titles;        /* supports titles, and no other strings */
	bool italic;        /* SGR 3 is italic */
	bool more_charsets; /* has G2 and G3 */
};

static const struct downgrade_kind kinds[] = {
	{.name = "dumb", .all = true},
	{.name = "unknown"},
	{.name = "linux", .all = true, .colours = 8, .sequences = true, .italic = true},
	{.name = "screen-256color",
		.all = true,
		.colours = 256,
		.sequences = true,
		.alternate = true,
		.titles = true,
		.more_charsets = true},
	{.name = "screen.",
		.all = true,
		.colours = 256,
		.sequences = true,
		.alternate = true,
		.titles = true,
		.more_charsets = true},
	{.name = "screen",
		.all = true,
		.colours = 8,
		.sequences = true,
		.alternate = true,
		.titles = true,
		.more_charsets = true},
	{.name = "vt100", .all = true, .sequences = true, .italic = true},
	{.name = "vt102", .all = true, .sequences = true, .italic = true},
	{.name = "vt220", .all = true, .sequences = true, .italic = true, .more_charsets = true},
	{.name = "vt320", .all = true, .sequences = true, .italic = true, .more_charsets = true},
	{.name = "vt420", .all = true, .sequences = true, .italic = true, .more_charsets = true},
	{.name = "vt520", .all = true, .sequences = true, .italic = true, .more_charsets = true},
	{.name = "ansi", .all = true, .colours = 8, .sequences = true, .italic = true},
	{.name = "cons25", .all = true, .colours = 8, .sequences = true, .italic = true},
};

static bool is_kind(const struct downgrade_kind *kind, const char *term)
{
	return kind->all ? strncmp(term, kind->name, strlen(kind->name)) == 0
			 : strcmp(term, kind->name) == 0;
}

void downgrade_init(struct downgrade *m, const char *term,
	bool (*put)(void *user, const void *bytes, size_t length), void *user)
{
	*m = (struct downgrade){.put = put, .user = user};
	for (size_t i = 0; term && !m->kind && i < sizeof kinds / sizeof *kinds; i++)
		if (is_kind(&kinds[i], term))
			m->kind = &kinds[i];
}

static void flush(struct downgrade *m)
{
	if (m->out_length > 0 && !m->failed)
		m->failed = !m->put(m->user, m->out, m->out_length);
	m->out_length = 0;
}

static void put(struct downgrade *m, const void *bytes, size_t length)
{
	for (const char *p = bytes; length > 0;) {
		if (m->out_length == sizeof m->out)
			flush(m);
		size_t space = sizeof m->out - m->out_length, n = length < space ? length : space;
		memcpy(m->out + m->out_length, p, n);
		m->out_length += n;
		p += n;
		length -= n;
	}
}

/* Write a piece of a sequence. */
static void put_sequence(struct downgrade *m, const void *bytes, size_t length)
{
	if (m->kind->sequences)
		put(m, bytes, length);
}

/* A reduced SGR. */
struct sgr {
	char text[2 * DOWNGRADE_HELD_MAX];
	size_t length;
};

static void add(struct sgr *s, unsigned number)
{
	if (s->length + 12 < sizeof s->text)
		s->length += (size_t)snprintf(s->text + s->length, sizeof s->text - s->length,
			s->length > 0 ? ";%u" : "%u", number);
}

/* Add a colour of xterm's palette; base 30: foreground, 40: background. */
static void add_colour(struct downgrade *m, struct sgr *s, unsigned base, unsigned index)
{
	unsigned colours = m->kind->colours;
	bool bright = index >= 8 && base == 30;
	if (colours == 0)
		return;
	if (colours > 8) {
		if (index < 16) {
			add(s, (index < 8 ? base : base + 52) + index);
			return;
		}
		add(s, base + 8);
		add(s, 5);
		add(s, index);
		return;
	}
	if (base == 30 && m->lent && !bright) {
		add(s, 22);
		if (m->dim)
			add(s, 2);
		m->lent = false;
	}
	if (bright && !m->bold && !m->lent) {
		add(s, 1);
		m->lent = true;
	}
	add(s, base + index % 8);
}

static void add_rgb(struct downgrade *m, struct sgr *s, unsigned base, uint32_t rgb)
{
	add_colour(m, s, base,
		m->kind->colours > 8 ? palette_nearest_256(rgb) : palette_nearest_16(rgb));
}

/* Add 5;N or 2;R;G;B; with colons a colour space may stand before R. */
static void add_extended(
	struct downgrade *m, struct sgr *s, unsigned base, const unsigned *n, size_t count)
{
	if (count >= 2 && n[0] == 5 && n[1] < 256) {
		if (n[1] >= 16 && m->kind->colours == 8)
			add_rgb(m, s, base, palette_colour(n[1]));
		else
			add_colour(m, s, base, n[1]);
	} else if (count >= 4 && n[0] == 2) {
		const unsigned *c = n + (count >= 5 ? 2 : 1);
		if (c[0] < 256 && c[1] < 256 && c[2] < 256)
			add_rgb(m, s, base, c[0] << 16 | c[1] << 8 | c[2]);
	}
}

static void add_default(struct downgrade *m, struct sgr *s, unsigned number)
{
	if (m->kind->colours == 0)
		return;
	if (number == 39 && m->lent) {
		add(s, 22);
		if (m->dim)
			add(s, 2);
		m->lent = false;
	}
	add(s, number);
}

static void add_weight(struct downgrade *m, struct sgr *s, unsigned number)
{
	add(s, number);
	if (number == 22 && m->lent)
		add(s, 1);
	m->bold = number == 1 || (number == 2 && m->bold);
	m->dim = number == 2 || (number == 1 && m->dim);
	if (number == 1)
		m->lent = false;
}

/* Add a single number. */
static void add_plain(struct downgrade *m, struct sgr *s, unsigned n)
{
	if (n == 0) {
		add(s, 0);
		m->bold = m->dim = m->lent = false;
	} else if (n == 1 || n == 2 || n == 22) {
		add_weight(m, s, n);
	} else if (n == 39 || n == 49) {
		add_default(m, s, n);
	} else if (n >= 30 && n < 50) {
		add_colour(m, s, n < 40 ? 30 : 40, n % 10);
	} else if ((n >= 90 && n < 98) || (n >= 100 && n < 108)) {
		add_colour(m, s, n < 98 ? 30 : 40, n % 10 + 8);
	} else if (n < 30 && ((n != 3 && n != 23) || m->kind->italic)) {
		add(s, n);
	}
}

/*
 * Parse numbers with colons between them, and advance *at behind the separator. Returns how many.
 */
static size_t parse_item(const char *text, size_t *at, unsigned n[ITEM_MAX], bool *ret_last)
{
	size_t count = 1;
	n[0] = 0;
	for (;; ++*at) {
		char c = text[*at];
		if (c == ':' && count < ITEM_MAX)
			n[count++] = 0;
		else if (c >= '0' && c <= '9' && n[count - 1] < 100000)
			n[count - 1] = n[count - 1] * 10 + (unsigned)(c - '0');
		else if (c == ';' || c == '\0')
			break;
	}
	*ret_last = text[*at] == '\0';
	*at += *ret_last ? 0 : 1;
	return count;
}

/* Parse the rest of a colour with semicolons. */
static size_t parse_rest(const char *text, size_t *at, unsigned n[ITEM_MAX], bool *last)
{
	size_t count = 0, due = 1;
	unsigned item[ITEM_MAX];
	while (count < due && !*last) {
		parse_item(text, at, item, last);
		n[count++] = item[0];
		if (count == 1)
			due = item[0] == 2 ? 4 : 2;
	}
	return count;
}

static void write_sgr(struct downgrade *m)
{
	struct sgr s = {.length = 0};
	unsigned n[ITEM_MAX];
	bool last = false;
	for (size_t at = 0; !last;) {
		size_t count = parse_item(m->held, &at, n, &last);
		unsigned what = n[0];
		bool extended = what == 38 || what == 48 || what == 58;
		if (!extended && count == 1) {
			add_plain(m, &s, what);
			continue;
		}
		if (!extended) {
			if (what == 4)
				add(&s, n[1] == 0 ? 24 : 4);
			continue;
		}
		count = count > 1 ? count - 1 : 0;
		memmove(n, n + 1, count * sizeof *n);
		if (count == 0)
			count = parse_rest(m->held, &at, n, &last);
		if (what != 58)
			add_extended(m, &s, what - 8, n, count);
	}
	if (s.length == 0)
		return;
	put_sequence(m, "\033[", 2);
	put_sequence(m, s.text, s.length);
	put_sequence(m, "m", 1);
}

static bool is_alternate(unsigned mode)
{
	return mode == 47 || mode == 1047 || mode == 1049;
}

/* Pass modes; without an alternate screen, clear the screen instead of switching. */
static void write_modes(struct downgrade *m, char final)
{
	char *text = m->held + 1, *rest;
	bool cleared = false;
	for (;; text = rest + 1) {
		unsigned mode = (unsigned)strtoul(text, &rest, 10);
		char one[32];
		if (!m->kind->alternate && is_alternate(mode))
			cleared = final == 'h';
		else if (rest > text)
			put_sequence(m, one,
				(size_t)snprintf(one, sizeof one, "\033[?%u%c", mode, final));
		if (*rest != ';')
			break;
	}
	if (cleared)
		put_sequence(m, "\033[2J", 4);
}

static void write_repeat(struct downgrade *m)
{
	unsigned long times = strtoul(m->held, NULL, 10);
	times = times == 0 ? 1 : times > REPEAT_MAX ? REPEAT_MAX : times;
	for (unsigned long i = 0; m->last_due == 0 && m->last_length > 0 && i < times; i++)
		put(m, m->last, m->last_length);
}

static void end_csi(struct downgrade *m, char final)
{
	m->held[m->length] = '\0';
	m->state = DOWNGRADE_TEXT;
	bool private = m->held[0] == '?';
	if (m->refused || m->held[strspn(m->held + private, "0123456789;:") + private] != '\0')
		return;
	if (final == 'm' && !private) {
		write_sgr(m);
	} else if (private && (final == 'h' || final == 'l')) {
		write_modes(m, final);
	} else if (final == 'b' && !private) {
		write_repeat(m);
		return;
	} else if (!strchr(m->held, ':')) {
		put_sequence(m, "\033[", 2);
		put_sequence(m, m->held, m->length);
		put_sequence(m, &final, 1);
	}
	m->last_length = 0;
}

static void end_string(struct downgrade *m)
{
	bool title = m->length > 2 && m->length <= TITLE_MAX && m->held[0] >= '0' &&
		m->held[0] <= '2' && m->held[1] == ';';
	m->state = DOWNGRADE_TEXT;
	if (m->refused || !title || !m->kind->titles)
		return;
	put_sequence(m, "\033]", 2);
	put_sequence(m, m->held, m->length);
	put_sequence(m, "\033\\", 2);
}

static void end_escape(struct downgrade *m, char final)
{
	char first = m->length > 0 ? m->held[0] : final;
	m->state = DOWNGRADE_TEXT;
	m->last_length = 0;
	if (m->refused || (!m->kind->more_charsets && strchr("*+-./no|}~", first)))
		return;
	put_sequence(m, "\033", 1);
	put_sequence(m, m->held, m->length);
	put_sequence(m, &final, 1);
}

static void begin(struct downgrade *m, enum downgrade_state state)
{
	m->state = state;
	m->length = 0;
	m->refused = false;
}

static void hold(struct downgrade *m, char c)
{
	if (m->length < DOWNGRADE_HELD_MAX)
		m->held[m->length++] = c;
	else
		m->refused = true;
}

static void parse_escape(struct downgrade *m, char c)
{
	if (c == '[')
		begin(m, DOWNGRADE_CSI);
	else if (c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_')
		begin(m, DOWNGRADE_STRING);
	else if (c >= ' ' && c < '0')
		hold(m, c);
	else if (c != '\\')
		end_escape(m, c);
	else
		m->state = DOWNGRADE_TEXT;
}

/* Remember the character that REP would repeat. */
static void remember(struct downgrade *m, uint8_t c)
{
	if (c >= 0x80 && c < 0xc0) {
		if (m->last_due > 0) {
			m->last[m->last_length++] = (char)c;
			m->last_due--;
		}
		return;
	}
	m->last_due = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
	m->last[0] = (char)c;
	m->last_length = c >= ' ' ? 1 : 0;
}

static void parse_text(struct downgrade *m, uint8_t c)
{
	if (c == ESC) {
		begin(m, DOWNGRADE_ESCAPE);
		return;
	}
	remember(m, c);
	if (m->kind->sequences || (c != 0x0e && c != 0x0f)) /* SO, SI */
		put(m, &c, 1);
}

static void parse_byte(struct downgrade *m, uint8_t c)
{
	if (c == 0x18 || c == 0x1a) { /* CAN, SUB */
		m->state = DOWNGRADE_TEXT;
		put_sequence(m, &c, 1);
	} else if (m->state == DOWNGRADE_TEXT) {
		parse_text(m, c);
	} else if (m->state == DOWNGRADE_STRING_END) {
		end_string(m);
		if (c != '\\') {
			begin(m, DOWNGRADE_ESCAPE);
			parse_byte(m, c);
		}
	} else if (m->state == DOWNGRADE_STRING) {
		if (c == ESC)
			m->state = DOWNGRADE_STRING_END;
		else if (c == BEL)
			end_string(m);
		else
			hold(m, (char)c);
	} else if (c == ESC) {
		begin(m, DOWNGRADE_ESCAPE);
	} else if (c < 0x20) {
		parse_text(m, c); /* controls inside of sequences act at once */
	} else if (m->state == DOWNGRADE_ESCAPE) {
		parse_escape(m, (char)c);
	} else if (c >= 0x40) {
		end_csi(m, (char)c);
	} else {
		hold(m, (char)c);
	}
}

bool downgrade_write(struct downgrade *m, const void *bytes, size_t length)
{
	const uint8_t *at = bytes, *end = at + length;
	if (!m->kind)
		return m->put(m->user, bytes, length);
	while (at < end && !m->failed) {
		const uint8_t *p = at;
		while (m->state == DOWNGRADE_TEXT && p < end && *p >= ' ' && *p < 0x7f)
			p++;
		if (p > at) {
			remember(m, p[-1]);
			put(m, at, (size_t)(p - at));
			at = p;
		} else {
			parse_byte(m, *at++);
		}
	}
	flush(m);
	return !m->failed;
}

/*
 * A sequence is held until it is complete. Strings and escapes pass if they are listed here;
 * control sequences pass unless they are known to do more than drawing.
 */
#include "ws/client/attach/guard.h"

#include "ring/asks.h"
#include "ring/utf8.h"

#include <string.h>

#define BEL 0x07
#define SI 0x0f
#define CAN 0x18
#define DEL 0x7f
#define ST "\033\\"
#define ESCAPE_MAX 4u     /* intermediates of an escape */
#define CSI_MAX 1000u     /* the server blanks longer ones */
#define SELECTION_MAX 24u /* of an OSC 52, up to its data */
#define NUMBER_MAX 100000u

/* Output of one call. */
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

static void begin(struct guard *g)
{
	g->length = 0;
	g->refused = g->copying = false;
}

static void hold(struct guard *g, uint8_t c, size_t most)
{
	if (g->length < most)
		g->held[g->length++] = (char)c;
	else
		g->refused = true;
}

/* Parse the number at s[*at] and advance *at. */
static unsigned parse_number(const char *s, size_t length, size_t *at)
{
	unsigned n = 0;
	for (; *at < length && s[*at] >= '0' && s[*at] <= '9'; ++*at)
		n = n < NUMBER_MAX ? n * 10 + (unsigned)(s[*at] - '0') : n;
	return n;
}

/* A complete control sequence. */
struct csi {
	uint8_t prefix, inter; /* 0: none; of several intermediates the last */
	const char *params;
	size_t params_length;
	uint8_t final;
};

static struct csi parse_csi(const struct guard *g)
{
	const struct tokenizer *t = &g->tokenizer;
	size_t at = t->prefix ? 1 : 0, end = at;
	while (end < g->length && g->held[end] >= '0')
		end++;
	return (struct csi){.prefix = t->prefix,
		.inter = t->intermediate,
		.params = g->held + at,
		.params_length = end - at,
		.final = (uint8_t)t->code};
}

static unsigned first_number(const struct csi *c)
{
	size_t at = 0;
	return parse_number(c->params, c->params_length, &at);
}

static bool has_mode(const struct csi *c, const unsigned *modes, size_t count)
{
	for (size_t at = 0; at < c->params_length; at++) {
		unsigned mode = parse_number(c->params, c->params_length, &at);
		for (size_t i = 0; i < count; i++)
			if (modes[i] == mode)
				return true;
	}
	return false;
}

/*
 * Refuse modes that lock the terminal or its keyboard, change its window, write files, or send
 * reports.
 */
static bool may_set(const struct csi *c)
{
	/* KAM, SRM */
	static const unsigned ansi[] = {2, 12};
	/*
	 * VT52; Tektronix; 132 columns; log; mouse highlighting; reports of sizes, pastes and keys
	 */
	static const unsigned private[] = {2, 38, 40, 46, 1001, 2048, 5522, 9001};
	return c->prefix == '?' ? !has_mode(c, private, sizeof private / sizeof *private)
				: !has_mode(c, ansi, sizeof ansi / sizeof *ansi);
}

/* Of XTWINOPS allow only the stack of titles. */
static bool may_window(const struct csi *c)
{
	unsigned operation = first_number(c);
	return c->prefix == 0 && c->inter == 0 && (operation == 22 || operation == 23);
}

/*
 * Queries are refused before. A terminal may ignore a prefix or intermediate that it does not
 * support.
 */
static bool may_csi(const struct csi *c)
{
	switch (c->final) {
	case 'h':
	case 'l':
		return may_set(c);
	case 't':
		return may_window(c);
	case 'i': /* printing */
	case '[': /* Linux console: switching, blanking */
	case ']':
	case '|': /* DECSLPP, DECSCPP */
	case 'y': /* hardware tests */
		return false;
	case 'c':
		return c->prefix == '?';
	case 'n':
		return c->prefix == '>';
	case 'x':
		return c->inter == '$' || c->inter == '*';
	case 'p': /* DECSCL changes how sequences are parsed */
		return c->inter != '"';
	case 'u':
	case 'w': /* DECEFR */
		return c->inter == 0;
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
	unsigned number = parse_number(g->held, g->length, &at);
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

/* A string, or a sequence that was cut off, is over. before: its state. */
static void end_string(struct feed *f, enum tokenizer_state before)
{
	struct guard *g = f->g;
	const char can = CAN;
	bool terminated = g->tokenizer.end == TOKENIZER_TERMINATED;
	if (g->copying) {
		put(f, terminated ? ST : &can, terminated ? 2 : 1);
	} else if (terminated && before == TOKENIZER_OSC && !g->refused && may_osc(g)) {
		put(f, "\033]", 2);
		put(f, g->held, g->length);
		put(f, ST, 2);
	}
	begin(g);
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
	begin(g);
}

static void end_csi(struct feed *f)
{
	struct guard *g = f->g;
	struct csi csi = parse_csi(g);
	if (!g->refused && !asks_csi(&g->tokenizer, first_number(&csi)) && may_csi(&csi)) {
		put(f, "\033[", 2);
		put(f, g->held, g->length);
		put(f, &csi.final, 1);
	}
	begin(g);
}

static bool is_base64(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		c == '+' || c == '/' || c == '=';
}

/* Whether the held bytes are an OSC 52 up to its data: 52 ; selections ; */
static bool is_before_data(const struct guard *g)
{
	size_t at = 0;
	if (g->length > SELECTION_MAX || parse_number(g->held, g->length, &at) != 52 ||
		at + 1 >= g->length || g->held[at++] != ';')
		return false;
	while (at + 1 < g->length && strchr("cpqs01234567", g->held[at]))
		at++;
	return at + 1 == g->length && g->held[at] == ';';
}

/* A character of an OSC. */
static void feed_osc(struct feed *f, uint32_t code)
{
	struct guard *g = f->g;
	uint8_t bytes[UTF8_MAX];
	unsigned size = utf8_encode(code, bytes);
	bool base64 = code < 0x80 && is_base64(bytes[0]);
	if (g->copying) {
		put(f, bytes, base64 ? 1 : 0);
	} else if (g->clipboard && !g->refused && base64 && is_before_data(g)) {
		put(f, "\033]", 2);
		put(f, g->held, g->length);
		put(f, bytes, 1);
		g->copying = true;
	} else {
		for (unsigned i = 0; i < size && code != DEL; i++)
			hold(g, bytes[i], GUARD_HELD_MAX);
	}
}

static void on_control(struct feed *f, uint32_t code)
{
	uint8_t c = (uint8_t)code;
	if (code >= 0x80)
		end_escape(f, (uint8_t)(c - 0x40)); /* C1 is the same as ESC and a character */
	else if (code >= BEL && code <= SI)
		put(f, &c, 1);
}

static void on_token(struct feed *f, enum token token)
{
	struct guard *g = f->g;
	uint32_t code = g->tokenizer.code;
	uint8_t bytes[UTF8_MAX];
	switch (token) {
	case TOKEN_PRINT:
		put(f, bytes, utf8_encode(code, bytes));
		break;
	case TOKEN_CONTROL:
		on_control(f, code);
		break;
	case TOKEN_COLLECT:
	case TOKEN_PARAM:
		hold(g, (uint8_t)code,
			g->tokenizer.state == TOKENIZER_ESCAPE_INTERMEDIATE ? ESCAPE_MAX : CSI_MAX);
		break;
	case TOKEN_ESCAPE:
		end_escape(f, (uint8_t)code);
		break;
	case TOKEN_CSI:
		end_csi(f);
		break;
	case TOKEN_PUT:
		if (g->tokenizer.state == TOKENIZER_OSC)
			feed_osc(f, code);
		break;
	case TOKEN_BEGIN:
	case TOKEN_EXTEND:
	case TOKEN_CSI_OVER:
	case TOKEN_DCS:
		begin(g);
		break;
	case TOKEN_NONE:
	case TOKEN_MALFORMED:
		break;
	}
}

static void feed_byte(struct feed *f, uint8_t byte)
{
	struct tokenizer *t = &f->g->tokenizer;
	enum tokenizer_state before = t->state;
	enum token token = tokenizer_feed(t, byte);
	if (t->end != TOKENIZER_GOES_ON)
		end_string(f, before);
	on_token(f, token);
}

size_t guard_filter(struct guard *g, const char *bytes, size_t length, char *dst)
{
	struct feed f = {.g = g, .dst = dst};
	const char *end = bytes + length;
	while (bytes < end) {
		const char *p = bytes;
		if (tokenizer_is_ground(&g->tokenizer))
			while (p < end && *p >= ' ' && *p < DEL)
				p++;
		put(&f, bytes, (size_t)(p - bytes));
		bytes = p;
		if (p < end)
			feed_byte(&f, (uint8_t)*bytes++);
	}
	return f.length;
}

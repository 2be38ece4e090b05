/*
 * The state machine of vt100.net/emu/dec_ansi_parser in the dialect of xterm.js. Plain text is
 * skipped by a table; everything else takes one switch a byte.
 *
 * A sequence that could be a query is held: `settled` stays at its start until it is judged. Held
 * sequences are bounded; one that grows past its bound is reported as a muted query piece by piece,
 * for otherwise a client's terminal could answer what we did not see to its end.
 */
#include "ring/scan.h"

#include "ring/asks.h"
#include "ring/inert.h"
#include "ring/utf8.h"

#define ESC 0x1b
#define BEL 0x07
#define ENQ 0x05
#define CAN 0x18
#define SUB 0x1a
#define OSC_MARK 133u /* semantic prompts */

struct feed {
	struct scan *s;
	scan_query_cb cb;
	void *user;
};

void scan_init(struct scan *s, uint64_t offset)
{
	*s = (struct scan){.offset = offset, .settled = offset, .ground = offset, .start = offset};
}

void scan_skip(struct scan *s, uint64_t offset, uint64_t settled)
{
	scan_init(s, settled);
	s->offset = offset;
}

bool scan_is_whole(const struct scan *s)
{
	return s->state == SCAN_GROUND && s->utf8_left == 0;
}

/* Report [start, end) as a query. */
static void report_query(struct feed *f, uint64_t start, uint64_t end, bool string, bool muted)
{
	if (end <= start)
		return;
	f->cb(f->user,
		&(struct scan_query){.start = start,
			.length = (uint32_t)(end - start),
			.string = string,
			.muted = muted,
			.ends = f->s->ends && start == f->s->start});
}

/* Enter a state; at is the offset of the sequence's first byte. */
static void begin_state(struct scan *s, enum scan_state state, uint64_t at, bool hold)
{
	if (s->state == SCAN_GROUND)
		s->ground = at;
	/* An escape that is hidden already stays so when it turns out to begin a longer sequence. */
	s->muted = s->muted && s->state == SCAN_ESCAPE && state != SCAN_ESCAPE;
	/* Growing out of an escape ends nothing; anything else that begins before another was over does. */
	if (s->state != SCAN_ESCAPE || state == SCAN_ESCAPE || at != s->start)
		s->ends = s->state != SCAN_GROUND;
	s->state = state;
	s->start = at;
	s->hold = hold;
	s->asks = s->judged = s->begun = false;
	s->prefix = s->inter = s->named = 0;
	s->names = ASKS_NAMES;
	s->number = s->params = 0;
}

/* SOS, PM, APC */
static void begin_string(struct scan *s, uint64_t at)
{
	begin_state(s, SCAN_STRING, at, true);
	s->asks = true;
}

/* Whether the state is inside a string, which swallows C0 controls. */
static bool in_string(const struct scan *s)
{
	return s->state >= SCAN_OSC;
}

static void to_ground(struct scan *s)
{
	s->state = SCAN_GROUND;
	s->hold = s->muted = s->ends = false;
}

/* A string is over at `end`. */
static void judge_string(struct feed *f, uint64_t end)
{
	struct scan *s = f->s;
	if (s->muted)
		report_query(f, s->start, end, true, true);
	else if (s->hold && s->asks)
		report_query(f, s->start, end, true, false);
}

/* A string has been terminated. */
static void end_string(struct feed *f, uint64_t end)
{
	judge_string(f, end);
	to_ground(f->s);
}

static void execute_c1(struct feed *f, uint8_t c, uint64_t at)
{
	struct scan *s = f->s;
	bool string = in_string(s), ends = s->state != SCAN_GROUND;
	if (string && c == 0x9c) {
		end_string(f, at + 2);
		return;
	}
	if (string)
		judge_string(f, at);
	else if (s->muted)
		report_query(f, s->start, at, false, true);
	switch (c) {
	case 0x90:
		begin_state(s, SCAN_DCS_HEADER, at, true);
		break;
	case 0x98:
	case 0x9e:
	case 0x9f:
		begin_string(s, at);
		break;
	case 0x9a: /* DECID */
		s->start = at;
		s->ends = ends;
		report_query(f, at, at + 2, false, false);
		to_ground(s);
		break;
	case 0x9b:
		begin_state(s, SCAN_CSI, at, true);
		break;
	case 0x9d:
		begin_state(s, SCAN_OSC, at, true);
		break;
	default:
		to_ground(s);
	}
	if (s->state != SCAN_GROUND)
		s->ends = ends;
}

static void feed_escape(struct feed *f, uint8_t c)
{
	struct scan *s = f->s;
	/* Controls acted until now; in a string they would not. */
	if (s->muted && (c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_')) {
		report_query(f, s->start, s->offset, false, true);
		s->start = s->offset;
		s->ends = false;
	}
	uint64_t at = s->start;
	switch (c) {
	case '[':
		begin_state(s, SCAN_CSI, at, true);
		break;
	case ']':
		begin_state(s, SCAN_OSC, at, true);
		break;
	case 'P':
		begin_state(s, SCAN_DCS_HEADER, at, true);
		break;
	case 'X':
	case '^':
	case '_':
		begin_string(s, at);
		break;
	case 'Z': /* DECID */
		report_query(f, at, s->offset + 1, false, s->muted);
		to_ground(s);
		break;
	default:
		if (s->muted)
			report_query(f, at, s->offset + 1, false, true);
		s->hold = s->muted = false; /* no other escape sequence asks anything */
		s->state = c <= 0x2f ? SCAN_ESCAPE_INTERMEDIATE : SCAN_GROUND;
	}
}

/* Take the first parameter's digits; later ones do not decide what a sequence is. */
static void take_digit(struct scan *s, uint8_t c)
{
	if (s->params == 0 && s->number < 100000)
		s->number = s->number * 10 + (uint32_t)(c - '0');
}

/*
 * Take a byte of 20 to 3F of a CSI or the header of a DCS. Returns false when it is out of place: one of
 * < = > ? comes first of all or not at all, and behind an intermediate no parameter follows.
 */
static bool take_header(struct scan *s, uint8_t c)
{
	if (c < 0x30) {
		s->inter = c;
		return true;
	}
	if (s->inter != 0 || (s->begun && c >= '<'))
		return false;
	s->begun = true;
	if (c >= '<')
		s->prefix = c;
	else if (c == ';' || c == ':')
		s->params++;
	else
		take_digit(s, c);
	return true;
}

/* The final byte of a CSI. */
static void end_csi(struct feed *f, bool query)
{
	struct scan *s = f->s;
	if (s->muted || query)
		report_query(f, s->start, s->offset + 1, false, s->muted);
	to_ground(s);
}

static void feed_csi(struct feed *f, uint8_t c)
{
	struct scan *s = f->s;
	if (c >= 0x40) {
		end_csi(f, asks_csi(s, c));
	} else if (!take_header(s, c)) {
		s->state = SCAN_CSI_IGNORE;
		s->hold = false;
	}
}

static void feed_osc(struct scan *s, uint8_t c)
{
	if (!s->judged) {
		if (c >= '0' && c <= '9') {
			take_digit(s, c);
			return;
		}
		s->judged = true;
		s->hold = c == ';' && (asks_osc(s->number) || s->number == OSC_MARK);
		s->asks = s->hold && asks_osc_always(s->number);
		return;
	}
	if (s->number == ASKS_OSC_NAMED) {
		s->asks = s->asks || (s->names != 0 && asks_name(&s->names, s->named++, c));
		s->hold = s->asks || (s->hold && s->names != 0);
	} else if (c == ';')
		s->params++;
	else if (c == '?' && s->number != OSC_MARK)
		s->asks = true;
	else if (s->number == 52 && s->params > 0 && !s->asks)
		s->hold = false; /* it sets the clipboard: data has begun */
}

static void feed_dcs_header(struct scan *s, uint8_t c)
{
	if (c >= 0x40) {
		s->state = SCAN_DCS;
		/* DECRQSS and XTGETTCAP */
		s->hold = s->asks = (s->inter == '$' || s->inter == '+') && (c == 'q' || c == 'Q');
	} else if (!take_header(s, c)) {
		s->state = SCAN_DCS; /* it is ignored, to the same end */
		s->hold = false;
	}
}

/* The end of what certainly belongs to what came before: not an ESC or a character that has just begun. */
static uint64_t whole_end(const struct scan *s)
{
	return s->state == SCAN_STRING_END ? s->esc : s->utf8_left > 0 ? s->lead : s->offset;
}

/* Hide what has been seen of a sequence that is too long, and go on hiding. */
static void mute_sequence(struct feed *f)
{
	struct scan *s = f->s;
	uint64_t end = whole_end(s);
	report_query(f, s->start, end, in_string(s), true);
	if (end > s->start) {
		s->start = end;
		s->ends = false; /* only the first piece has the introducer */
	}
	s->muted = true;
}

/* The string before is over; the ESC that was waited on begins a sequence of its own. */
static void begin_after_string(struct feed *f)
{
	struct scan *s = f->s;
	judge_string(f, s->esc);
	begin_state(s, SCAN_ESCAPE, s->esc, true);
}

/* Do not wait for ever: hide a sequence that has outgrown its bound. */
static void bound_sequence(struct feed *f)
{
	struct scan *s = f->s;
	if (s->state == SCAN_STRING_END && s->offset - s->esc >= SCAN_SEQUENCE_MAX)
		begin_after_string(f);
	if ((s->hold || s->muted) &&
		s->offset - s->start >= (in_string(s) ? SCAN_STRING_MAX : SCAN_SEQUENCE_MAX))
		mute_sequence(f);
}

/* ESC, wherever it comes. */
static void feed_esc(struct feed *f)
{
	struct scan *s = f->s;
	switch (s->state) {
	case SCAN_OSC:
	case SCAN_DCS:
	case SCAN_DCS_HEADER:
	case SCAN_STRING:
		s->state = SCAN_STRING_END;
		s->esc = s->offset;
		break;
	default:
		if (s->muted)
			report_query(f, s->start, s->offset, false, true);
		begin_state(s, SCAN_ESCAPE, s->offset, true);
	}
}

/*
 * CAN, SUB and characters where none may be abort whatever is going on, and it has no effect: but on terminals to which
 * an APC is one up to its ST. Of the character, which is not printed either, only its last byte is left.
 */
static void feed_abort(struct feed *f)
{
	struct scan *s = f->s;
	if (s->muted || s->state == SCAN_STRING)
		report_query(f, s->start, s->offset, in_string(s), s->muted);
	to_ground(s);
}

/* C0 controls act at once, whatever surrounds them, but for strings, which ignore them. */
static void feed_c0(struct feed *f, uint8_t c)
{
	struct scan *s = f->s;
	if (c == ESC)
		feed_esc(f);
	else if (c == CAN || c == SUB)
		feed_abort(f);
	else if (c == BEL && s->state == SCAN_OSC)
		end_string(f, s->offset + 1);
	else if (c == ENQ && !in_string(s))
		report_query(f, s->offset, s->offset + 1, true, false);
}

static void feed_ascii(struct feed *f, uint8_t c)
{
	struct scan *s = f->s;
	if (s->state == SCAN_STRING_END) {
		if (c == '\\') {
			end_string(f, s->offset + 1);
			return;
		}
		begin_after_string(f);
	}
	if (c < 0x20) {
		feed_c0(f, c);
		return;
	}
	if (c == 0x7f && s->state != SCAN_OSC)
		return;
	switch (s->state) {
	case SCAN_OSC:
		feed_osc(s, c);
		break;
	case SCAN_ESCAPE:
		feed_escape(f, c);
		break;
	case SCAN_ESCAPE_INTERMEDIATE:
		if (c >= 0x30)
			to_ground(s);
		break;
	case SCAN_CSI:
		feed_csi(f, c);
		break;
	case SCAN_CSI_IGNORE:
		if (c >= 0x40)
			end_csi(f, false);
		break;
	case SCAN_DCS_HEADER:
		feed_dcs_header(s, c);
		break;
	default:
		break;
	}
}

/* Whether a character that is no control may come in this state; otherwise it ends what it comes in. */
static bool takes_characters(const struct scan *s)
{
	return s->state == SCAN_GROUND || s->state == SCAN_CSI_IGNORE || s->state == SCAN_OSC ||
		s->state == SCAN_DCS;
}

/* A whole character of two or more bytes, as the decoder of xterm.js accepts them. */
static void feed_character(struct feed *f)
{
	struct scan *s = f->s;
	if (!utf8_is_character(s->code, s->utf8_size) || s->code == 0xfeff)
		return; /* dropped by the decoder: it never reaches the parser */
	if (s->state == SCAN_STRING_END)
		begin_after_string(f);
	if (s->code < 0xa0)
		execute_c1(f, (uint8_t)s->code, s->lead);
	else if (!takes_characters(s))
		feed_abort(f);
}

static void feed_high(struct feed *f, uint8_t c)
{
	struct scan *s = f->s;
	if (c >= 0xc0) {
		s->utf8_size = c >= 0xf8 ? 1 : (uint8_t)utf8_announced(c);
		s->utf8_left = (uint8_t)(s->utf8_size - 1);
		s->code = c & (0x7fu >> s->utf8_size);
		s->lead = s->offset;
	} else if (s->utf8_left > 0) {
		s->code = s->code << 6 | (c & 0x3f);
		if (--s->utf8_left == 0)
			feed_character(f);
	}
}

/* Say how far the bytes fed so far may be shown, and where they may be cut. */
static void settle_bytes(struct feed *f)
{
	struct scan *s = f->s;
	if (s->muted)
		mute_sequence(f);
	if (s->state == SCAN_GROUND)
		s->ground = whole_end(s);
	s->settled = s->hold && !s->muted ? s->start : whole_end(s);
}

void scan_feed(struct scan *s, const uint8_t *data, size_t length, scan_query_cb cb, void *user)
{
	struct feed f = {.s = s, .cb = cb, .user = user};
	const uint8_t *p = data, *end = data + length;
	while (p < end) {
		if (s->state == SCAN_GROUND && s->utf8_left == 0) {
			const uint8_t *q = inert_skip(p, end);
			s->offset += (uint64_t)(q - p);
			p = q;
			if (p == end)
				break;
		}
		uint8_t c = *p++;
		if (c >= 0x80) {
			feed_high(&f, c);
		} else {
			s->utf8_left = 0;
			feed_ascii(&f, c);
		}
		s->offset++;
		bound_sequence(&f);
	}
	settle_bytes(&f);
}

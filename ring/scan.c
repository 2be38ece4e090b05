/*
 * Plain text is skipped by a table; the tokenizer gets the rest.
 *
 * A sequence that could be a query is held: `settled` stays at its start until it is judged. Held sequences are bounded: one
 * that grows past its bound is reported as a muted query, piece by piece, since a client's terminal could answer it.
 */
#include "ring/scan.h"

#include "ring/asks.h"
#include "ring/inert.h"

#define ENQ 0x05
#define CAN 0x18
#define SUB 0x1a
#define DECID 0x9a
#define OSC_MARK 133u /* semantic prompts */

struct feed {
	struct scan *s;
	scan_query_cb cb;
	void *user;
	enum tokenizer_state before; /* the tokenizer's, before the current byte */
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

bool scan_is_ground(const struct scan *s)
{
	return tokenizer_is_ground(&s->tokenizer);
}

/* Where the current byte's character begins. */
static uint64_t character_start(const struct scan *s)
{
	return s->offset + 1 - s->tokenizer.utf8_size;
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

/* Beginnings */

static void reset_header(struct scan *s)
{
	s->hold = true;
	s->asks = tokenizer_is_message(s->tokenizer.state);
	s->judged = false;
	s->names = ASKS_NAMES;
	s->named = 0;
	s->number = s->params = 0;
}

/* An introducer at `at`. ends: it ends an unfinished sequence. */
static void begin_sequence(struct scan *s, uint64_t at, bool ends)
{
	if (!ends)
		s->ground = at;
	s->start = at;
	s->ends = ends;
	s->muted = false;
	reset_header(s);
}

/* An escape becomes a sequence or string. One that is hidden already stays so. */
static void extend_escape(struct feed *f)
{
	struct scan *s = f->s;
	/* Controls have acted until now; in a string they would not. */
	if (s->muted && tokenizer_is_string(s->tokenizer.state)) {
		report_query(f, s->start, s->offset, false, true);
		s->start = s->offset;
		s->ends = false;
	}
	reset_header(s);
}

/* Ends */

static void forget_sequence(struct scan *s)
{
	s->hold = s->muted = s->ends = false;
}

/* A string is over at `end`. */
static void judge_string(struct feed *f, uint64_t end)
{
	const struct scan *s = f->s;
	if (s->muted)
		report_query(f, s->start, end, true, true);
	else if (s->hold && s->asks)
		report_query(f, s->start, end, true, false);
}

static void end_string(struct feed *f)
{
	judge_string(f, f->s->offset + 1);
	forget_sequence(f->s);
}

/* Another sequence has ended: with the current byte if it is a query, or hidden. */
static void end_sequence(struct feed *f, bool query)
{
	struct scan *s = f->s;
	if (s->muted || query)
		report_query(f, s->start, s->offset + 1, false, s->muted);
	forget_sequence(s);
}

/* A C1 control at `at` has ended what was under way. */
static void end_by_c1(struct feed *f, uint64_t at)
{
	if (tokenizer_is_string(f->before))
		judge_string(f, at);
	else if (f->s->muted)
		report_query(f, f->s->start, at, false, true);
}

/*
 * CAN, SUB and characters where none may be abort a sequence, which has no effect; but there are terminals for which an APC
 * goes on up to its ST. Only the last byte of the character is left of it, which is not printed either.
 */
static void abort_sequence(struct feed *f)
{
	struct scan *s = f->s;
	if (s->muted || tokenizer_is_message(f->before))
		report_query(f, s->start, s->offset, tokenizer_is_string(f->before), s->muted);
	forget_sequence(s);
}

/* The string before is over; the ESC that was waited on begins a sequence of its own. */
static void end_by_escape(struct feed *f)
{
	struct scan *s = f->s;
	s->terminating = false;
	judge_string(f, s->esc);
	begin_sequence(s, s->esc, true);
}

/* Bounds */

/* The end of what certainly belongs to what came before: not an ESC or a character that has just begun. */
static uint64_t whole_end(const struct scan *s)
{
	return s->terminating ? s->esc : s->offset - tokenizer_unfinished(&s->tokenizer);
}

static bool in_string(const struct scan *s)
{
	return s->terminating || tokenizer_is_string(s->tokenizer.state);
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

/* Do not wait for ever: hide a sequence that has outgrown its bound. */
static void bound_sequence(struct feed *f)
{
	struct scan *s = f->s;
	if (s->terminating && s->offset - s->esc >= SCAN_SEQUENCE_MAX)
		end_by_escape(f);
	if ((s->hold || s->muted) &&
		s->offset - s->start >= (in_string(s) ? SCAN_STRING_MAX : SCAN_SEQUENCE_MAX))
		mute_sequence(f);
}

/* Parameters and data */

/* Add to the first parameter; later ones do not decide what a sequence is. */
static void feed_digit(struct scan *s, uint8_t c)
{
	if (s->params == 0 && s->number < 100000)
		s->number = s->number * 10 + (uint32_t)(c - '0');
}

static void feed_param(struct scan *s, uint8_t c)
{
	if (c == ';' || c == ':')
		s->params++;
	else
		feed_digit(s, c);
}

static void feed_osc(struct scan *s, uint8_t c)
{
	if (!s->judged) {
		if (c >= '0' && c <= '9') {
			feed_digit(s, c);
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

/* DECRQSS and XTGETTCAP */
static bool is_query_dcs(const struct tokenizer *t)
{
	return (t->intermediate == '$' || t->intermediate == '+') &&
		(t->code == 'q' || t->code == 'Q');
}

/* Tokens */

static void on_begin(struct feed *f)
{
	struct scan *s = f->s;
	uint64_t at = character_start(s);
	if (s->tokenizer.end == TOKENIZER_TERMINATED) {
		s->terminating = true;
		s->esc = at;
		return;
	}
	if (s->tokenizer.end == TOKENIZER_ABORTED)
		end_by_c1(f, at);
	begin_sequence(s, at, f->before != TOKENIZER_GROUND);
}

static void on_control(struct feed *f)
{
	struct scan *s = f->s;
	uint64_t at = character_start(s);
	uint32_t code = s->tokenizer.code;
	if (code == ENQ) {
		report_query(f, at, at + 1, true, false);
	} else if (code == CAN || code == SUB) {
		abort_sequence(f);
	} else if (code >= 0x80) {
		end_by_c1(f, at);
		forget_sequence(s);
		if (code == DECID) {
			s->start = at;
			s->ends = f->before != TOKENIZER_GROUND;
			report_query(f, at, at + 2, false, false);
			s->ends = false;
		}
	}
}

/* A byte that is no token may have ended what was under way. */
static void on_end(struct feed *f)
{
	struct scan *s = f->s;
	if (s->tokenizer.end == TOKENIZER_TERMINATED)
		end_string(f);
	else if (s->tokenizer.code >= 0x80 && s->tokenizer.code < 0xa0) {
		end_by_c1(f, character_start(s)); /* an ST without a string */
		forget_sequence(s);
	} else {
		abort_sequence(f);
	}
}

static void on_token(struct feed *f, enum token token)
{
	struct scan *s = f->s;
	uint8_t c = (uint8_t)s->tokenizer.code;
	switch (token) {
	case TOKEN_NONE:
		if (s->tokenizer.end != TOKENIZER_GOES_ON)
			on_end(f);
		break;
	case TOKEN_CONTROL:
		on_control(f);
		break;
	case TOKEN_BEGIN:
		on_begin(f);
		break;
	case TOKEN_EXTEND:
		extend_escape(f);
		break;
	case TOKEN_COLLECT:
		if (f->before == TOKENIZER_ESCAPE)
			end_sequence(f, false); /* no such escape asks anything */
		break;
	case TOKEN_PARAM:
		feed_param(s, c);
		break;
	case TOKEN_MALFORMED:
		s->hold = false;
		break;
	case TOKEN_ESCAPE:
		end_sequence(f, f->before == TOKENIZER_ESCAPE && c == 'Z'); /* DECID */
		break;
	case TOKEN_CSI:
		end_sequence(f, asks_csi(&s->tokenizer, s->number));
		break;
	case TOKEN_CSI_OVER:
		end_sequence(f, false);
		break;
	case TOKEN_DCS:
		s->hold = s->asks = is_query_dcs(&s->tokenizer);
		break;
	case TOKEN_PUT:
		if (s->tokenizer.state == TOKENIZER_OSC && s->tokenizer.code < 0x80)
			feed_osc(s, c);
		break;
	case TOKEN_PRINT:
		break;
	}
}

static void feed_byte(struct feed *f, uint8_t byte)
{
	struct scan *s = f->s;
	f->before = s->tokenizer.state;
	enum token token = tokenizer_feed(&s->tokenizer, byte);
	/* Bytes of UTF-8 that make no character are not there. */
	bool counts = byte < 0x80 || token != TOKEN_NONE || s->tokenizer.end != TOKENIZER_GOES_ON;
	if (!s->terminating || !counts) {
		on_token(f, token);
	} else if (byte == '\\') {
		s->terminating = false;
		end_string(f);
	} else {
		end_by_escape(f);
		on_token(f, token);
	}
}

/* Say how far the bytes fed so far may be shown, and where they may be cut. */
static void settle_bytes(struct feed *f)
{
	struct scan *s = f->s;
	if (s->muted)
		mute_sequence(f);
	if (s->tokenizer.state == TOKENIZER_GROUND)
		s->ground = whole_end(s);
	s->settled = s->hold && !s->muted ? s->start : whole_end(s);
}

void scan_feed(struct scan *s, const uint8_t *data, size_t length, scan_query_cb cb, void *user)
{
	struct feed f = {.s = s, .cb = cb, .user = user};
	const uint8_t *p = data, *end = data + length;
	while (p < end) {
		if (scan_is_ground(s)) {
			const uint8_t *q = inert_skip(p, end);
			s->offset += (uint64_t)(q - p);
			p = q;
			if (p == end)
				break;
		}
		feed_byte(&f, *p++);
		s->offset++;
		bound_sequence(&f);
	}
	settle_bytes(&f);
}

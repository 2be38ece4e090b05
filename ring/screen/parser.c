/*
 * The tokens' meaning, and short cuts past the tokenizer: text, whole characters and simple control sequences in the ground
 * state, which are nearly all of the output. There are no failures: what is no sequence is dropped, as by a terminal.
 */
#include "ring/screen/parser_internal.h"
#include "ring/utf8.h"

#include <string.h>

#define ESC 0x1b
#define ST 0x9c

void parser_init(struct parser *p, const struct parser_ops *ops, void *user, uint64_t offset)
{
	*p = (struct parser){.ops = ops, .user = user, .offset = offset, .start = offset};
}

void parser_finish(struct parser *p)
{
	parser_string_drop(p);
}

/* Parameters */

static void params_add(struct parser *p)
{
	struct params *a = &p->params;
	p->digit_is_sub = false;
	if (a->count >= PARSER_PARAMS) {
		p->reject_digits = true;
		return;
	}
	a->sub_first[a->count] = a->sub_end[a->count] = (uint8_t)a->sub_count;
	a->value[a->count++] = 0;
}

static void params_add_sub(struct parser *p)
{
	struct params *a = &p->params;
	p->digit_is_sub = true;
	if (p->reject_digits || a->sub_count >= PARSER_SUBPARAMS) {
		p->reject_subs = true;
		return;
	}
	a->sub[a->sub_count++] = -1;
	a->sub_end[a->count - 1]++;
}

static void params_digit(struct parser *p, int digit)
{
	struct params *a = &p->params;
	if (p->reject_digits || (p->digit_is_sub && (p->reject_subs || a->sub_count == 0)))
		return;
	int32_t *value = p->digit_is_sub ? &a->sub[a->sub_count - 1] : &a->value[a->count - 1];
	if (*value < 0)
		*value = digit;
	else if (*value > (PARSER_VALUE_MAX - digit) / 10)
		*value = PARSER_VALUE_MAX;
	else
		*value = *value * 10 + digit;
}

static void params_clear(struct parser *p)
{
	p->params.count = p->params.sub_count = 0;
	p->reject_digits = p->reject_subs = false;
	params_add(p);
}

static void params_feed(struct parser *p, uint32_t c)
{
	if (c == ';')
		params_add(p);
	else if (c == ':')
		params_add_sub(p);
	else
		params_digit(p, (int)c - '0');
}

/* Tokens */

void parser_reset(struct parser *p)
{
	p->tokenizer = (struct tokenizer){0};
	params_clear(p);
	parser_string_begin(p);
}

/* The sequence of state `before` is over. */
static void end_sequence(struct parser *p, enum tokenizer_state before)
{
	bool terminated = p->tokenizer.end == TOKENIZER_TERMINATED;
	if (terminated && before == TOKENIZER_OSC)
		parser_end_osc(p);
	else if (terminated && before == TOKENIZER_DCS_DATA)
		parser_end_dcs(p);
	else if (before == TOKENIZER_APC_DATA &&
		p->tokenizer.code == ST) /* no mark joins what was before */
		p->ops->control(p->user, ST);
	if (tokenizer_is_data(before))
		parser_string_release(p);
}

static void on_token(struct parser *p, enum token token)
{
	const struct tokenizer *t = &p->tokenizer;
	uint32_t id = SEQUENCE(t->collected, t->code);
	switch (token) {
	case TOKEN_PRINT:
		p->ops->character(p->user, t->code);
		break;
	case TOKEN_CONTROL:
		p->ops->control(p->user, (uint8_t)t->code);
		break;
	case TOKEN_BEGIN:
		p->start = p->offset - t->utf8_size;
		params_clear(p);
		parser_string_begin(p);
		break;
	case TOKEN_EXTEND:
		params_clear(p);
		parser_string_begin(p);
		break;
	case TOKEN_PARAM:
		params_feed(p, t->code);
		break;
	case TOKEN_ESCAPE:
		p->ops->escape(p->user, id);
		break;
	case TOKEN_CSI:
		p->ops->csi(p->user, id, &p->params);
		break;
	case TOKEN_DCS:
		p->dcs_id = id;
		break;
	case TOKEN_PUT:
		parser_string_put(p, t->code);
		break;
	default:
		break;
	}
}

static void feed_byte(struct parser *p, uint8_t byte)
{
	enum tokenizer_state before = p->tokenizer.state;
	enum token token = tokenizer_feed(&p->tokenizer, byte);
	if (p->tokenizer.end != TOKENIZER_GOES_ON)
		end_sequence(p, before);
	on_token(p, token);
}

/* Short cuts */

/*
 * Consume a complete control sequence whose parameters are numbers, at `at`, in the ground state. Returns the byte
 * behind it; NULL, and nothing has happened, if it is anything else.
 */
static const uint8_t *feed_simple_csi(
	struct parser *p, const uint8_t *at, const uint8_t *end, uint64_t offset)
{
	struct params *a = &p->params;
	const uint8_t *next = at + 2;
	uint32_t prefix = 0;
	unsigned count = 0;
	int32_t value = 0;
	if (end - at < 3 || at[1] != '[')
		return NULL;
	if (*next >= 0x3c && *next <= 0x3f)
		prefix = *next++;
	for (; next < end; next++) {
		uint8_t c = *next;
		if (c >= '0' && c <= '9') {
			if (value > 99999)
				return NULL;
			value = value * 10 + (c - '0');
			continue;
		}
		if (count == PARSER_PARAMS || c == DEL || (c < 0x40 && c != ';'))
			return NULL;
		a->sub_first[count] = a->sub_end[count] = 0;
		a->value[count++] = value;
		value = 0;
		if (c == ';')
			continue;
		if (c > DEL)
			return NULL;
		a->count = count;
		a->sub_count = 0;
		p->start = offset;
		p->offset = offset + (uint64_t)(++next - at);
		p->ops->csi(p->user, SEQUENCE(prefix, c), a);
		return next;
	}
	return NULL;
}

/* Consume a whole character in the ground state. Returns its bytes; 0, and nothing has happened, if it is not valid. */
static unsigned feed_whole_character(
	struct parser *p, const uint8_t *at, const uint8_t *end, uint64_t offset)
{
	unsigned size = *at < 0xc2 ? 0 : utf8_lead_length(*at);
	if (size == 0 || end - at < size)
		return 0;
	uint32_t code = *at & (0x7fu >> size);
	for (unsigned i = 1; i < size; i++) {
		if (!utf8_is_continuation(at[i]))
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	p->offset = offset + size;
	on_token(p, tokenizer_feed_character(&p->tokenizer, code, size));
	return size;
}

/*
 * Consume more than a byte in the ground state. offset: of `at`. Returns what comes behind that; NULL if `at` has to be
 * fed byte by byte.
 */
static const uint8_t *feed_ground(
	struct parser *p, const uint8_t *at, const uint8_t *end, uint64_t offset)
{
	uint8_t c = *at;
	if (c >= 0x80) {
		unsigned size = feed_whole_character(p, at, end, offset);
		return size > 0 ? at + size : NULL;
	}
	p->tokenizer.utf8_left = 0;
	if (c == ESC)
		return feed_simple_csi(p, at, end, offset);
	if (c < 0x20) {
		p->offset = offset + 1;
		p->ops->control(p->user, c);
		return at + 1;
	}
	const uint8_t *next = parser_text_end(at, end);
	if (next == at)
		return NULL;
	p->offset = offset + (uint64_t)(next - at);
	p->ops->text(p->user, at, (size_t)(next - at));
	return next;
}

/* Consume a run of printable ASCII in the data of an OSC or DCS. Returns its end. */
static const uint8_t *feed_data(struct parser *p, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *next = parser_text_end(at, end);
	if (next > at) {
		p->tokenizer.utf8_left = 0;
		parser_string_append(p, at, (size_t)(next - at));
	}
	return next;
}

size_t parser_feed(struct parser *p, const uint8_t *data, size_t length, const bool *pause)
{
	const uint8_t *at = data, *end = data + length;
	uint64_t base = p->offset;
	while (at < end && !(pause && *pause)) {
		if (p->tokenizer.state == TOKENIZER_GROUND) {
			const uint8_t *next = feed_ground(p, at, end, base + (uint64_t)(at - data));
			if (next) {
				at = next;
				continue;
			}
		} else if (tokenizer_is_data(p->tokenizer.state)) {
			at = feed_data(p, at, end);
			if (at == end)
				break;
		}
		p->offset = base + (uint64_t)(at + 1 - data);
		feed_byte(p, *at++);
	}
	p->offset = base + (uint64_t)(at - data);
	return (size_t)(at - data);
}

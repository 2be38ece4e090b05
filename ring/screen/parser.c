/*
 * The state machine, and two short cuts past it: what is all there in the ground state, which is nearly everything,
 * is taken in one go. It has no failures: what is no sequence is dropped, as a terminal would.
 */
#include "ring/screen/parser_internal.h"
#include "ring/utf8.h"

#include <string.h>

#define BEL 0x07
#define CAN 0x18
#define SUB 0x1a
#define ESC 0x1b
#define ST 0x9c
#define FIRST_PRINTABLE 0xa0 /* of what is not ASCII */

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
	p->collected = 0;
	params_add(p);
}

static void params_take(struct parser *p, uint32_t c)
{
	if (c == ';')
		params_add(p);
	else if (c == ':')
		params_add_sub(p);
	else
		params_digit(p, (int)c - '0');
}

/* The state machine */

static void to_ground(struct parser *p)
{
	p->state = PARSER_GROUND;
	p->touched = false;
}

void parser_reset(struct parser *p)
{
	to_ground(p);
	params_clear(p);
	parser_string_begin(p);
}

/* Begin a sequence whose introducer has taken `size` bytes so far, the last of which is at offset - 1. */
static void begin_sequence(struct parser *p, enum parser_state state, unsigned size)
{
	p->start = p->offset - size;
	p->touched = false;
	p->state = state;
	params_clear(p);
}

static void run_control(struct parser *p, uint32_t code)
{
	p->touched = p->state != PARSER_GROUND;
	p->ops->control(p->user, (uint8_t)code);
}

/* A string ends; code is what ended it. */
static void end_string(struct parser *p, uint32_t code)
{
	bool osc = p->state == PARSER_OSC;
	to_ground(p);
	if (code != CAN && code != SUB && osc)
		parser_end_osc(p);
	else if (code != CAN && code != SUB)
		parser_end_dcs(p);
	parser_string_release(p);
	if (code == ESC)
		begin_sequence(p, PARSER_ESCAPE, 1);
}

/* C1, which acts in any state. size: bytes that the code took. */
static void take_c1(struct parser *p, uint32_t code)
{
	if (code == ST && (p->state == PARSER_OSC || p->state == PARSER_DCS_PASSTHROUGH)) {
		end_string(p, code);
		return;
	}
	if (p->state == PARSER_OSC || p->state == PARSER_DCS_PASSTHROUGH)
		parser_string_release(p);
	switch (code) {
	case 0x90:
		begin_sequence(p, PARSER_DCS_ENTRY, 2);
		break;
	case 0x98:
	case 0x9e:
	case 0x9f:
		begin_sequence(p, PARSER_STRING, 2);
		break;
	case 0x9b:
		begin_sequence(p, PARSER_CSI_ENTRY, 2);
		break;
	case ST:
		to_ground(p);
		break;
	case 0x9d:
		begin_sequence(p, PARSER_OSC, 2);
		parser_string_begin(p);
		break;
	default:
		to_ground(p);
		p->ops->control(p->user, (uint8_t)code);
	}
}

/* C0, wherever it comes. */
static void take_c0(struct parser *p, uint32_t code)
{
	enum parser_state state = p->state;
	if (code == ESC || code == CAN || code == SUB) {
		if (state == PARSER_OSC || state == PARSER_DCS_PASSTHROUGH) {
			end_string(p, code);
		} else if (code == ESC) {
			begin_sequence(p, PARSER_ESCAPE, 1);
		} else {
			to_ground(p);
			p->ops->control(p->user, (uint8_t)code);
		}
		return;
	}
	switch (state) {
	case PARSER_OSC:
		if (code == BEL)
			end_string(p, code);
		break;
	case PARSER_DCS_PASSTHROUGH:
		parser_string_put(p, code);
		break;
	case PARSER_STRING:
	case PARSER_DCS_ENTRY:
	case PARSER_DCS_PARAM:
	case PARSER_DCS_INTERMEDIATE:
	case PARSER_DCS_IGNORE:
		break;
	default:
		run_control(p, code);
	}
}

static void collect_byte(struct parser *p, uint32_t code, enum parser_state next)
{
	p->collected = p->collected << 8 | code;
	p->state = next;
}

static void take_escape(struct parser *p, uint32_t code)
{
	switch (code) {
	case '[':
		p->state = PARSER_CSI_ENTRY;
		params_clear(p);
		break;
	case ']':
		p->state = PARSER_OSC;
		parser_string_begin(p);
		break;
	case 'P':
		p->state = PARSER_DCS_ENTRY;
		params_clear(p);
		break;
	case 'X':
	case '^':
	case '_':
		p->state = PARSER_STRING;
		break;
	default:
		if (code < 0x30) {
			collect_byte(p, code, PARSER_ESCAPE_INTERMEDIATE);
			break;
		}
		to_ground(p);
		p->ops->escape(p->user, SEQUENCE(p->collected, code));
	}
}

/* The header of a CSI or DCS; the states of both are in the same order. */
static void take_header(struct parser *p, uint32_t code, enum parser_state entry)
{
	enum parser_state param = entry + 1, intermediate = entry + 2, ignore = entry + 3;
	if (code >= 0x40) {
		uint32_t id = SEQUENCE(p->collected, code);
		if (entry == PARSER_DCS_ENTRY) {
			p->state = PARSER_DCS_PASSTHROUGH;
			p->dcs_id = id;
			parser_string_begin(p);
			return;
		}
		to_ground(p);
		p->ops->csi(p->user, id, &p->params);
	} else if (code < 0x30) {
		collect_byte(p, code, intermediate);
	} else if (p->state == intermediate || (code >= 0x3c && p->state == param)) {
		p->state = ignore;
	} else if (code >= 0x3c) {
		collect_byte(p, code, param);
	} else {
		p->state = param;
		params_take(p, code);
	}
}

/* Printable ASCII and DEL, outside the ground state. */
static void take_ascii(struct parser *p, uint32_t code)
{
	switch (p->state) {
	case PARSER_ESCAPE:
		if (code != DEL)
			take_escape(p, code);
		break;
	case PARSER_ESCAPE_INTERMEDIATE:
		if (code == DEL)
			break;
		if (code < 0x30) {
			collect_byte(p, code, PARSER_ESCAPE_INTERMEDIATE);
			break;
		}
		to_ground(p);
		p->ops->escape(p->user, SEQUENCE(p->collected, code));
		break;
	case PARSER_CSI_ENTRY:
	case PARSER_CSI_PARAM:
	case PARSER_CSI_INTERMEDIATE:
		if (code != DEL)
			take_header(p, code, PARSER_CSI_ENTRY);
		break;
	case PARSER_DCS_ENTRY:
	case PARSER_DCS_PARAM:
	case PARSER_DCS_INTERMEDIATE:
		if (code != DEL)
			take_header(p, code, PARSER_DCS_ENTRY);
		break;
	case PARSER_CSI_IGNORE:
		if (code >= 0x40 && code != DEL)
			to_ground(p);
		break;
	case PARSER_OSC:
		parser_string_put(p, code);
		break;
	case PARSER_DCS_PASSTHROUGH:
		if (code != DEL)
			parser_string_put(p, code);
		break;
	default:
		break;
	}
}

/* A whole character that is not ASCII. */
static void take_character(struct parser *p, uint32_t code)
{
	if (!utf8_is_character(code, p->utf8_size) || code == 0xfeff)
		return;
	if (code < FIRST_PRINTABLE) {
		take_c1(p, code);
		return;
	}
	switch (p->state) {
	case PARSER_GROUND:
		p->ops->character(p->user, code);
		break;
	case PARSER_OSC:
	case PARSER_DCS_PASSTHROUGH:
		parser_string_put(p, code);
		break;
	case PARSER_CSI_IGNORE:
	case PARSER_DCS_IGNORE:
		break;
	default: /* an error: what was under way is dropped */
		to_ground(p);
	}
}

static void take_high(struct parser *p, uint8_t byte)
{
	if (byte >= 0xc0) {
		p->utf8_size = byte >= 0xf8 || byte < 0xc2 ? 1 : (uint8_t)utf8_announced(byte);
		p->utf8_left = (uint8_t)(p->utf8_size - 1);
		p->code = byte & (0x7fu >> p->utf8_size);
	} else if (p->utf8_left > 0) {
		p->code = p->code << 6 | (byte & 0x3f);
		if (--p->utf8_left == 0)
			take_character(p, p->code);
	}
}

/*
 * A control sequence that is all there and has nothing but numbers, as most have, at `at`, in the ground
 * state. Returns the byte behind it; NULL if it is anything else, and then nothing has happened.
 */
static const uint8_t *take_simple_csi(
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
		p->touched = false;
		p->offset = offset + (uint64_t)(++next - at);
		p->ops->csi(p->user, SEQUENCE(prefix, c), a);
		return next;
	}
	return NULL;
}

/* A character that is all there. Returns its bytes; 0 if it is not valid, and then nothing has happened. */
static unsigned take_whole_character(
	struct parser *p, const uint8_t *at, const uint8_t *end, uint64_t offset)
{
	unsigned size = *at < 0xc2 ? 0 : utf8_announced(*at);
	if (size == 0 || end - at < size)
		return 0;
	uint32_t code = *at & (0x7fu >> size);
	for (unsigned i = 1; i < size; i++) {
		if (!utf8_is_continuation(at[i]))
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	p->utf8_size = (uint8_t)size;
	p->utf8_left = 0;
	p->offset = offset + size;
	take_character(p, code);
	return size;
}

/*
 * Between two sequences, at a byte that is behind `offset` bytes. Returns what comes behind that which has
 * been taken; NULL if it has to be taken byte by byte.
 */
static const uint8_t *take_ground(
	struct parser *p, const uint8_t *at, const uint8_t *end, uint64_t offset)
{
	uint8_t c = *at;
	if (c >= 0x80) {
		unsigned size = take_whole_character(p, at, end, offset);
		return size > 0 ? at + size : NULL;
	}
	p->utf8_left = 0;
	if (c == ESC)
		return take_simple_csi(p, at, end, offset);
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

size_t parser_feed(struct parser *p, const uint8_t *data, size_t length, const bool *pause)
{
	const uint8_t *at = data, *end = data + length;
	uint64_t base = p->offset;
	while (at < end && !(pause && *pause)) {
		if (p->state == PARSER_GROUND) {
			const uint8_t *next = take_ground(p, at, end, base + (uint64_t)(at - data));
			if (next) {
				at = next;
				continue;
			}
		}
		uint8_t c = *at;
		if (c >= 0x80) {
			p->offset = base + (uint64_t)(++at - data);
			take_high(p, c);
			continue;
		}
		p->utf8_left = 0;
		if (c >= 0x20 && c != DEL &&
			(p->state == PARSER_OSC || p->state == PARSER_DCS_PASSTHROUGH)) {
			const uint8_t *run = at;
			at = parser_text_end(at, end);
			p->offset = base + (uint64_t)(at - data);
			parser_string_append(p, run, (size_t)(at - run));
			continue;
		}
		p->offset = base + (uint64_t)(++at - data);
		if (c < 0x20)
			take_c0(p, c);
		else if (p->state != PARSER_GROUND)
			take_ascii(p, c);
	}
	return (size_t)(at - data);
}

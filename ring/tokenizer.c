/* One switch a byte. Consumers skip plain text themselves, which is most of all output. */
#include "ring/tokenizer.h"

#include "ring/utf8.h"

#define BEL 0x07
#define CAN 0x18
#define SUB 0x1a
#define ESC 0x1b
#define DEL 0x7f
#define ST 0x9c
#define FIRST_PRINTABLE 0xa0 /* of what is not ASCII */

/* Return to the ground state. how: what this means for a sequence that is under way. */
static void to_ground(struct tokenizer *t, enum tokenizer_end how)
{
	if (t->state != TOKENIZER_GROUND)
		t->end = how;
	t->state = TOKENIZER_GROUND;
}

static enum token begin(struct tokenizer *t, enum tokenizer_state state, enum token token)
{
	t->state = state;
	t->prefix = t->intermediate = 0;
	t->collected = 0;
	return token;
}

/* C1, which acts in any state. */
static enum token feed_c1(struct tokenizer *t, uint32_t code)
{
	bool string = tokenizer_is_string(t->state);
	to_ground(t, code == ST && string ? TOKENIZER_TERMINATED : TOKENIZER_ABORTED);
	switch (code) {
	case 0x90:
		return begin(t, TOKENIZER_DCS_ENTRY, TOKEN_BEGIN);
	case 0x98:
	case 0x9e:
		return begin(t, TOKENIZER_STRING, TOKEN_BEGIN);
	case 0x9f:
		return begin(t, TOKENIZER_APC_ENTRY, TOKEN_BEGIN);
	case 0x9b:
		return begin(t, TOKENIZER_CSI_ENTRY, TOKEN_BEGIN);
	case 0x9d:
		return begin(t, TOKENIZER_OSC, TOKEN_BEGIN);
	case ST:
		return TOKEN_NONE;
	default:
		return TOKEN_CONTROL;
	}
}

/* C0 controls act at once, whatever they are in, but for strings. */
static enum token feed_c0(struct tokenizer *t, uint8_t code)
{
	enum tokenizer_state state = t->state;
	bool string = tokenizer_is_string(state);
	switch (code) {
	case ESC:
		to_ground(t, string ? TOKENIZER_TERMINATED : TOKENIZER_ABORTED);
		return begin(t, TOKENIZER_ESCAPE, TOKEN_BEGIN);
	case CAN:
	case SUB:
		to_ground(t, TOKENIZER_ABORTED);
		return tokenizer_is_data(state) ? TOKEN_NONE : TOKEN_CONTROL;
	case BEL:
		if (state == TOKENIZER_OSC) {
			to_ground(t, TOKENIZER_TERMINATED);
			return TOKEN_NONE;
		}
		break;
	default:
		break;
	}
	if (state == TOKENIZER_DCS_DATA)
		return TOKEN_PUT;
	return string ? TOKEN_NONE : TOKEN_CONTROL;
}

static enum token collect(struct tokenizer *t, uint8_t byte, enum tokenizer_state next)
{
	t->collected = t->collected << 8 | byte;
	t->state = next;
	if (byte < 0x30)
		t->intermediate = byte;
	else
		t->prefix = byte;
	return TOKEN_COLLECT;
}

static enum token feed_escape(struct tokenizer *t, uint8_t byte)
{
	if (byte < 0x30)
		return collect(t, byte, TOKENIZER_ESCAPE_INTERMEDIATE);
	switch (t->state == TOKENIZER_ESCAPE ? byte : 0) {
	case '[':
		return begin(t, TOKENIZER_CSI_ENTRY, TOKEN_EXTEND);
	case ']':
		return begin(t, TOKENIZER_OSC, TOKEN_EXTEND);
	case 'P':
		return begin(t, TOKENIZER_DCS_ENTRY, TOKEN_EXTEND);
	case 'X':
	case '^':
		return begin(t, TOKENIZER_STRING, TOKEN_EXTEND);
	case '_':
		return begin(t, TOKENIZER_APC_ENTRY, TOKEN_EXTEND);
	default:
		t->state = TOKENIZER_GROUND;
		return TOKEN_ESCAPE;
	}
}

/* The header of a CSI or DCS; entry: the first of its states. */
static enum token feed_header(struct tokenizer *t, uint8_t byte, enum tokenizer_state entry)
{
	enum tokenizer_state param = entry + 1, intermediate = entry + 2, ignore = entry + 3;
	if (byte >= 0x40) {
		bool csi = entry == TOKENIZER_CSI_ENTRY;
		t->state = csi ? TOKENIZER_GROUND : TOKENIZER_DCS_DATA;
		return csi ? TOKEN_CSI : TOKEN_DCS;
	}
	if (byte < 0x30)
		return collect(t, byte, intermediate);
	/* One of < = > ? comes first of all or not at all, and behind an intermediate no parameter follows. */
	if (t->state == intermediate || (byte >= '<' && t->state == param)) {
		t->state = ignore;
		return TOKEN_MALFORMED;
	}
	if (byte >= '<')
		return collect(t, byte, param);
	t->state = param;
	return TOKEN_PARAM;
}

/* Printable ASCII. */
static enum token feed_printable(struct tokenizer *t, uint8_t byte)
{
	switch (t->state) {
	case TOKENIZER_GROUND:
		return TOKEN_PRINT;
	case TOKENIZER_ESCAPE:
	case TOKENIZER_ESCAPE_INTERMEDIATE:
		return feed_escape(t, byte);
	case TOKENIZER_CSI_ENTRY:
	case TOKENIZER_CSI_PARAM:
	case TOKENIZER_CSI_INTERMEDIATE:
		return feed_header(t, byte, TOKENIZER_CSI_ENTRY);
	case TOKENIZER_DCS_ENTRY:
	case TOKENIZER_DCS_PARAM:
	case TOKENIZER_DCS_INTERMEDIATE:
		return feed_header(t, byte, TOKENIZER_DCS_ENTRY);
	case TOKENIZER_CSI_IGNORE:
		if (byte < 0x40)
			return TOKEN_NONE;
		t->state = TOKENIZER_GROUND;
		return TOKEN_CSI_OVER;
	case TOKENIZER_OSC:
	case TOKENIZER_DCS_DATA:
		return TOKEN_PUT;
	case TOKENIZER_APC_ENTRY:
		if (byte >= 0x30)
			t->state = TOKENIZER_APC_DATA;
		return TOKEN_NONE;
	default:
		return TOKEN_NONE;
	}
}

enum token tokenizer_feed_character(struct tokenizer *t, uint32_t code, unsigned size)
{
	t->end = TOKENIZER_GOES_ON;
	t->code = code;
	t->utf8_left = 0;
	t->utf8_size = (uint8_t)size;
	if (!utf8_is_character(code, size) || code == 0xfeff)
		return TOKEN_NONE;
	if (code < FIRST_PRINTABLE)
		return feed_c1(t, code);
	switch (t->state) {
	case TOKENIZER_GROUND:
		return TOKEN_PRINT;
	case TOKENIZER_OSC:
	case TOKENIZER_DCS_DATA:
		return TOKEN_PUT;
	case TOKENIZER_CSI_IGNORE:
	case TOKENIZER_DCS_IGNORE:
	case TOKENIZER_APC_DATA:
		return TOKEN_NONE;
	default:
		to_ground(t, TOKENIZER_ABORTED);
		return TOKEN_NONE;
	}
}

static enum token feed_high(struct tokenizer *t, uint8_t byte)
{
	if (byte >= 0xc0) {
		t->utf8_size = byte >= 0xf8 ? 1 : (uint8_t)utf8_lead_length(byte);
		t->utf8_left = (uint8_t)(t->utf8_size - 1);
		t->code = byte & (0x7fu >> t->utf8_size);
	} else if (t->utf8_left > 0) {
		t->code = t->code << 6 | (byte & 0x3f);
		if (--t->utf8_left == 0)
			return tokenizer_feed_character(t, t->code, t->utf8_size);
	}
	return TOKEN_NONE;
}

enum token tokenizer_feed(struct tokenizer *t, uint8_t byte)
{
	t->end = TOKENIZER_GOES_ON;
	if (byte >= 0x80)
		return feed_high(t, byte);
	t->utf8_left = 0;
	t->utf8_size = 1;
	t->code = byte;
	if (byte < 0x20)
		return feed_c0(t, byte);
	if (byte == DEL)
		return t->state == TOKENIZER_OSC ? TOKEN_PUT : TOKEN_NONE;
	return feed_printable(t, byte);
}

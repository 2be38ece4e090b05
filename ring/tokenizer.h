/*
 * Tokenizer: the state machine of vt100.net/emu/dec_ansi_parser in the dialect of xterm.js, one byte at a time. The scan
 * before the fan-out, the parser of the screen and the guard of `ringside attach` interpret its tokens.
 *
 * As in xterm.js, C1 controls come only as UTF-8 (U+0080 to U+009F), invalid UTF-8 and U+FEFF are dropped, an OSC or
 * DCS takes effect at the ESC of its terminator, and a character in an escape, a control sequence, the header of a DCS or
 * APC, or a SOS or PM aborts it.
 *
 * Pure, and of constant size: strings are not collected here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum tokenizer_state {
	TOKENIZER_GROUND, /* between two sequences */
	TOKENIZER_ESCAPE,
	TOKENIZER_ESCAPE_INTERMEDIATE,
	TOKENIZER_CSI_ENTRY,
	TOKENIZER_CSI_PARAM,
	TOKENIZER_CSI_INTERMEDIATE,
	TOKENIZER_CSI_IGNORE, /* malformed: without effect, up to its final byte */
	TOKENIZER_STRING,     /* SOS, PM. This and all that follow are strings */
	TOKENIZER_APC_ENTRY, /* up to the first byte that is neither an intermediate nor a control */
	TOKENIZER_APC_DATA,
	TOKENIZER_DCS_ENTRY, /* this and the next three are in the order of those of CSI */
	TOKENIZER_DCS_PARAM,
	TOKENIZER_DCS_INTERMEDIATE,
	TOKENIZER_DCS_IGNORE,
	TOKENIZER_DCS_DATA,
	TOKENIZER_OSC,
};

enum token {
	TOKEN_NONE,    /* nothing yet, or a byte without meaning where it is */
	TOKEN_PRINT,   /* a character in the ground state */
	TOKEN_CONTROL, /* a control of C0 or C1, which acts at once */
	TOKEN_BEGIN,   /* an introducer: ESC, or a C1 control that begins the state */
	TOKEN_EXTEND, /* the escape that is under way has become the sequence or string of the state */
	TOKEN_COLLECT,   /* a prefix or an intermediate */
	TOKEN_PARAM,     /* a digit, ';' or ':' of the parameters */
	TOKEN_MALFORMED, /* the sequence or header is ignored from here on */
	TOKEN_ESCAPE,    /* the final byte of an escape */
	TOKEN_CSI,       /* the final byte of a control sequence */
	TOKEN_CSI_OVER,  /* the final byte of a malformed one */
	TOKEN_DCS,       /* the final byte of the header of a DCS: its data follow */
	TOKEN_PUT,       /* a character or control of the data of an OSC or DCS */
};

/* What a byte did to the sequence that was under way, besides the token that it is. */
enum tokenizer_end {
	TOKENIZER_GOES_ON,
	TOKENIZER_TERMINATED, /* a string, by its terminator or the ESC of it */
	TOKENIZER_ABORTED,    /* it has no effect */
};

/* Zeroed: in the ground state. */
struct tokenizer {
	enum tokenizer_state state;
	enum tokenizer_end end; /* of the last byte */
	uint32_t code;        /* the last byte or character; while utf8_left > 0: its bits so far */
	uint8_t utf8_left;    /* continuation bytes still due */
	uint8_t utf8_size;    /* bytes of the current character, or of the last */
	uint8_t prefix;       /* of the sequence: one of < = > ?, or 0 */
	uint8_t intermediate; /* the last one, or 0 */
	uint32_t collected;   /* prefix and intermediates, each shifted in from the right */
};

/* Consume one byte. Returns what it is; t->code, t->end and t->state tell the rest. */
enum token tokenizer_feed(struct tokenizer *t, uint8_t byte);

/* The same for a whole character, which is not ASCII, in place of its bytes. size: their number. */
enum token tokenizer_feed_character(struct tokenizer *t, uint32_t code, unsigned size);

/* Whether a state is inside a string. */
static inline bool tokenizer_is_string(enum tokenizer_state state)
{
	return state >= TOKENIZER_STRING;
}

/* Whether a state is inside a SOS, PM or APC. */
static inline bool tokenizer_is_message(enum tokenizer_state state)
{
	return state >= TOKENIZER_STRING && state <= TOKENIZER_APC_DATA;
}

/* Whether a state is inside the data of an OSC or DCS. */
static inline bool tokenizer_is_data(enum tokenizer_state state)
{
	return state >= TOKENIZER_DCS_DATA;
}

/* Whether the tokenizer is between two sequences and two characters. */
static inline bool tokenizer_is_ground(const struct tokenizer *t)
{
	return t->state == TOKENIZER_GROUND && t->utf8_left == 0;
}

/* The bytes that an unfinished character has so far. */
static inline unsigned tokenizer_unfinished(const struct tokenizer *t)
{
	return t->utf8_left > 0 ? (unsigned)(t->utf8_size - t->utf8_left) : 0;
}

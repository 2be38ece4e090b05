/*
 * Filters what the terminal sends: finds our keys, and drops reports that must not go to the
 * session. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The default detach key, C-\, as in abduco and dtach: programs use it least. */
#define KEYBOARD_DETACH '\x1c'

#define KEYBOARD_FENCE "\033[5n" /* a query that each terminal answers with KEYBOARD_FENCE_ANSWER */
#define KEYBOARD_FENCE_ANSWER "\033[0n"

/* Where the parser is, while a fence is up. */
enum keyboard_state { KEYBOARD_TEXT, KEYBOARD_ESCAPE, KEYBOARD_CSI, KEYBOARD_STRING, KEYBOARD_ONE };

/* What was found in the input. */
enum keyboard_what {
	KEYBOARD_NOTHING,
	KEYBOARD_DETACH_KEY, /* the detach key */
	KEYBOARD_COMMAND,    /* a key behind the prefix */
};

#define KEYBOARD_UNKNOWN 0 /* a key behind the prefix that is not a character, such as an arrow */
#define KEYBOARD_SEQUENCE_MAX 48u

/* The first key of ours in the input. */
struct keyboard_found {
	enum keyboard_what what;
	int key;     /* of KEYBOARD_COMMAND */
	size_t rest; /* bytes at the end that have not been parsed */
};

/* State of the filter. */
struct keyboard {
	int detach;                           /* a control character; -1: none */
	int prefix;                           /* a control character; 0 or -1: none */
	bool prefixed;                        /* the prefix was typed: the next key is an action */
	char sequence[KEYBOARD_SEQUENCE_MAX]; /* the bytes of that key so far */
	size_t sequence_length;
	bool pasted;        /* inside of a bracketed paste: no key is the prefix */
	unsigned bracketed; /* matched bytes of the marks around a paste */
	bool fenced;        /* drop sequences until the fence is answered; text passes */
	enum keyboard_state state;
	size_t matched; /* bytes of the answer */
	unsigned asked; /* fences that are not answered yet */
};

/*
 * Parse the name of a control key, such as "C-]" or "^]"; "none" is -1. Returns false for other
 * names.
 */
bool keyboard_parse(const char *name, int *ret_key);

/* Write the name of a control key. */
void keyboard_name(int key, char name[8]);

/*
 * Parse input up to the first key of ours; compact the bytes for the session at the beginning, and
 * return their number. Keys are recognized as bytes and in the encodings of xterm and kitty.
 * Answers to fences are dropped, also late ones, because the server answers the queries of
 * programs. ret_found->rest bytes behind the key are left for the next call; also behind the
 * prefix, where what is KEYBOARD_NOTHING.
 */
size_t keyboard_filter(
	struct keyboard *k, char *bytes, size_t length, struct keyboard_found *ret_found);

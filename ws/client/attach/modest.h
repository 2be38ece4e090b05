/*
 * Reduces output for terminals that support less than xterm: the Linux console, GNU screen, the VT
 * series, dumb terminals. Colours become the nearest available ones; sequences that the terminal
 * does not have, or would print as text, are dropped. TERM chooses a row of the table; without a
 * row everything passes. Pure.
 *
 * Input is well formed, from guard.h or our own. Splitting it elsewhere changes nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEST_HELD_MAX 1000u /* bytes of a sequence; longer ones are dropped */
#define MODEST_OUT_MAX 4096u  /* bytes passed to put() at once */

struct modest_kind; /* a row of the table */

/* Where the parser is. */
enum modest_state { MODEST_TEXT, MODEST_ESCAPE, MODEST_CSI, MODEST_STRING, MODEST_STRING_END };

/* State of the filter. */
struct modest {
	const struct modest_kind *kind; /* NULL: everything passes */
	enum modest_state state;
	char held[MODEST_HELD_MAX + 1]; /* the sequence, behind its introducer */
	size_t length;
	bool refused;        /* the sequence is too long: drop it */
	bool bold, dim;      /* set by the program */
	bool lent;           /* bold is on for a bright colour only */
	char last[4];        /* the character that REP repeats */
	uint8_t last_length; /* its bytes */
	uint8_t last_due;    /* bytes still to come */
	bool (*put)(void *user, const void *bytes, size_t length);
	void *user;
	bool failed;              /* put() has failed */
	char out[MODEST_OUT_MAX]; /* to be put */
	size_t out_length;
};

/*
 * term: the value of TERM, or NULL. put: writes the output; false is an error, after which it is
 * not called.
 */
void modest_init(struct modest *m, const char *term,
	bool (*put)(void *user, const void *bytes, size_t length), void *user);

/* Filter and put bytes. Returns false if put() has failed. */
bool modest_write(struct modest *m, const void *bytes, size_t length);

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

#define DOWNGRADE_HELD_MAX 1000u /* bytes of a sequence; longer ones are dropped */
#define DOWNGRADE_OUT_MAX 4096u  /* bytes passed to put() at once */

struct downgrade_kind; /* a row of the table */

/* Where the parser is. */
enum downgrade_state {
	DOWNGRADE_TEXT,
	DOWNGRADE_ESCAPE,
	DOWNGRADE_CSI,
	DOWNGRADE_STRING,
	DOWNGRADE_STRING_END
};

/* State of the filter. */
struct downgrade {
	const struct downgrade_kind *kind; /* NULL: everything passes */
	enum downgrade_state state;
	char held[DOWNGRADE_HELD_MAX + 1]; /* the sequence, behind its introducer */
	size_t length;
	bool refused;        /* the sequence is too long: drop it */
	bool bold, dim;      /* set by the program */
	bool lent;           /* bold is on for a bright colour only */
	char last[4];        /* the character that REP repeats */
	uint8_t last_length; /* its bytes */
	uint8_t last_due;    /* bytes still to come */
	bool (*put)(void *user, const void *bytes, size_t length);
	void *user;
	bool failed;                 /* put() has failed */
	char out[DOWNGRADE_OUT_MAX]; /* to be put */
	size_t out_length;
};

/*
 * term: the value of TERM, or NULL. put: writes the output; false is an error, after which it is
 * not called.
 */
void downgrade_init(struct downgrade *m, const char *term,
	bool (*put)(void *user, const void *bytes, size_t length), void *user);

/* Filter and put bytes. Returns false if put() has failed. */
bool downgrade_write(struct downgrade *m, const void *bytes, size_t length);

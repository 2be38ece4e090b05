/*
 * What is written to a terminal that takes less than xterm does: the Linux console, GNU screen, the VT series and those that
 * look like one, "dumb" ones. Colours become the nearest that it has; what it would print as text, and what it does not have,
 * is left out. By the name in TERM; all that have no row in the table take everything. Pure.
 *
 * What comes in is well formed, as guard.h has it and as we write it ourselves; cutting it anywhere changes nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEST_HELD_MAX 1000u /* bytes of a sequence; one that is longer is left out */
#define MODEST_OUT_MAX 4096u  /* bytes that are put at once */

struct modest_kind; /* a row of the table */

enum modest_state { MODEST_TEXT, MODEST_ESCAPE, MODEST_CSI, MODEST_STRING, MODEST_STRING_END };

/* Zeroed, it lets everything pass. */
struct modest {
	const struct modest_kind *kind;
	enum modest_state state;
	char held[MODEST_HELD_MAX + 1]; /* of a sequence, behind its introducer */
	size_t length;
	bool refused;         /* it is too long */
	bool bold, dim, lent; /* lent: bold for a bright colour, not for the program */
	char last[4];         /* the character that REP repeats, */
	uint8_t last_length;  /* of so many bytes, */
	uint8_t last_due;     /* of which so many are to come */
	bool (*put)(void *user, const void *bytes, size_t length);
	void *user;
	bool failed;              /* put() has */
	char out[MODEST_OUT_MAX]; /* what is to be put */
	size_t out_length;
};

/* term: as in TERM, or NULL. put: where to; false is an error, after which nothing follows. */
void modest_init(struct modest *m, const char *term,
	bool (*put)(void *user, const void *bytes, size_t length), void *user);

/* Returns false where put() has failed. */
bool modest_write(struct modest *m, const void *bytes, size_t length);

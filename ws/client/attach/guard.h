/*
 * Guard: a session's output as the user's own terminal gets it: text, and sequences that draw. None that acts outside of its
 * window (the clipboard, notifications, files, the printer, the size of the window, another program's keys), that makes it
 * answer, or that its state could not be restored from. The server has hidden questions already, by the rules of xterm.js;
 * other terminals parse broken sequences differently, so all that pass are whole, in seven bits and valid UTF-8.
 *
 * Pure; splitting the input anywhere changes only when a sequence comes out.
 */
#pragma once

#include "ring/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARD_HELD_MAX 8000u /* bytes of a sequence; a longer one is left out */

/* Zeroed: between two sequences. */
struct guard {
	bool clipboard; /* programs may set it: an OSC 52 with data passes */
	struct tokenizer tokenizer;
	bool refused;              /* the sequence is left out */
	bool copying;              /* an OSC 52 is passing, as it comes */
	char held[GUARD_HELD_MAX]; /* of the sequence, behind its introducer */
	size_t length;
};

/* Bytes that guard_filter() may write for length bytes. */
#define GUARD_OUTPUT_MAX(length) (2 * (size_t)(length) + GUARD_HELD_MAX + 8)

/* Filter what the session has printed. Returns the number of bytes in dst, which are for the terminal. */
size_t guard_filter(struct guard *g, const char *bytes, size_t length, char *dst);

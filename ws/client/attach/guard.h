/*
 * Filters a session's output for the user's terminal: text and sequences that draw pass. Sequences
 * are dropped that act outside of the window (clipboard, notifications, files, printer, window
 * size), that the terminal answers, or that RESET in tty.c could not undo. The server has blanked
 * queries already, by the rules of xterm.js; because other terminals parse broken sequences
 * differently, only complete sequences pass, in seven bits and valid UTF-8.
 *
 * Pure. Splitting the input elsewhere changes only when a sequence is written.
 */
#pragma once

#include "ring/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARD_HELD_MAX 8000u /* bytes of a sequence; longer ones are dropped */

/* State of the filter. Zeroed: between two sequences. */
struct guard {
	bool clipboard; /* let programs set the clipboard (OSC 52 with data) */
	struct tokenizer tokenizer;
	bool refused;              /* drop the sequence */
	bool copying;              /* pass an OSC 52 as it comes */
	char held[GUARD_HELD_MAX]; /* the sequence, behind its introducer */
	size_t length;
};

/* The most bytes that guard_filter() writes for length bytes. */
#define GUARD_OUTPUT_MAX(length) (2 * (size_t)(length) + GUARD_HELD_MAX + 8)

/*
 * Filter output into dst, of GUARD_OUTPUT_MAX(length) bytes. Returns the number of bytes written.
 */
size_t guard_filter(struct guard *g, const char *bytes, size_t length, char *dst);

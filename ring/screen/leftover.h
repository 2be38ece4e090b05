/*
 * Leftovers: terminal state that a program has set and not reset, for example because it was
 * killed, and the bytes that reset it. Bracketed paste is excluded: line editors set it themselves.
 */
#pragma once

#include <stddef.h>

#define LEFTOVER_UNDO_MAX 224u /* bytes */

/* See ring/screen/screen.h. */
struct screen;

/* Kinds of leftovers, as flags. */
enum leftover {
	LEFTOVER_MOUSE = 1 << 0,   /* mouse reports: ?9 ?1000 ?1002 ?1003 ?1005 ?1006 ?1015 ?1016 */
	LEFTOVER_REPORTS = 1 << 1, /* focus and colour scheme reports ?1004 ?2031; ?2026 */
	LEFTOVER_KEYS = 1 << 2,    /* ?1, DECKPAM, modifyOtherKeys, kitty's flags */
	LEFTOVER_PEN = 1 << 3,    /* SGR, unless as at the end of the last prompt; character sets */
	LEFTOVER_TEXT = 1 << 4,   /* IRM; no DECAWM; a hidden cursor */
	LEFTOVER_REGION = 1 << 5, /* DECSTBM */
	LEFTOVER_ORIGIN = 1 << 6, /* DECOM */
	LEFTOVER_ALTERNATE = 1 << 7, /* ?1049 */
	LEFTOVER_OTHER_KEYS = 1 << 8, /* kitty's flags of the alternate buffer, which is not in use */
};

/* The leftovers of a screen now. */
unsigned leftover_find(const struct screen *s);

/*
 * Write the bytes that reset leftovers, without a NUL, and return their length. row: the cursor's
 * row, from 1; the cursor is in the leftmost column and stays there, except that LEFTOVER_ALTERNATE
 * restores its old place. Pure.
 */
size_t leftover_undo(unsigned leftovers, unsigned row, char ret_bytes[LEFTOVER_UNDO_MAX]);

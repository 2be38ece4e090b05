/*
 * Leftovers: what a program has done to its terminal and not undone, as one that was killed cannot, and the bytes that undo
 * it. Bracketed paste is none of it: line editors set that themselves.
 */
#pragma once

#include <stddef.h>

#define LEFTOVER_UNDO_MAX 160u /* bytes */

struct screen;

/* Flags. */
enum leftover {
	LEFTOVER_MOUSE = 1 << 0, /* reports of the mouse, ?9 ?1000 ?1002 ?1003 ?1005 ?1006 ?1015 ?1016 */
	LEFTOVER_REPORTS = 1 << 1, /* of focus and colour scheme, ?1004 ?2031; ?2026 */
	LEFTOVER_KEYS = 1 << 2,    /* ?1, DECKPAM, modifyOtherKeys, kitty's flags */
	LEFTOVER_PEN = 1 << 3, /* SGR, but for what the last prompt has ended with; character sets */
	LEFTOVER_TEXT = 1 << 4,      /* IRM; no DECAWM; a hidden cursor */
	LEFTOVER_REGION = 1 << 5,    /* DECSTBM */
	LEFTOVER_ORIGIN = 1 << 6,    /* DECOM */
	LEFTOVER_ALTERNATE = 1 << 7, /* ?1049 */
};

/* What there is now. */
unsigned leftover_find(const struct screen *s);

/*
 * Write the bytes that undo it, without a NUL. row: where the cursor is, from 1, in the leftmost column; it stays there but for
 * LEFTOVER_ALTERNATE, which puts it where it was. Returns their number. Pure.
 */
size_t leftover_undo(unsigned leftovers, unsigned row, char ret_bytes[LEFTOVER_UNDO_MAX]);

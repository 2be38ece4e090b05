/*
 * Splits a text of another program into printable characters, without those that control a
 * terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define GLYPH_BYTES_MAX 16u /* a character and its combining marks; more marks are dropped */

/* A character with its combining marks. */
struct glyph {
	char text[GLYPH_BYTES_MAX]; /* UTF-8; not NUL-terminated */
	unsigned length;            /* at least 1 */
	unsigned width;             /* columns: 1 or 2 */
};

/*
 * Read the next glyph and advance *text, which ends at end. Invalid bytes, control characters and
 * characters that change the direction of writing are skipped. Returns false at the end.
 */
bool glyph_next(const char **text, const char *end, struct glyph *ret_glyph);

/* A text of a program's, as the characters of it that may be drawn: never one that controls a terminal. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define GLYPH_BYTES_MAX 16u /* a character and the marks on it; more marks are left out */

struct glyph {
	char text[GLYPH_BYTES_MAX]; /* UTF-8; not NUL-terminated */
	unsigned length;            /* 1 and up */
	unsigned width;             /* columns: 1 or 2 */
};

/*
 * Take the next one off *text, which ends at end. What is no character, controls or turns the direction of writing is left
 * out. Returns false when there is none. Widths are the locale's, which has to be one of UTF-8.
 */
bool glyph_take(const char **text, const char *end, struct glyph *ret_glyph);

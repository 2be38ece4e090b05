/* Splits input that arrives in pieces into lines of limited length. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The unfinished line. Zeroed at first, except for max. */
struct input_lines {
	size_t max; /* bytes of a line */
	char *text; /* owned */
	size_t length, size;
	bool too_long; /* drop the rest of the line */
};

/*
 * Split bytes. line: called for each complete line, without its end and trailing blanks; text is
 * borrowed, or NULL if the line was too long or memory is short.
 */
void input_lines_feed(struct input_lines *r, const char *bytes, size_t length,
	void (*line)(void *user, const char *text, size_t length), void *user);

/* Free what it owns. */
void input_lines_finish(struct input_lines *r);

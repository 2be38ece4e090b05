/* Lines of what comes in pieces, each as a whole, up to a length. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Zero but for max to begin with. */
struct input_lines {
	size_t max; /* bytes of a line */
	char *text; /* of the line that is coming in; owned */
	size_t length, size;
	bool too_long; /* its rest is dropped */
};

/*
 * Take bytes. line: gets each that is complete, without its end and the blanks in front of that; borrowed. NULL: it was too
 * long, or memory is short.
 */
void input_lines_feed(struct input_lines *r, const char *bytes, size_t length,
	void (*line)(void *user, const char *text, size_t length), void *user);

void input_lines_finish(struct input_lines *r);

/* Collects the bytes that draw something on the terminal. Pure. */
#pragma once

#include "ws/client/draw/picture.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes for the terminal. Zeroed at first. */
struct canvas {
	char *bytes; /* owned */
	size_t length, size;
	bool failed; /* out of memory: bytes are missing */
};

/* Append bytes unchanged. */
void canvas_bytes(struct canvas *p, const void *bytes, size_t length);

/* Move the cursor; x and y count from 0. */
void canvas_move(struct canvas *p, unsigned x, unsigned y);

/* Append n blanks. */
void canvas_blanks(struct canvas *p, unsigned n);

/*
 * Append the printable characters of a text that fit into cols columns. Returns the columns used.
 */
unsigned canvas_text(struct canvas *p, const char *text, unsigned cols);

/* Append a row of a picture, cut or padded to cols columns. */
void canvas_row(struct canvas *p, const struct picture *s, unsigned row, unsigned cols);

/* Clear the screen. */
void canvas_clear(struct canvas *p);

/* Draw a text in inverse video over a whole row. */
void canvas_line(struct canvas *p, unsigned row, unsigned cols, const char *text);

/* Free the bytes. */
void canvas_finish(struct canvas *p);

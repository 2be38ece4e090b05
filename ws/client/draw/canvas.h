/* What is drawn of ours, as the bytes that draw it. Pure. */
#pragma once

#include "ws/client/draw/picture.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes for the terminal. Zeroed to begin with. */
struct canvas {
	char *bytes; /* owned */
	size_t length, size;
	bool failed; /* memory was short: what is there is not all */
};

/* Bytes as they are: ours. */
void canvas_bytes(struct canvas *p, const void *bytes, size_t length);

/* Where what comes next stands; from 0. */
void canvas_move(struct canvas *p, unsigned x, unsigned y);

void canvas_blanks(struct canvas *p, unsigned n);

/* As much of a text as there are columns for. Returns the columns that it has taken. */
unsigned canvas_text(struct canvas *p, const char *text, unsigned cols);

/* A row of a picture where we are, over so many columns. */
void canvas_row(struct canvas *p, const struct picture *s, unsigned row, unsigned cols);

/* Everything away. */
void canvas_clear(struct canvas *p);

/* A line of our own, over all of a row. */
void canvas_line(struct canvas *p, unsigned row, unsigned cols, const char *text);

void canvas_finish(struct canvas *p);

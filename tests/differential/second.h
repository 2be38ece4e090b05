/*
 * The second terminal: libvterm's VTermScreen. What it is fed goes through rules that keep it alive and that say where it
 * differs; here is only what it has.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECOND_CODES 6u /* code points of a cell that it keeps */

struct second;

struct second *second_create(unsigned rows, unsigned cols);
void second_destroy(struct second *v);

void second_feed(struct second *v, const void *bytes, size_t length);
void second_print(struct second *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A character with its marks, which have to come together. */
void second_put(struct second *v, const uint32_t *codes, unsigned count);

void second_cursor(const struct second *v, unsigned *ret_row, unsigned *ret_col);

/* Rows that may have changed since this was asked last: [first, end). */
void second_changed(struct second *v, unsigned *ret_first, unsigned *ret_end);

/* Code points of a cell, none for a blank one and for a second half. Returns how many. */
unsigned second_cell(
	const struct second *v, unsigned row, unsigned col, uint32_t ret_codes[SECOND_CODES]);

/* Columns of a character, as it counts them. */
unsigned second_width(uint32_t code);

/* The second terminal: libvterm's VTermScreen. The rules, not this file, prevent crashes and explain differences. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECOND_CODES 6u /* code points that it keeps for a cell */

struct second;

struct second *second_create(unsigned rows, unsigned cols);
void second_destroy(struct second *v);

void second_feed(struct second *v, const void *bytes, size_t length);
void second_print(struct second *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Print a character with its marks, which must come together. */
void second_put(struct second *v, const uint32_t *codes, unsigned count);

void second_cursor(const struct second *v, unsigned *ret_row, unsigned *ret_col);

/* Get the rows that may have changed since the last call: [first, end). */
void second_changed(struct second *v, unsigned *ret_first, unsigned *ret_end);

/* Get the code points of a cell: none for a blank cell and for a second half. Returns the number. */
unsigned second_cell(
	const struct second *v, unsigned row, unsigned col, uint32_t ret_codes[SECOND_CODES]);

/* The columns of a character in libvterm. */
unsigned second_width(uint32_t code);

/*
 * The input of the screen's fuzz targets: rows, columns, lines of scrollback and a seed, a byte each; then output. Bytes that do
 * not occur in UTF-8 are commands:
 *   FF rows cols   a resize
 *   FE c n         16 n times c
 *   FD             the end of a piece
 */
#pragma once

#include "tests/fuzz/fuzz.h"
#include "tests/lib/drawn_check.h"
#include "tests/lib/drawn_same.h"

#define SCREEN_OUTPUT_MAX ((size_t)32 << 10)
#define SCREEN_CELLS_MAX 40000u /* larger screens are too slow */

enum screen_step_type { STEP_NOTHING, STEP_OUTPUT, STEP_RESIZE };

struct screen_step {
	enum screen_step_type type;
	uint8_t bytes[4096];
	size_t length;
	unsigned rows, cols;
};

/* Mostly small sides; the largest are at the limits. */
static inline unsigned screen_side(uint8_t byte)
{
	return byte < 160 ? byte : 160 + (byte - 160) * 840 / 95;
}

static inline void screen_sides(struct fuzz_input *in, unsigned *ret_rows, unsigned *ret_cols)
{
	unsigned rows = screen_side(fuzz_byte(in)), cols = screen_side(fuzz_byte(in));
	if (rows * cols > SCREEN_CELLS_MAX)
		rows = SCREEN_CELLS_MAX / cols;
	*ret_rows = rows > 0 ? rows : 1;
	*ret_cols = cols > 0 ? cols : 1;
}

static inline void screen_step(struct fuzz_input *in, struct screen_step *step)
{
	step->type = STEP_NOTHING;
	step->length = 0;
	while (in->left > 0 && step->length < sizeof step->bytes) {
		uint8_t c = *in->at;
		if (c >= 0xfd && c != 0xfe && step->type == STEP_OUTPUT)
			return;
		step->type = STEP_OUTPUT;
		fuzz_byte(in);
		if (c == 0xff) {
			step->type = STEP_RESIZE;
			screen_sides(in, &step->rows, &step->cols);
			return;
		}
		size_t times = c != 0xfd;
		if (c == 0xfe) {
			c = fuzz_byte(in);
			times = (size_t)fuzz_byte(in) * 16;
		}
		for (; times > 0 && step->length < sizeof step->bytes; times--)
			step->bytes[step->length++] = c;
	}
}

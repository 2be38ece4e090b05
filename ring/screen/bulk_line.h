/* Lines of text in bulk, by their bytes: where they begin and end. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BULK_LINE_MAX 4096u /* bytes; longer lines are none of bulk */

/* How many lines of bulk there are from `at` on; ret_end: behind them, ret_stop: what ends them. */
size_t bulk_count_lines(
	const uint8_t *at, const uint8_t *end, const uint8_t **ret_end, const uint8_t **ret_stop);

/*
 * Whether a line has to be printed: it has something that is no character, or a mark without one. high: before it all is
 * ASCII.
 */
bool bulk_is_odd(const uint8_t *at, const uint8_t *high, const uint8_t *end);

/* Where the line before the one at `at` begins; `start` is where the first of all does. */
const uint8_t *bulk_line_before(const uint8_t *start, const uint8_t *at);

/* Where the last n lines before `end` begin. */
const uint8_t *bulk_last_lines(const uint8_t *start, const uint8_t *end, size_t n);

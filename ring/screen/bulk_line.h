/* Finds the lines of bulk text. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BULK_LINE_MAX 4096u /* bytes; longer lines are not bulk */

/* Count lines of bulk from `at` on. *ret_end: their end. *ret_stop: what stopped the count. */
size_t bulk_count_lines(
	const uint8_t *at, const uint8_t *end, const uint8_t **ret_end, const uint8_t **ret_stop);

/*
 * Whether a line must be printed normally, because it has invalid UTF-8 or a mark without a base
 * character. high: the line is ASCII before this.
 */
bool bulk_is_odd(const uint8_t *at, const uint8_t *high, const uint8_t *end);

/* Start of the line before the one at `at`. start: start of the first line. */
const uint8_t *bulk_line_before(const uint8_t *start, const uint8_t *at);

/* Start of the last n lines before `end`. */
const uint8_t *bulk_last_lines(const uint8_t *start, const uint8_t *end, size_t n);

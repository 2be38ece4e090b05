/*
 * Finding a line in output that comes in pieces. A line is matched when it is complete, and after
 * each piece as far as it has come. Of a line longer than LOG_MATCH_LINE only the end is matched.
 * Pure.
 */
#pragma once

#include "ring/search/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_MATCH_LINE 8192u /* characters */

/* The state of a search. */
struct log_match {
	struct pattern *pattern; /* borrowed */
	bool whole_lines; /* do not match incomplete lines: the pattern needs the end of a line */
	uint32_t codes[LOG_MATCH_LINE];
	size_t count;
	bool found; /* then codes[0, count) is the line, and match is the place in it */
	struct pattern_match match;
};

/* Init. The pattern is borrowed. */
void log_match_init(struct log_match *m, struct pattern *pattern, bool whole_lines);

/* Feed valid UTF-8. Returns whether the pattern has been found; further text is ignored then. */
bool log_match_feed(struct log_match *m, const char *text, size_t length);

/* The output ends: match the last line as a complete one. Returns whether it is a match. */
bool log_match_end(struct log_match *m);

/* Write codes[from, to) as UTF-8 to dst, which has space for 4 bytes each. Returns bytes. */
size_t log_match_text(const struct log_match *m, size_t from, size_t to, char *dst);

/* Whether a regular expression ends with an unescaped $. */
bool log_match_needs_line_end(const char *regex);

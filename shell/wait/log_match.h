/*
 * Looking for a line in output that comes in pieces. A line is matched when it is complete, and as far as it
 * has come after each piece; of a longer one than LOG_MATCH_LINE the end is looked at. Pure.
 */
#pragma once

#include "ring/search/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_MATCH_LINE 8192u /* characters */

struct log_match {
	struct pattern *pattern; /* not owned */
	bool whole_lines; /* it asks for the end of a line, so incomplete ones tell nothing */
	uint32_t codes[LOG_MATCH_LINE];
	size_t count;
	bool found; /* then codes[0, count) is the line and match is where */
	struct pattern_match match;
};

void log_match_init(struct log_match *m, struct pattern *pattern, bool whole_lines);

/* Take text: valid UTF-8. Returns whether the pattern has been found; then what follows is ignored. */
bool log_match_feed(struct log_match *m, const char *text, size_t length);

/* Nothing follows: what has come of the last line is one. */
bool log_match_end(struct log_match *m);

/* Write codes[from, to) as UTF-8 to dst, which has 4 bytes for each. Returns bytes. */
size_t log_match_text(const struct log_match *m, size_t from, size_t to, char *dst);

/* Whether a regular expression ends by asking for the end of a line. */
bool log_match_asks_for_end(const char *regex);

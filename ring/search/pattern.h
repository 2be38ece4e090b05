/*
 * Pattern: what is searched for. A text, or a regular expression: the extended ones of POSIX with \w \s \d
 * \b \< \> and their opposites, without back-references. Matches are the leftmost and longest.
 *
 * It is matched by following all possibilities at once, so that the time is at most the text's length times
 * the pattern's, whatever they are. That cannot be said of regexec(), which also takes memory without
 * bound and cannot be stopped. Characters are code points.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_BYTES_MAX 512u
#define PATTERN_STATES_MAX 512u /* after repetitions have been written out */
#define PATTERN_DEPTH_MAX 32u   /* parentheses */
#define PATTERN_REPEAT_MAX 255u /* in braces */

enum pattern_flags {
	PATTERN_REGEX = 1 << 0,
	PATTERN_ANY_CASE = 1 << 1,
};

struct pattern;

/* Of the code points [start, end). */
struct pattern_match {
	size_t start, end;
};

/*
 * Compile one from UTF-8. Returns 0, -ENOMEM, or -EINVAL with *ret_problem telling why: a literal, in
 * English, that goes on with a sentence.
 */
int pattern_create(struct pattern **ret_pattern, const char *text, size_t length, unsigned flags,
	const char **ret_problem);
void pattern_destroy(struct pattern *p);

/* What a code point costs at most, as pattern_find() counts it. */
unsigned pattern_cost(const struct pattern *p);

/*
 * Find the first match that is not empty in codes[from, count), with what is before `from` as context.
 * *work goes down by what was done, a code point, a state of the pattern or an element of a set at a time, to 0 at least.
 */
bool pattern_find(struct pattern *p, const uint32_t *codes, size_t count, size_t from,
	uint64_t *work, struct pattern_match *ret_match);

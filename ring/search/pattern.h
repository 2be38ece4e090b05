/*
 * Pattern: a text, or a POSIX extended regular expression with \w \s \d \b \< \> and their
 * opposites, without back-references. Finds the leftmost longest match.
 *
 * Matching follows all alternatives at once, so its time is at most the length of the text times
 * that of the pattern. regexec() is not used because it has no bounds on time and memory and cannot
 * be stopped. Characters are code points.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_BYTES_MAX 512u
#define PATTERN_STATES_MAX 512u /* after expansion of repetitions */
#define PATTERN_DEPTH_MAX 32u   /* nested parentheses */
#define PATTERN_REPEAT_MAX 255u /* in braces */

/* Flags of pattern_create(). */
enum pattern_flags {
	PATTERN_REGEX = 1 << 0,
	PATTERN_ANY_CASE = 1 << 1,
};

/* A compiled pattern. Holds the state of a search, so use it on one thread at a time. */
struct pattern;

/* A match: code points [start, end). */
struct pattern_match {
	size_t start, end;
};

/*
 * Compile UTF-8 text. Returns 0, -ENOMEM, or -EINVAL with *ret_problem set to a static
 * English text that goes after a colon, such as "unknown escape".
 */
int pattern_create(struct pattern **ret_pattern, const char *text, size_t length, unsigned flags,
	const char **ret_problem);

/* Destroy a pattern; NULL is allowed. */
void pattern_destroy(struct pattern *p);

/* Most work per code point, as counted by pattern_find(). */
unsigned pattern_cost(const struct pattern *p);

/*
 * Find the first non-empty match in codes[from, count); codes before `from` are context. *work is
 * reduced by the work done, but not below 0: one unit per code point, state and element of a set.
 */
bool pattern_find(struct pattern *p, const uint32_t *codes, size_t count, size_t from,
	uint64_t *work, struct pattern_match *ret_match);

/*
 * Path patterns: "*" matches any bytes except a slash, "**" any bytes, "?" one character except a slash; other
 * bytes match themselves. A pattern matches whole names anywhere in a path: (^|/)PATTERN(/|$). So a pattern
 * that matches a directory matches everything below it. Time is at most proportional to the lengths of pattern
 * and path. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_PATTERN_MAX 256u /* bytes */
/* Words of a bit set with a bit for each place. */
#define PATH_PATTERN_WORDS ((PATH_PATTERN_MAX + 1 + 63) / 64)

/* A set of places in a pattern, one bit each. Place i: the first i steps have matched. */
struct path_pattern_states {
	uint64_t words[PATH_PATTERN_WORDS];
};

/* A prepared pattern; has no pointers, so it may be copied. */
struct path_pattern {
	unsigned steps;
	char bytes[PATH_PATTERN_MAX]; /* of each step that is not a wildcard */
	unsigned char kinds[PATH_PATTERN_MAX];
	struct path_pattern_states any;  /* before a "*" or "**" */
	struct path_pattern_states stay; /* before a "**" */
	struct path_pattern_states ones; /* after a "?", which consumes all bytes of a character */
};

/*
 * Whether a text is a valid pattern: 1 to PATH_PATTERN_MAX bytes, not blank, without NUL, and without "[", "]",
 * "{" and "}", which are wildcards elsewhere but not here.
 */
bool path_pattern_is_valid(const char *text, size_t length);

/* Prepare a valid pattern. */
void path_pattern_prepare(struct path_pattern *p, const char *text, size_t length);

/* Whether two patterns have the same steps. */
bool path_pattern_equals(const struct path_pattern *p, const struct path_pattern *other);

/* Whether a pattern matches a path. */
bool path_pattern_matches(const struct path_pattern *p, const char *path, size_t length);

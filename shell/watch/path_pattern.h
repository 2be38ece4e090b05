/*
 * Patterns of paths: "*" is anything without a slash, "**" anything, "?" one character but a slash; all else is itself. A pattern
 * fits a path in which it is one whole name, or several: (^|/)PATTERN(/|$). So what fits a directory fits all below it.
 *
 * Time is proportional to pattern and path, whatever they are. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_PATTERN_MAX 256u /* bytes */
#define PATH_PATTERN_WORDS ((PATH_PATTERN_MAX + 1 + 63) / 64)

/* A set of places in a pattern, one bit each; place i: i steps of it have been met. */
struct path_pattern_places {
	uint64_t words[PATH_PATTERN_WORDS];
};

/* Ready to be matched; no pointers, so it may be copied. */
struct path_pattern {
	unsigned steps;
	char bytes[PATH_PATTERN_MAX]; /* what each step that is no wildcard is */
	unsigned char kinds[PATH_PATTERN_MAX];
	struct path_pattern_places any;  /* before a step that may be nothing */
	struct path_pattern_places stay; /* such a step that takes slashes as well, "**" */
	struct path_pattern_places ones; /* behind a "?", which takes all bytes of a character */
};

/*
 * Whether a text can be a pattern: of 1 to PATH_PATTERN_MAX bytes, not blank, without "[", "]", "{" and "}", which
 * mean something elsewhere and would not here.
 */
bool path_pattern_is_valid(const char *text, size_t length);

/* Prepare one that is valid. */
void path_pattern_prepare(struct path_pattern *p, const char *text, size_t length);

/* Whether two have been prepared from the same text, but for slashes at its end. */
bool path_pattern_is(const struct path_pattern *p, const struct path_pattern *other);

/* Whether it fits a path of so many bytes. */
bool path_pattern_fits(const struct path_pattern *p, const char *path, size_t length);

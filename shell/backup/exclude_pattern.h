/*
 * Patterns of files that a backup excludes: shell wildcards, and "**" as clients of the Sandbox container use
 * it. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define EXCLUDE_PATTERN_MAX 1024u /* bytes */

/*
 * Whether a pattern is valid: 1 to EXCLUDE_PATTERN_MAX bytes, at least one name, no control characters, no "..", no
 * name that begins with "... ", no trailing backslash.
 */
bool exclude_pattern_is_valid(const char *pattern);

/*
 * Write a pattern in the syntax of mksquashfs's exclude files. Names that are "**" are dropped. One line is
 * anchored at the directory; a single name without a leading slash gets a second line, which matches it
 * anywhere.
 */
void exclude_pattern_write(FILE *out, const char *pattern);

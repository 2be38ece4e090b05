/* Patterns of what a backup leaves out: those of shells' paths, with "**" where the container's clients write it. Pure. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define EXCLUDED_MAX 1024u /* bytes */

/* Whether one may be given: 1 to EXCLUDED_MAX bytes, a name or more, no control characters, no ".." and no name that begins with
 * "... ", no backslash at its end. */
bool excluded_is_valid(const char *pattern);

/*
 * Write it as mksquashfs reads it from a file: "**" and slash at its begin, slash and "**" at its end are dropped, between
 * slashes "**" is. One line for where it is anchored at the directory, and, for a single name that
 * does not begin with a slash, one for everywhere below it.
 */
void excluded_write(FILE *out, const char *pattern);

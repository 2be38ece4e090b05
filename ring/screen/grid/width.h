/*
 * Columns of a character, as glibc's wcwidth() counts them, and as on the page
 * (web/src/term/unicode.ts). tests/unicode/README.md has the rules.
 */
#pragma once

#include <stdint.h>

/* Columns of any code point: 0, 1 or 2. */
unsigned width_of(uint32_t code);

/*
 * How many columns a character takes: the tables of Unicode 11 as xterm.js' addon-unicode11 has them, for
 * the page renders with those.
 */
#pragma once

#include <stdint.h>

#define WIDTH_VERSION "11"

/* 0, 1 or 2 columns, for any code point. */
unsigned width_of(uint32_t code);

/* Columns of a character by Unicode 11, as in xterm.js's addon-unicode11, used by the page. */
#pragma once

#include <stdint.h>

/* Columns of any code point: 0, 1 or 2. */
unsigned width_of(uint32_t code);

/* The national and line-drawing character sets of the VT220, as xterm.js has them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether there is a set of this final byte; 'B', ASCII, is one. */
bool charset_exists(uint8_t final);

/* What an ASCII character is in the set; itself where nothing else is said. */
uint32_t charset_map(uint8_t final, uint32_t code);

/* What has to be typed to get a character in the set; 0 if there is nothing. */
uint32_t charset_unmap(uint8_t final, uint32_t code);

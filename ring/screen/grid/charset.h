/* The national and line-drawing character sets of the VT220, as xterm.js has them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether there is a set with this final byte. 'B' is ASCII. */
bool charset_exists(uint8_t final);

/* Map an ASCII character to the set; characters that the set does not replace map to themselves. */
uint32_t charset_map(uint8_t final, uint32_t code);

/* Inverse of charset_map(): the character to send; 0 if there is none. */
uint32_t charset_unmap(uint8_t final, uint32_t code);

/* Finds the nearest colour of xterm's palette. Pure. */
#pragma once

#include <stdint.h>

/* Returns colour number index, below 256, as 0xRRGGBB. */
uint32_t palette_colour(unsigned index);

/* Returns the nearest of the first 16 colours. */
unsigned palette_nearest_16(uint32_t rgb);

/* Returns the nearest of the other 240 colours. */
unsigned palette_nearest_256(uint32_t rgb);

/* The nearest of the colours that a terminal has. Pure. */
#pragma once

#include <stdint.h>

/* The colour of xterm's palette with this number, below 256, as 0xRRGGBB. */
uint32_t modest_colour_of(unsigned index);

/* The nearest to one: of the first 16, or of all but them. */
unsigned modest_colour_near_16(uint32_t rgb);
unsigned modest_colour_near_256(uint32_t rgb);

#include "ws/client/attach/palette.h"

static const uint32_t first[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
	0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff,
	0xffffff};

static uint32_t step(unsigned level)
{
	return level > 0 ? 55 + 40 * level : 0;
}

uint32_t palette_colour(unsigned index)
{
	if (index < 16)
		return first[index];
	if (index >= 232) {
		uint32_t grey = 8 + 10 * (index - 232);
		return grey << 16 | grey << 8 | grey;
	}
	index -= 16;
	return step(index / 36) << 16 | step(index / 6 % 6) << 8 | step(index % 6);
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	uint32_t sum = 0;
	for (unsigned shift = 0; shift < 24; shift += 8) {
		int d = (int)(a >> shift & 0xff) - (int)(b >> shift & 0xff);
		sum += (uint32_t)(d * d);
	}
	return sum;
}

static unsigned nearest(uint32_t rgb, unsigned from, unsigned end)
{
	unsigned best = from;
	for (unsigned i = from + 1; i < end; i++)
		if (distance(rgb, palette_colour(i)) < distance(rgb, palette_colour(best)))
			best = i;
	return best;
}

unsigned palette_nearest_16(uint32_t rgb)
{
	return nearest(rgb, 0, 16);
}

unsigned palette_nearest_256(uint32_t rgb)
{
	return nearest(rgb, 16, 256);
}

/* Colours of terminals. */
#include "ring/theme.h"

#include "ring/hex.h"

#include <string.h>

const struct theme theme_default = {
	.foreground = 0xe4e1d8,
	.background = 0x101317,
	.cursor = 0xf2b84b,
	.colors = {0x23272f, 0xf0776a, 0x8fc27a, 0xe8bb64, 0x78aeea, 0xc796e8, 0x6bc5c6, 0xcfccc3,
		0x767d8b, 0xff9a8e, 0xacdb98, 0xf7d48c, 0x9cc8fa, 0xdeb6f7, 0x92dfdf, 0xfaf7ef},
};

bool theme_equals(const struct theme *a, const struct theme *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

/* About the relative luminance, with a square for the curve of sRGB: enough to compare two colours. */
static uint32_t luminance(uint32_t color)
{
	uint32_t r = color >> 16 & 0xff, g = color >> 8 & 0xff, b = color & 0xff;
	return 2126 * r * r + 7152 * g * g + 722 * b * b;
}

bool theme_is_dark(const struct theme *t)
{
	return luminance(t->background) <= luminance(t->foreground);
}

bool theme_parse_color(const char *text, uint32_t *ret_color)
{
	uint32_t color = 0;
	if (!text || *text != '#' || strlen(text) != 7)
		return false;
	for (unsigned i = 1; i < 7; i++) {
		int digit = hex_value(text[i]);
		if (digit < 0)
			return false;
		color = color << 4 | (uint32_t)digit;
	}
	*ret_color = color;
	return true;
}

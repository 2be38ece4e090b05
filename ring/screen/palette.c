/* Colours that programs can query and set. The others are those of the theme. */
#include "ring/hex.h"
#include "ring/screen/screen_internal.h"

#include <stdlib.h>
#include <strings.h>

#define IS_SET UINT32_C(0xff000000)

/* The theme's colours, then the 6 x 6 x 6 cube and the greys of xterm's 256 colours. */
static uint32_t standard(const struct theme *theme, unsigned index)
{
	static const uint8_t level[6] = {0, 95, 135, 175, 215, 255};
	if (index < THEME_COLORS)
		return theme->colors[index];
	if (index >= 232)
		return (8 + (index - 232) * 10) * UINT32_C(0x010101);
	index -= 16;
	return (uint32_t)level[index / 36] << 16 | (uint32_t)level[index / 6 % 6] << 8 |
		level[index % 6];
}

bool palette_set(struct palette *p, unsigned index, uint32_t rgb)
{
	if (!p->indexed)
		p->indexed = calloc(PALETTE_SIZE, sizeof *p->indexed);
	if (p->indexed)
		p->indexed[index] = IS_SET | rgb;
	return p->indexed != NULL;
}

void palette_restore(struct palette *p, int index)
{
	if (index >= 0 && p->indexed)
		p->indexed[index] = 0;
	if (index >= 0)
		return;
	free(p->indexed);
	p->indexed = NULL;
}

uint32_t palette_get(const struct palette *p, unsigned index)
{
	return p->indexed && p->indexed[index] ? p->indexed[index] & COLOR_VALUE
					       : standard(&p->theme, index);
}

uint32_t palette_dynamic(const struct palette *p, unsigned which)
{
	const uint32_t usual[3] = {p->theme.foreground, p->theme.background, p->theme.cursor};
	return p->dynamic[which] ? p->dynamic[which] & COLOR_VALUE : usual[which];
}

static bool parse_hex(const char *text, size_t digits, uint32_t *ret_value)
{
	uint32_t value = 0;
	for (size_t i = 0; i < digits; i++) {
		int digit = hex_value(text[i]);
		if (digit < 0)
			return false;
		value = value << 4 | (uint32_t)digit;
	}
	*ret_value = value;
	return true;
}

/* rgb:r/g/b with 1 to 4 digits each, all alike; each is a fraction of its largest value. */
static bool parse_fractions(const char *spec, size_t length, uint32_t *ret_rgb)
{
	size_t digits = (length - 2) / 3;
	uint32_t part[3];
	if (length != digits * 3 + 2 || digits < 1 || digits > 4)
		return false;
	for (size_t i = 0; i < 3; i++) {
		const char *at = spec + i * (digits + 1);
		if (!parse_hex(at, digits, &part[i]) || (i < 2 && at[digits] != '/'))
			return false;
		uint32_t most = (UINT32_C(1) << 4 * digits) - 1;
		part[i] = (part[i] * 255 * 2 + most) / (most * 2);
	}
	*ret_rgb = part[0] << 16 | part[1] << 8 | part[2];
	return true;
}

/* #rgb with 1 to 4 digits each; the first two digits count. */
static bool parse_digits(const char *spec, size_t length, uint32_t *ret_rgb)
{
	size_t digits = length / 3;
	uint32_t part[3];
	if (length % 3 != 0 || digits < 1 || digits > 4)
		return false;
	for (size_t i = 0; i < 3; i++) {
		if (!parse_hex(spec + i * digits, digits, &part[i]))
			return false;
		part[i] = digits == 1 ? part[i] << 4 : part[i] >> (4 * (digits - 2));
	}
	*ret_rgb = part[0] << 16 | part[1] << 8 | part[2];
	return true;
}

bool palette_parse(const char *spec, size_t length, uint32_t *ret_rgb)
{
	if (length > 4 && strncasecmp(spec, "rgb:", 4) == 0)
		return parse_fractions(spec + 4, length - 4, ret_rgb);
	return length > 1 && *spec == '#' && parse_digits(spec + 1, length - 1, ret_rgb);
}

/* Colours that programs can query and set. The defaults are those of the page's dark theme. */
#include "ring/hex.h"
#include "ring/screen/screen_internal.h"

#include <stdlib.h>
#include <strings.h>

#define IS_SET UINT32_C(0xff000000)

static const uint32_t basic[16] = {0x23272f, 0xf0776a, 0x8fc27a, 0xe8bb64, 0x78aeea, 0xc796e8,
	0x6bc5c6, 0xcfccc3, 0x767d8b, 0xff9a8e, 0xacdb98, 0xf7d48c, 0x9cc8fa, 0xdeb6f7, 0x92dfdf,
	0xfaf7ef};
static const uint32_t dynamic[3] = {0xe4e1d8, 0x101317, 0xf2b84b};

/* The 6 x 6 x 6 cube and the greys of xterm's 256 colours. */
static uint32_t standard(unsigned index)
{
	static const uint8_t level[6] = {0, 95, 135, 175, 215, 255};
	if (index < 16)
		return basic[index];
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
	return p->indexed && p->indexed[index] ? p->indexed[index] & COLOR_VALUE : standard(index);
}

uint32_t palette_dynamic(const struct palette *p, unsigned which)
{
	return p->dynamic[which] ? p->dynamic[which] & COLOR_VALUE : dynamic[which];
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

#include "ws/client/draw/glyph.h"

#include "ring/screen/grid/width.h"

#include <stdint.h>
#include <string.h>

/* Decode a character of UTF-8. Returns its length; *ret_c is 0 for invalid bytes. */
static unsigned decode(const unsigned char *p, size_t left, uint32_t *ret_c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	*ret_c = 0;
	if (n == 0 || n > left || p[0] > 0xf4)
		return 1;
	uint32_t c = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
	for (unsigned i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return i;
		c = c << 6 | (p[i] & 0x3fu);
	}
	if (c >= least[n] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff))
		*ret_c = c;
	return n;
}

/*
 * Invisible characters with an effect: C0, C1, line and paragraph separators, direction of writing,
 * tags.
 */
static bool has_effect(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x61c, 0x61c}, {0x180e, 0x180e},
		{0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff},
		{0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* Columns; -1: must not be drawn. */
static int columns_of(uint32_t c)
{
	return has_effect(c) ? -1 : (int)width_of(c);
}

static void add_bytes(struct glyph *g, const char *bytes, unsigned n)
{
	if (g->length + n > sizeof g->text)
		return;
	memcpy(g->text + g->length, bytes, n);
	g->length += n;
}

bool glyph_next(const char **text, const char *end, struct glyph *ret_glyph)
{
	struct glyph g = {.length = 0};
	const char *p = *text;
	while (p < end) {
		uint32_t c;
		unsigned n = decode((const unsigned char *)p, (size_t)(end - p), &c);
		int width = columns_of(c);
		if (width > 0 && g.length > 0)
			break;
		/* Skip a combining mark without a character. */
		if (width > 0 || (width == 0 && g.length > 0))
			add_bytes(&g, p, n);
		if (width > 0)
			g.width = (unsigned)width;
		p += n;
	}
	*text = p;
	if (g.length > 0)
		*ret_glyph = g;
	return g.length > 0;
}

/* A table of what is not seen, and one rule for what is seen only together with what stands before it. */
#include "ws/mcp/visible.h"

#include "ring/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Default_Ignorable_Code_Point and Cf of Unicode 15, and line ends that are none; but for joiners and selectors. */
static const struct {
	uint32_t from, to;
} hidden[] = {{0x7f, 0x9f}, {0xad, 0xad}, {0x34f, 0x34f}, {0x600, 0x605}, {0x61c, 0x61c},
	{0x6dd, 0x6dd}, {0x70f, 0x70f}, {0x890, 0x891}, {0x8e2, 0x8e2}, {0x115f, 0x1160},
	{0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
	{0x2060, 0x206f}, {0x3164, 0x3164}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
	{0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

static bool is_hidden(uint32_t code)
{
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		if (code >= hidden[i].from && code <= hidden[i].to)
			return true;
	return false;
}

/* Joiners and variation selectors: scripts and emoji need one, behind a character; more carry what nobody sees. */
static bool attaches(uint32_t code)
{
	return code == 0x200c || code == 0x200d || (code >= 0xfe00 && code <= 0xfe0f);
}

static bool is_seen(uint32_t code, uint32_t before, bool line)
{
	if (code < ' ')
		return !line && (code == '\n' || code == '\t');
	/* A joiner may follow a selector, as in a rainbow flag. */
	if (attaches(code))
		return before > 0x7f && (!attaches(before) || (code == 0x200d && before >= 0xfe00));
	return !is_hidden(code);
}

size_t visible_text(const char *text, size_t length, bool line, char *dst)
{
	uint32_t before = 0;
	size_t n = 0;
	for (size_t at = 0; at < length;) {
		uint32_t code = 0;
		bool shown = true;
		unsigned size = text[at]
			? utf8_decode((const uint8_t *)text + at, length - at, &code)
			: 1;
		if (size == 0) {
			code = 0xfffd;
			n += (size_t)sprintf(dst + n, "\357\277\275");
		} else if ((shown = is_seen(code, before, line))) {
			memcpy(dst + n, text + at, size);
			n += size;
		} else if (code == '\n' || code == '\t') {
			n += (size_t)sprintf(dst + n, code == '\n' ? "\\n" : "\\t");
		} else {
			n += (size_t)sprintf(dst + n, "\\u{%X}", (unsigned)code);
		}
		at += size ? size : 1;
		before = shown ? code : 0; /* what is written out ends in a brace */
	}
	dst[n] = '\0';
	return n;
}

bool visible_is_ascii(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

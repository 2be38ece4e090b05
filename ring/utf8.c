/* The functions that are too long to be inline. */
#include "ring/utf8.h"

#include <string.h>

unsigned utf8_decode(const uint8_t *src, size_t length, uint32_t *ret_code)
{
	unsigned size = length > 0 ? utf8_lead_length(src[0]) : 0;
	if (size == 0 || size > length)
		return 0;
	uint32_t code = size == 1 ? src[0] : src[0] & (0x7fu >> size);
	for (unsigned i = 1; i < size; i++) {
		if (!utf8_is_continuation(src[i]))
			return 0;
		code = code << 6 | (src[i] & 0x3fu);
	}
	if (!utf8_is_character(code, size))
		return 0;
	*ret_code = code;
	return size;
}

bool utf8_continues(const uint8_t *held, size_t count, uint8_t byte)
{
	if (count == 0)
		return byte < 0x80 || (byte >= 0xc2 && byte <= 0xf4);
	if (count >= utf8_lead_length(held[0]) || !utf8_is_continuation(byte))
		return false;
	if (count > 1)
		return true;
	/* No overlong forms, no surrogates, nothing after U+10FFFF. */
	switch (held[0]) {
	case 0xe0:
		return byte >= 0xa0;
	case 0xed:
		return byte <= 0x9f;
	case 0xf0:
		return byte >= 0x90;
	case 0xf4:
		return byte <= 0x8f;
	default:
		return true;
	}
}

bool utf8_is_valid(const void *text, size_t length)
{
	const uint8_t *at = text, *end = at + length;
	uint32_t code;
	while (at < end) {
		unsigned size = *at < 0x80 ? 1 : utf8_decode(at, (size_t)(end - at), &code);
		if (size == 0)
			return false;
		at += size;
	}
	return true;
}

bool utf8_is_valid_string(const char *text)
{
	return utf8_is_valid(text, strlen(text));
}

bool utf8_is_clean(const uint8_t *text, size_t length)
{
	uint32_t code;
	for (size_t i = 0, size; i < length; i += size) {
		size = utf8_decode(text + i, length - i, &code);
		if (size == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0))
			return false;
	}
	return true;
}

size_t utf8_cut(const void *text, size_t length, size_t max)
{
	const uint8_t *bytes = text;
	if (length <= max)
		return length;
	while (max > 0 && utf8_is_continuation(bytes[max]))
		max--;
	return max;
}

size_t utf8_leading_continuations(const void *bytes, size_t length, size_t max)
{
	const uint8_t *src = bytes;
	size_t n = 0;
	while (n < max && n < length && utf8_is_continuation(src[n]))
		n++;
	return n;
}

size_t utf8_incomplete(const void *bytes, size_t length)
{
	const uint8_t *end = (const uint8_t *)bytes + length;
	for (size_t n = 1; n < UTF8_MAX && n <= length; n++) {
		const uint8_t *lead = end - n;
		if (utf8_is_continuation(*lead))
			continue;
		size_t held = 0;
		while (held < n && utf8_continues(lead, held, lead[held]))
			held++;
		return held == n && n < utf8_lead_length(*lead) ? n : 0;
	}
	return 0;
}

/* Default_Ignorable_Code_Point, Cf (Unicode 16), U+2028, U+2029; no joiners, selectors, C0. */
static const struct {
	uint32_t from, to;
} hidden[] = {{0x7f, 0x9f}, {0xad, 0xad}, {0x34f, 0x34f}, {0x600, 0x605}, {0x61c, 0x61c},
	{0x6dd, 0x6dd}, {0x70f, 0x70f}, {0x890, 0x891}, {0x8e2, 0x8e2}, {0x115f, 0x1160},
	{0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
	{0x2060, 0x206f}, {0x3164, 0x3164}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
	{0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

bool utf8_is_hidden(uint32_t code)
{
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		if (code >= hidden[i].from && code <= hidden[i].to)
			return true;
	return false;
}

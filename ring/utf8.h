/* UTF-8 of single characters; what goes in is known to be valid, but for utf8_is_clean(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Write code to dst, 4 bytes at most. Returns how many. */
static inline unsigned utf8_encode(uint32_t code, uint8_t *dst)
{
	if (code < 0x80) {
		dst[0] = (uint8_t)code;
		return 1;
	}
	if (code < 0x800) {
		dst[0] = (uint8_t)(0xc0 | code >> 6);
		dst[1] = (uint8_t)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		dst[0] = (uint8_t)(0xe0 | code >> 12);
		dst[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
		dst[2] = (uint8_t)(0x80 | (code & 0x3f));
		return 3;
	}
	dst[0] = (uint8_t)(0xf0 | code >> 18);
	dst[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
	dst[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
	dst[3] = (uint8_t)(0x80 | (code & 0x3f));
	return 4;
}

/* Read one character that utf8_encode() has written. Returns its bytes. */
static inline unsigned utf8_decode(const uint8_t *src, uint32_t *ret_code)
{
	if (src[0] < 0x80) {
		*ret_code = src[0];
		return 1;
	}
	if (src[0] < 0xe0) {
		*ret_code = (src[0] & 0x1fu) << 6 | (src[1] & 0x3fu);
		return 2;
	}
	if (src[0] < 0xf0) {
		*ret_code = (src[0] & 0x0fu) << 12 | (src[1] & 0x3fu) << 6 | (src[2] & 0x3fu);
		return 3;
	}
	*ret_code = (src[0] & 0x07u) << 18 | (src[1] & 0x3fu) << 12 | (src[2] & 0x3fu) << 6 |
		(src[3] & 0x3fu);
	return 4;
}

/* Whether text is UTF-8 without controls of C0 and C1. */
static inline bool utf8_is_clean(const uint8_t *text, size_t length)
{
	for (size_t i = 0, size; i < length; i += size) {
		uint8_t again[4], c = text[i];
		uint32_t code;
		size = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
		if (size == 0 || size > length - i)
			return false;
		utf8_decode(text + i, &code);
		/* What is encoded in any other way than ours is not valid. */
		if (utf8_encode(code, again) != size)
			return false;
		for (size_t k = 0; k < size; k++)
			if (again[k] != text[i + k])
				return false;
		if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code > 0x10ffff ||
			(code >= 0xd800 && code < 0xe000))
			return false;
	}
	return true;
}

/* UTF-8 of single characters; what goes in is known to be valid. */
#pragma once

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

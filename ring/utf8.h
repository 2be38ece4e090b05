/*
 * UTF-8 (RFC 3629), in one place, so that all code agrees on what a character is and where text may
 * be cut. Pure: streaming decoders keep their bytes themselves.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_MAX 4u /* longest encoding of a character in bytes */

/* Whether a byte is a continuation byte. */
static inline bool utf8_is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/*
 * Length of the character that a lead byte announces, by its pattern alone: 1 to 4; 0 for a
 * continuation or an impossible byte. Some patterns, such as 0xc0, never begin a valid character.
 */
static inline unsigned utf8_lead_length(uint8_t byte)
{
	return byte < 0x80    ? 1
		: byte < 0xc0 ? 0
		: byte < 0xe0 ? 2
		: byte < 0xf0 ? 3
		: byte < 0xf8 ? 4
			      : 0;
}

/* Length of a code point in bytes. */
static inline unsigned utf8_size(uint32_t code)
{
	return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* Whether `size` bytes are the right length for code, and code is a Unicode scalar value. */
static inline bool utf8_is_character(uint32_t code, unsigned size)
{
	return utf8_size(code) == size && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/* Encode code to dst, at most UTF8_MAX bytes. Returns the length. */
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

/* Decode a character of valid text. Returns its length. */
static inline unsigned utf8_read(const uint8_t *src, uint32_t *ret_code)
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

/*
 * Decode the character at the start of length bytes. Returns its length, 0 if it is invalid. Stops
 * at a NUL, so UTF8_MAX can be passed as the length of a string.
 */
unsigned utf8_decode(const uint8_t *src, size_t length, uint32_t *ret_code);

/*
 * Whether byte continues a character that begins with held[0, count). If not, a maximal ill-formed
 * subpart (Unicode Standard, 3.9) ends here. count 0: whether byte can begin a character.
 */
bool utf8_continues(const uint8_t *held, size_t count, uint8_t byte);

/* Whether text[0, length) is valid UTF-8. */
bool utf8_is_valid(const void *text, size_t length);

/* The same for a string. JSON requires it. */
bool utf8_is_valid_string(const char *text);

/* Whether text is valid UTF-8 without C0 and C1 controls. */
bool utf8_is_clean(const uint8_t *text, size_t length);

/*
 * Whether a character is invisible or changes where others appear: DEL, C1 controls, directional
 * marks, tags and other format characters. Not joiners and variation selectors, which scripts need,
 * nor C0 controls.
 */
bool utf8_is_hidden(uint32_t code);

/* The largest length up to max that does not cut a character; length if that is smaller. */
size_t utf8_cut(const void *text, size_t length, size_t max);

/* Number of continuation bytes at the beginning of bytes, at most max. */
size_t utf8_leading_continuations(const void *bytes, size_t length, size_t max);

/* Number of bytes at the end of bytes that begin an incomplete character: 0 to 3. */
size_t utf8_incomplete(const void *bytes, size_t length);

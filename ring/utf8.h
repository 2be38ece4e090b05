/*
 * UTF-8, as RFC 3629 has it: one home for its arithmetic, so that everybody agrees about what a character is
 * and where text may be cut. Pure, no state: a decoder that gets its bytes one by one keeps them itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_MAX 4u /* bytes of a character */

/* Whether a byte can only stand inside a character, never at its beginning. */
static inline bool utf8_is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/*
 * Bytes of the character that a byte announces, by its pattern alone: 1 to 4; 0 when it is a continuation or
 * announces nothing. A pattern is a promise: 0xc0 announces two bytes, and no character begins so.
 */
static inline unsigned utf8_announced(uint8_t byte)
{
	return byte < 0x80    ? 1
		: byte < 0xc0 ? 0
		: byte < 0xe0 ? 2
		: byte < 0xf0 ? 3
		: byte < 0xf8 ? 4
			      : 0;
}

/* Bytes of a code point. */
static inline unsigned utf8_size(uint32_t code)
{
	return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* Whether size bytes may stand for code: no more of them than it needs, and it is no surrogate and in Unicode. */
static inline bool utf8_is_character(uint32_t code, unsigned size)
{
	return utf8_size(code) == size && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/* Write code to dst, UTF8_MAX bytes at most. Returns how many. */
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

/* Read one character of text that is known to be valid, such as utf8_encode() writes. Returns its bytes. */
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
 * Decode the character that length bytes begin with. Returns its bytes, 0 when there is none. A NUL ends them too,
 * so UTF8_MAX will do for the length of a string.
 */
unsigned utf8_decode(const uint8_t *src, size_t length, uint32_t *ret_code);

/*
 * Whether byte goes on with a character that begins with held[0, count): the maximal ill-formed parts of the
 * Unicode Standard end where this says no. count 0: whether a character begins with byte.
 */
bool utf8_goes_on(const uint8_t *held, size_t count, uint8_t byte);

/* Whether text[0, length) is UTF-8. */
bool utf8_is_valid(const void *text, size_t length);

/* The same of a string, as everything that goes into JSON has to be. */
bool utf8_is_valid_string(const char *text);

/* Whether text is UTF-8 without controls of C0 and C1. */
bool utf8_is_clean(const uint8_t *text, size_t length);

/*
 * Whether a character is read but not seen, or has others seen where they do not stand: DEL and C1 controls, marks of direction,
 * tags and other format characters. Joiners and variation selectors are not, which scripts need, nor are C0 controls.
 */
bool utf8_is_hidden(uint32_t code);

/* The largest length up to max at which text[0, length) is not cut inside a character; length when it is less. */
size_t utf8_cut(const void *text, size_t length, size_t max);

/* How many bytes at the beginning of bytes can only be the rest of a character: 0 to max. */
size_t utf8_orphaned(const void *bytes, size_t length, size_t max);

/* How many bytes at the end of bytes are the beginning of a character that is not complete: 0 to 3. */
size_t utf8_incomplete(const void *bytes, size_t length);

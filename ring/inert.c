/* ASCII is scanned eight bytes at a time, anything else by whole characters and sequences. */
#include "ring/inert.h"

#include "ring/utf8.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ESC 0x1b
#define ENQ 0x05
#define CSI_MAX 32 /* longest parameters scanned */

/* Sets the high bit of each byte that is ESC, ENQ or not ASCII. Only the first set bit is exact. */
static uint64_t special_bytes(uint64_t w)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
	uint64_t esc = w ^ ones * ESC, enq = w ^ ones * ENQ;
	return (w | ((esc - ones) & ~esc) | ((enq - ones) & ~enq)) & high;
}

static const uint8_t *skip_ascii(const uint8_t *p, const uint8_t *end)
{
	uint64_t w, special;
	while (end - p >= (ptrdiff_t)sizeof w) {
		memcpy(&w, p, sizeof w);
		special = special_bytes(le64toh(w));
		if (special != 0)
			return p + (__builtin_ctzll(special) >> 3);
		p += sizeof w;
	}
	while (p < end && *p < 0x80 && *p != ESC && *p != ENQ)
		p++;
	return p;
}

/* U+0080 to U+009F, in two bytes. */
static bool is_c1(const uint8_t *p)
{
	return p[0] == 0xc2 && p[1] < 0xa0;
}

/*
 * Skip a whole character that the decoder accepts or drops and that is not a C1 control. Stay at
 * anything else, such as an incomplete character; the scanner handles it.
 */
static const uint8_t *skip_character(const uint8_t *p, const uint8_t *end)
{
	ptrdiff_t left = end - p;
	if (*p < 0xc0) /* stray */
		return p + 1;
	if (*p < 0xe0)
		return left >= 2 && utf8_is_continuation(p[1]) && !is_c1(p) ? p + 2 : p;
	if (*p < 0xf0)
		return left >= 3 && utf8_is_continuation(p[1]) && utf8_is_continuation(p[2]) ? p + 3
											     : p;
	if (*p < 0xf8)
		return left >= 4 && utf8_is_continuation(p[1]) && utf8_is_continuation(p[2]) &&
				utf8_is_continuation(p[3])
			? p + 4
			: p;
	return p + 1;
}

/* Skip a whole CSI sequence that only sets colours, moves the cursor or erases. */
static const uint8_t *skip_csi(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *q = p + 2;
	if (end - p < 3 || p[1] != '[')
		return p;
	if (end - q > CSI_MAX)
		end = q + CSI_MAX;
	while (q < end && *q >= '0' && *q <= ';')
		q++;
	return q < end && (*q == 'm' || (*q >= 'A' && *q <= 'M')) ? q + 1 : p;
}

static const uint8_t *skip_characters(const uint8_t *p, const uint8_t *end)
{
	while (p < end && *p >= 0x80) {
		const uint8_t *next = skip_character(p, end);
		if (next == p)
			break;
		p = next;
	}
	return p;
}

const uint8_t *inert_skip(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *before;
	do {
		before = p = skip_ascii(p, end);
		p = skip_characters(p, end);
		if (p < end && *p == ESC)
			p = skip_csi(p, end);
	} while (p != before);
	return p;
}

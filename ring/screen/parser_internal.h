/* Shared by the files of the parser: its strings, and runs of text. */
#pragma once

#include "ring/screen/parser.h"

#include <endian.h>
#include <string.h>

/* Begin an empty string. */
void parser_string_begin(struct parser *p);

/* Append one character. */
void parser_string_put(struct parser *p, uint32_t code);

/* Append printable ASCII. */
void parser_string_append(struct parser *p, const uint8_t *ascii, size_t length);

/* Free the memory of an unusually long string. */
void parser_string_release(struct parser *p);

/* Free all of it. */
void parser_string_drop(struct parser *p);

/* Report it as an OSC, "N;data", or "N" alone. */
void parser_end_osc(struct parser *p);

/* Report it as a DCS. */
void parser_end_dcs(struct parser *p);

#define DEL 0x7f

/* The end of a run of printable ASCII. */
static inline const uint8_t *parser_text_end(const uint8_t *at, const uint8_t *end)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
	while (end - at >= 8) {
		uint64_t w;
		memcpy(&w, at, sizeof w);
		w = le64toh(w);
		/* High bits where a byte is not ASCII, below a space (exact up to the first), or DEL. */
		uint64_t special = (w | (w - ones * 0x20) | (w + ones)) & high;
		if (special != 0)
			return at + (__builtin_ctzll(special) >> 3);
		at += 8;
	}
	while (at < end && *at >= 0x20 && *at < DEL)
		at++;
	return at;
}

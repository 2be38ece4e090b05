/*
 * Output of programs as text for JSON: an incremental UTF-8 decoder for input that is cut anywhere. An incomplete character
 * is held back until it is complete. Each maximal ill-formed part becomes one U+FFFD, as in the Encoding Standard
 * (https://encoding.spec.whatwg.org/#utf-8-decoder) and in browsers. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* State of a decoder; zeroed: initial. */
struct text_decoder {
	uint8_t held[4]; /* an incomplete character */
	unsigned held_count;
	bool lossy; /* something has been replaced so far */
};

/* Bytes that text_decode() may write for length bytes. */
#define TEXT_SIZE(length) (3 * (size_t)(length) + 3)

/* Decode bytes to dst, which has TEXT_SIZE(length) bytes and gets no terminator. Returns its length. NUL stays NUL. */
size_t text_decode(struct text_decoder *d, const void *bytes, size_t length, char *dst);

/* End the input, or mark a gap in it: an incomplete character becomes U+FFFD in dst (3 bytes). Returns its length. */
size_t text_decode_end(struct text_decoder *d, char *dst);

/* text_decode() as a JSON string; last: with text_decode_end(). Returns a new reference, NULL when memory is short. */
json_t *text_json(struct text_decoder *d, const void *bytes, size_t length, bool last);

/* A string (NULL: empty) as JSON, with invalid UTF-8 replaced. Returns a new reference, NULL when memory is short. */
json_t *text_string_json(const char *string);

/*
 * Bytes that programs write, as text for JSON: UTF-8 that comes in pieces, cut where it happens to be. A
 * character that is not complete yet is held back until it is; what is no UTF-8 becomes U+FFFD, once for
 * each maximal ill-formed part, as the Encoding Standard (https://encoding.spec.whatwg.org/#utf-8-decoder)
 * has it and browsers do. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero is a fresh one. */
struct text_decoder {
	uint8_t held[4]; /* the beginning of a character */
	unsigned held_count;
	bool lossy; /* something has been replaced so far */
};

/* Bytes that text_decode() may write for length bytes. */
#define TEXT_SIZE(length) (3 * (size_t)(length) + 3)

/*
 * Write the text that bytes complete to dst, which has TEXT_SIZE(length) bytes; nothing ends it.
 * Returns its length. NUL stays NUL.
 */
size_t text_decode(struct text_decoder *d, const void *bytes, size_t length, char *dst);

/* Nothing follows, or something is missing: what is held back becomes U+FFFD in dst (3 bytes). */
size_t text_decode_end(struct text_decoder *d, char *dst);

/*
 * The same as a JSON string; last: also what text_decode_end() gives. Returns a new reference, NULL when
 * memory is short.
 */
json_t *text_json(struct text_decoder *d, const void *bytes, size_t length, bool last);

/* A string (NULL is an empty one) as JSON, what is no UTF-8 replaced. Returns a new reference, NULL when memory is short. */
json_t *text_string_json(const char *string);

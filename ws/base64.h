/* Base64, for bytes in JSON that need not be text. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* Bytes (2^30 at most) as a JSON string. Returns a new reference, NULL when memory is short. */
json_t *base64_json(const void *bytes, size_t length);

/* Size of the text for length bytes, its NUL included. */
#define BASE64_SIZE(length) (((size_t)(length) + 2) / 3 * 4 + 1)

/* Encode bytes (2^30 at most) to text of BASE64_SIZE(length) bytes. Returns the length of the text. */
size_t base64_encode(const void *bytes, size_t length, char *text);

/* Decode NUL-terminated text. Returns the bytes, owned by the caller, or NULL with errno EINVAL (not base64) or ENOMEM. */
unsigned char *base64_decode(const char *text, size_t *ret_length);

/* base64_decode() for text whose padding may be missing. */
unsigned char *base64_decode_unpadded(const char *text, size_t *ret_length);

/* Bytes in JSON that need not be text. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* Bytes (2^30 at most) as a JSON string. Returns a new reference, NULL when memory is short. */
json_t *base64_json(const void *bytes, size_t length);

/* Decode text (NUL-terminated). Returns the bytes, owned by the caller, or NULL when it is no base64. */
unsigned char *base64_decode(const char *text, size_t *ret_length);

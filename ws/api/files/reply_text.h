/*
 * JSON that a thread writes piece by piece, so that large answers do not block the loop. After an
 * allocation fails or REPLY_TEXT_MAX is reached, `failed` is set and further pieces are dropped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REPLY_TEXT_MAX ((size_t)100 << 20) /* bytes; a control character needs six */

/* The buffer. Zeroed is empty. */
struct reply_text {
	char *text; /* owned; without a final NUL */
	size_t length, capacity;
	bool failed;
	bool too_long; /* it failed at REPLY_TEXT_MAX */
};

/* Append JSON as it is: punctuation, names of fields. */
void reply_text_raw(struct reply_text *a, const char *text);

/* Append bytes as a JSON string. Invalid UTF-8 becomes U+FFFD. */
void reply_text_string(struct reply_text *a, const void *bytes, size_t length);

/* The same for a C string. */
void reply_text_cstring(struct reply_text *a, const char *text);

/* Append a number. */
void reply_text_number(struct reply_text *a, unsigned long long number);

/* Append true or false. */
void reply_text_bool(struct reply_text *a, bool flag);

/* Append bytes as a JSON string of base64. */
void reply_text_base64(struct reply_text *a, const void *bytes, size_t length);

/* Append valid UTF-8 with escapes but without quotes: a part of a string. */
void reply_text_escaped(struct reply_text *a, const char *bytes, size_t length);

/* Append the current time as a string. */
void reply_text_now(struct reply_text *a);

/* Free the buffer. */
void reply_text_finish(struct reply_text *a);

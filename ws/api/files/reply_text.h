/*
 * An answer's JSON, written piece by piece on a thread: what a file has may be large, and the loop is for carrying bytes. Once
 * memory was short, or REPLY_TEXT_MAX is reached, the rest goes nowhere, and failed says so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REPLY_TEXT_MAX ((size_t)100 << 20) /* bytes; control characters take six each */

struct reply_text {
	char *text; /* owned; not ended by a NUL */
	size_t length, capacity;
	bool failed;
	bool too_long; /* that is why it failed */
};

/* JSON as it is: punctuation, and names of fields. */
void reply_text_raw(struct reply_text *a, const char *text);
/* Bytes as a string; what is no UTF-8 becomes U+FFFD. */
void reply_text_string(struct reply_text *a, const void *bytes, size_t length);
void reply_text_text(struct reply_text *a, const char *text);
void reply_text_number(struct reply_text *a, unsigned long long number);
void reply_text_flag(struct reply_text *a, bool flag);
/* Bytes as a string of base64. */
void reply_text_base64(struct reply_text *a, const void *bytes, size_t length);
/* What is text so far, without quotes: for content that comes in pieces. bytes: UTF-8. */
void reply_text_escaped(struct reply_text *a, const char *bytes, size_t length);
/* The time now, as a string. */
void reply_text_now(struct reply_text *a);

void reply_text_finish(struct reply_text *a);

/* Output: a growing buffer for what is written about a screen. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A buffer. All zeros: empty. After an allocation failure it ignores further bytes. */
struct output {
	char *bytes; /* owned */
	size_t length, capacity;
	bool failed;
};

/* Make space for `more` bytes after length. Returns false if memory is short. */
bool output_reserve(struct output *o, size_t more);

/* Append bytes. */
void output_put(struct output *o, const void *bytes, size_t length);

/* Append a string. */
void output_text(struct output *o, const char *text);

/* Append formatted text, at most 127 bytes. */
void output_format(struct output *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

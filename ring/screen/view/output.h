/* Output: bytes that are being written, of whatever is shown of a screen. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Zero is an empty one; failed once memory was short: what is put then is lost. */
struct output {
	char *bytes; /* owned */
	size_t length, capacity;
	bool failed;
};

/* Have room for more bytes behind length. Returns whether there is. */
bool output_reserve(struct output *o, size_t more);

void output_put(struct output *o, const void *bytes, size_t length);
void output_text(struct output *o, const char *text);

/* At most 127 bytes of it. */
void output_format(struct output *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

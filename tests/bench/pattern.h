/* Output that is expensive for a terminal: one sequence repeated. */
#pragma once

#include <stddef.h>

struct pattern {
	const char *name;
	const char *before; /* once */
	const char *again;  /* "%" stands for a counter, as three bytes with semicolons between */
};

/* The i-th pattern, or NULL. The first is plain text. */
const struct pattern *pattern_at(size_t i);

/* Find a pattern by name; it must exist. */
const struct pattern *pattern_find(const char *name);

/* Fill bytes, which has space for length and one sequence more. Returns the number of bytes, in whole sequences. */
size_t pattern_make(const struct pattern *p, char *bytes, size_t length);

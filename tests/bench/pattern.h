/* Output that is made to be expensive for a terminal: one sequence over and over. */
#pragma once

#include <stddef.h>

struct pattern {
	const char *name;
	const char *before; /* once */
	const char *again; /* a "%" in it is a number that counts up, as three bytes apart by semicolons */
};

/* The i-th of all, the first of which is plain text; or NULL. */
const struct pattern *pattern_at(size_t i);

/* By its name, which has to be one. */
const struct pattern *pattern_find(const char *name);

/* Fill bytes, which has room for length of it and a sequence more. Returns the bytes, whole sequences. */
size_t pattern_make(const struct pattern *p, char *bytes, size_t length);

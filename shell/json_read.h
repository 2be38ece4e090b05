/*
 * Reading JSON when memory may be short. Jansson's scanner assumes that it can always store the text of a token, and
 * aborts otherwise (lex_scan_string() in 2.14). A reserve serves its allocations until it is stopped.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Set Jansson's allocator. Call it before any other use of Jansson; without it there is no reserve. */
void json_read_open(void);

/*
 * Parse a text of length bytes; flags as for json_loadb(). Returns a new reference, or NULL: the text is not JSON, or
 * memory is short, which sets *ret_short (may be NULL).
 */
json_t *json_read(const char *text, size_t length, size_t flags, bool *ret_short);

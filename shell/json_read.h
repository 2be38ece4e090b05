/*
 * Reading JSON where memory may run short. Jansson's scanner takes it that the text of a token can always be kept, and ends
 * the program otherwise (lex_scan_string() in 2.14). So there is a reserve for what it scans until it is stopped.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Give Jansson its memory from here. Before anything else is done with it; without, there is no reserve. */
void json_read_open(void);

/*
 * The value that a text of length bytes is; flags as json_loadb() takes them. Returns a new reference; NULL if the text is
 * not JSON, or memory is short: then *ret_short (unless NULL) is true.
 */
json_t *json_read(const char *text, size_t length, size_t flags, bool *ret_short);

/* The fields of HTTP heads (RFC 9110 5), whoever sends them: requests to us, answers of programs. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct http_field {
	const char *name; /* lower case */
	const char *value;
};

/* How many of the bytes are a head, with the empty line behind it, whatever ends its lines; 0: it is not whole. */
size_t http_fields_end(const char *bytes, size_t length);

/*
 * Parse "Name: value", which is written to; both texts point into it. Names touch their colons. Returns whether it is one.
 */
bool http_field_parse(char *line, struct http_field *ret_field);

/* The value of the first field of this name (in lower case), or NULL. */
const char *http_fields_find(const struct http_field *fields, size_t count, const char *name);

/* Whether a comma separated field, or several, list a token; whatever its case. */
bool http_fields_list(
	const struct http_field *fields, size_t count, const char *name, const char *token);
/* The same of one value. */
bool http_value_lists(const char *value, const char *token);

/* RFC 9110 5.6.2. */
bool http_is_token(const char *text);
/* RFC 9110 5.5: visible characters, spaces, tabs, and what is above ASCII. */
bool http_is_value(const char *text);

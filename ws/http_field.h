/* HTTP header fields (RFC 9110 5), of requests and of answers. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* One header field. */
struct http_field {
	const char *name; /* lower case */
	const char *value;
};

/* Length of the head at the start of bytes, including its empty line; lines may end with CR LF or LF. 0: incomplete. */
size_t http_fields_head_length(const char *bytes, size_t length);

/*
 * Parse "Name: value" in place; ret_field points into line. No blank is allowed before the colon. Returns whether it is
 * valid.
 */
bool http_field_parse(char *line, struct http_field *ret_field);

/* The value of the first field of this lower-case name, or NULL. */
const char *http_fields_find(const struct http_field *fields, size_t count, const char *name);

/* Whether any field of this name has token in its comma-separated list, ignoring case. */
bool http_fields_have_token(
	const struct http_field *fields, size_t count, const char *name, const char *token);

/* Whether a comma-separated value has token, ignoring case. */
bool http_value_has_token(const char *value, const char *token);

/* Whether text is a token (RFC 9110 5.6.2). */
bool http_is_token(const char *text);

/* Whether text is a field value (RFC 9110 5.5): visible characters, spaces, tabs, and bytes above ASCII. */
bool http_is_value(const char *text);

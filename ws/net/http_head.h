/*
 * The head of an HTTP/1.1 request (RFC 9112): where it ends, and its parser. Pure: bytes in, struct out.
 *
 * It is strict where two parsers could disagree about what follows a head (request smuggling): names are tokens directly
 * followed by their colons, lines are not folded, values contain no control bytes.
 */
#pragma once

#include "ws/http_field.h"

#include <stdbool.h>
#include <stddef.h>

#define HTTP_HEAD_MAX ((size_t)8192) /* bytes of a head, with the empty line */
#define HTTP_FIELDS_MAX 64u

/* A parsed head; points into the text that was parsed. */
struct http_head {
	const char *method;
	const char *target;    /* "/path?query", or "*"; for CONNECT as it came */
	const char *authority; /* of a target "http://authority/path"; otherwise NULL */
	unsigned minor;        /* HTTP/1.minor */
	struct http_field fields[HTTP_FIELDS_MAX];
	size_t fields_count;
};

/*
 * Parse a complete head. text is modified: length bytes and one more for a NUL. Returns 0, -EINVAL if it is invalid, -E2BIG for
 * too many fields, or -EPROTONOSUPPORT for a version other than HTTP/1.x.
 */
int http_head_parse(char *text, size_t length, struct http_head *h);

/* The value of the first field of this name (in lower case), or NULL. */
const char *http_head_field(const struct http_head *h, const char *name);

/* Number of fields of this name. */
size_t http_head_count(const struct http_head *h, const char *name);

/* Whether the comma-separated fields of this name contain a token, in any case. */
bool http_head_lists(const struct http_head *h, const char *name, const char *token);

/* Whether Accept names text/html, in any case: a browser navigates. */
bool http_head_accepts_page(const struct http_head *h);

#define HTTP_ACCEPT_LOOKED \
	((size_t)512) /* bytes of a line in which http_text_accepts_page() looks */

/* The same for a head that is invalid, too large or incomplete: whether any of its lines is an Accept with text/html. */
bool http_text_accepts_page(const char *bytes, size_t length);

/* What Transfer-Encoding says about a body (RFC 9112 6.1). */
enum http_coding {
	HTTP_CODING_NONE,    /* there is no such field */
	HTTP_CODING_CHUNKED, /* "chunked" alone */
	HTTP_CODING_UNKNOWN, /* "chunked" after a coding that is not supported */
	HTTP_CODING_INVALID, /* the body's end is undefined or ambiguous */
};

/* The coding that all Transfer-Encoding fields result in. */
enum http_coding http_head_coding(const struct http_head *h);

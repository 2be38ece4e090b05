/*
 * The head of an HTTP/1.1 request (RFC 9112): where it ends, and what it says. Pure: bytes in, struct out.
 *
 * It is strict where two readers of one head could differ about what follows it: names are tokens and
 * touch their colons, lines are not folded, no control byte stands in a value.
 */
#pragma once

#include "ws/http_field.h"

#include <stdbool.h>
#include <stddef.h>

#define HTTP_HEAD_MAX ((size_t)8192) /* bytes of a head, with the empty line */
#define HTTP_FIELDS_MAX 64u

struct http_head {
	const char *method;
	const char *target;    /* "/path?query", or "*"; for CONNECT what came */
	const char *authority; /* of a target "http://authority/path"; otherwise NULL */
	unsigned minor;        /* HTTP/1.minor */
	struct http_field fields[HTTP_FIELDS_MAX];
	size_t fields_count;
};

/* How many of the bytes are a head, with the empty line behind it; 0: it is not whole. */
size_t http_head_length(const char *bytes, size_t length);

/*
 * Parse a whole head; text is written to: length bytes, and one behind them for a NUL.
 * Returns 0, -EINVAL when it makes no sense, -E2BIG for too many fields, or -EPROTONOSUPPORT for a
 * version that is not HTTP/1.x.
 */
int http_head_parse(char *text, size_t length, struct http_head *h);

/* The value of the first field of this name (in lower case), or NULL. */
const char *http_head_field(const struct http_head *h, const char *name);

/* How many fields of this name there are. */
size_t http_head_count(const struct http_head *h, const char *name);

/* Whether a comma separated field, or several, list a token; whatever its case. */
bool http_head_lists(const struct http_head *h, const char *name, const char *token);

/* How the length of a body is told, by Transfer-Encoding (RFC 9112 6.1). */
enum http_coding {
	HTTP_CODING_NONE,    /* there is no such field */
	HTTP_CODING_CHUNKED, /* it says "chunked", and nothing else */
	HTTP_CODING_UNKNOWN, /* in chunks, of something that is not served */
	HTTP_CODING_WRONG, /* where the body ends cannot be told, or two could tell it differently */
};
enum http_coding http_head_coding(const struct http_head *h);

/*
 * Parser for the head of an HTTP/1.1 answer (RFC 9112) that a program on this machine sends. Pure.
 *
 * The head is written anew before it is forwarded, so only what was parsed here is passed on. Lines may end with LF alone, as
 * from small servers (RFC 9112 2.2). An ambiguous head is an error.
 */
#pragma once

#include "ws/http_field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWER_HEAD_MAX ((size_t)64 << 10) /* bytes of a head, with the empty line */
#define ANSWER_FIELDS_MAX 128u

/* How a body is framed. */
enum answer_framing {
	ANSWER_NONE,    /* no body */
	ANSWER_LENGTH,  /* Content-Length */
	ANSWER_CHUNKED, /* chunks */
	ANSWER_CLOSE,   /* until the connection ends */
};

/* A parsed head. All texts point into the parsed text. */
struct answer_head {
	int status;
	const char *reason;
	unsigned minor; /* HTTP/1.minor */
	struct http_field fields[ANSWER_FIELDS_MAX];
	size_t fields_count;
	bool has_length;
	uint64_t length; /* Content-Length, if has_length */
	bool chunked;    /* Transfer-Encoding is exactly "chunked" */
};

/*
 * Parse a complete head (http_fields_head_length()) in place. text: length bytes, and one more that is written. Returns 0, -EINVAL (invalid, or the
 * framing of the body is ambiguous) or -E2BIG (too many fields).
 */
int answer_head_parse(char *text, size_t length, struct answer_head *h);

/* The framing of the body. to_head: it answers a HEAD request. */
enum answer_framing answer_head_framing(const struct answer_head *h, bool to_head);

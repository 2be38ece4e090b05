/*
 * The head of an HTTP/1.1 answer (RFC 9112), as a program on this machine sends it: where it ends, what it says, and how its
 * body's length is told. Pure: bytes in, struct out.
 *
 * A head is written anew before it goes on, so that only what is understood here is passed on. Lines may end with LF alone,
 * as those of small servers do (RFC 9112 2.2); what could be read in two ways is wrong.
 */
#pragma once

#include "ws/http_field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWER_HEAD_MAX ((size_t)64 << 10) /* bytes of a head, with the empty line */
#define ANSWER_FIELDS_MAX 128u

/* How the end of a body is told. */
enum answer_framing {
	ANSWER_NONE,    /* there is no body */
	ANSWER_LENGTH,  /* so many bytes */
	ANSWER_CHUNKED, /* in chunks */
	ANSWER_CLOSE,   /* by the end of the connection */
};

/* All texts point into what was parsed. */
struct answer_head {
	int status;
	const char *reason;
	unsigned minor; /* HTTP/1.minor */
	struct http_field fields[ANSWER_FIELDS_MAX];
	size_t fields_count;
	bool has_length;
	uint64_t length; /* of has_length: what Content-Length says */
	bool chunked;    /* Transfer-Encoding says "chunked", and nothing else */
};

/* How many of the bytes are a head, with the empty line behind it; 0: it is not whole. */
size_t answer_head_length(const char *bytes, size_t length);

/*
 * Parse a whole head; text is written to: length bytes, and one behind them for a NUL. Returns 0; -EINVAL when it makes no
 * sense, or when where its body ends could be told in two ways; or -E2BIG for too many fields.
 */
int answer_head_parse(char *text, size_t length, struct answer_head *h);

/* How the body is told, of the answer to a HEAD request or to another. */
enum answer_framing answer_head_framing(const struct answer_head *h, bool to_head);

/* Whether one of the fields of this name (small letters) lists a token, whatever its case. */
bool answer_head_lists(const struct answer_head *h, const char *name, const char *token);

/* The value of the first field of this name, or NULL. */
const char *answer_head_field(const struct answer_head *h, const char *name);

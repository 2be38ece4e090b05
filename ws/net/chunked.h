/*
 * Decoder of chunked bodies (RFC 9112 7.1), incremental and in place. Pure.
 *
 * It is strict, as http_head.h: lines end with CR LF, and a size is 1 to 16 hexadecimal digits without blanks around them.
 * Extensions and trailers are skipped. Their length is limited, because they cost time and carry no bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNKED_LINE_MAX ((size_t)256)            /* bytes of a chunk's size and its extensions */
#define CHUNKED_EXTENSIONS_MAX ((size_t)16 << 10) /* bytes of all extensions of a body */
#define CHUNKED_TRAILERS_MAX ((size_t)8 << 10)    /* bytes of all trailers of a body */

/* What the next byte belongs to. */
enum chunked_state {
	CHUNKED_SIZE,       /* the digits of a chunk's size */
	CHUNKED_EXTENSION,  /* the rest of that line, up to its CR */
	CHUNKED_SIZE_LF,    /* the LF of that line */
	CHUNKED_DATA,       /* bytes of the body */
	CHUNKED_DATA_CR,    /* the CR after them */
	CHUNKED_DATA_LF,    /* the LF after them */
	CHUNKED_TRAILER,    /* the beginning of a line after the last chunk */
	CHUNKED_TRAILER_IN, /* the rest of that line, up to its CR */
	CHUNKED_TRAILER_LF, /* the LF of that line */
	CHUNKED_END_LF,     /* the LF of the empty line */
	CHUNKED_COMPLETE,   /* nothing: the body is complete */
	CHUNKED_INVALID,    /* nothing: the body is invalid */
};

/* A decoder; zero it to begin. */
struct chunked {
	enum chunked_state state;
	uint64_t left;     /* bytes of the chunk that are still to come */
	size_t digits;     /* of its size */
	size_t line;       /* bytes of the size's line */
	size_t extensions; /* bytes of all extensions */
	size_t trailers;   /* bytes of all trailers */
};

/*
 * Decode length bytes: the body's bytes are moved to the front. *ret_used: input bytes consumed, fewer than length only at the
 * body's end. *ret_size: bytes of the body. Returns 0, -EINVAL if the input is invalid, or -E2BIG if a limit is exceeded; after
 * an error all calls fail.
 */
int chunked_decode(
	struct chunked *c, char *bytes, size_t length, size_t *ret_used, size_t *ret_size);

/* Whether the body is complete. */
bool chunked_is_complete(const struct chunked *c);

/* Bytes of the current chunk that are still to come; 0 between chunks. */
uint64_t chunked_left(const struct chunked *c);

/*
 * A body in chunks (RFC 9112 7.1): from what comes to what it means, a piece at a time and in place. Pure.
 *
 * It is as strict as http_head.h: lines end with CR LF, a size is 1 to 16 digits of base 16 that touch what follows them.
 * Extensions and trailers mean nothing to us; they are read over, and bounded, since they cost time and carry no bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNKED_LINE_MAX ((size_t)256)            /* bytes of a chunk's size and its extensions */
#define CHUNKED_EXTENSIONS_MAX ((size_t)16 << 10) /* bytes of extensions, of all chunks of a body */
#define CHUNKED_TRAILERS_MAX ((size_t)8 << 10)    /* bytes behind the last chunk, of all lines */

enum chunked_state {
	CHUNKED_SIZE,      /* the digits of a chunk's size */
	CHUNKED_EXTENSION, /* behind them, up to the line's CR */
	CHUNKED_SIZE_LF,   /* the LF behind that */
	CHUNKED_DATA,      /* left bytes of it are to come */
	CHUNKED_DATA_CR,   /* what ends them */
	CHUNKED_DATA_LF,
	CHUNKED_TRAILER,    /* the beginning of a line behind the last chunk */
	CHUNKED_TRAILER_IN, /* within one */
	CHUNKED_TRAILER_LF, /* its LF */
	CHUNKED_END_LF,     /* the LF of the empty line */
	CHUNKED_OVER,
	CHUNKED_WRONG,
};

/* Zero is the beginning. */
struct chunked {
	enum chunked_state state;
	uint64_t left;     /* bytes of the chunk that are to come */
	size_t digits;     /* of its size that have come */
	size_t line;       /* bytes of that line */
	size_t extensions; /* bytes of extensions, of the whole body */
	size_t trailers;   /* bytes of trailers */
};

/*
 * Take length bytes that have come, and move those of the body to their front. *ret_used: how many belong to the body, all
 * of them but at its end; *ret_size: how many are left in front. Returns 0; -EINVAL: it is no such body; -E2BIG: a limit is
 * exceeded. What is wrong once stays wrong.
 */
int chunked_take(struct chunked *c, char *bytes, size_t length, size_t *ret_used, size_t *ret_size);

/* Whether the end has come. */
bool chunked_is_over(const struct chunked *c);

/* How many bytes of the chunk that has begun are still to come: with them no other body begins. */
uint64_t chunked_left(const struct chunked *c);

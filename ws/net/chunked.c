/*
 * A state machine with one state for each kind of byte. The body's bytes are moved by the chunk, the framing is parsed byte by
 * byte, so that pieces may be cut anywhere.
 */
#include "ws/net/chunked.h"

#include "ring/hex.h"

#include <errno.h>
#include <string.h>

#define SIZE_DIGITS_MAX 16u

static int parse_size(struct chunked *c, char byte)
{
	int digit = hex_value(byte);
	if (digit >= 0) {
		/* 16 digits fit into uint64_t. */
		if (++c->digits > SIZE_DIGITS_MAX)
			return -E2BIG;
		c->left = c->left << 4 | (unsigned)digit;
		return 0;
	}
	if (c->digits == 0)
		return -EINVAL;
	if (byte == '\r')
		c->state = CHUNKED_SIZE_LF;
	else if (byte == ';')
		c->state = CHUNKED_EXTENSION;
	else
		return -EINVAL;
	return 0;
}

/* A byte that an extension or a trailer may contain: visible, blank, or above ASCII. */
static bool is_text(char byte)
{
	return (unsigned char)byte >= ' ' ? byte != 0x7f : byte == '\t';
}

static int parse_extension(struct chunked *c, char byte)
{
	if (byte == '\r') {
		c->state = CHUNKED_SIZE_LF;
		return 0;
	}
	if (!is_text(byte))
		return -EINVAL;
	return ++c->extensions > CHUNKED_EXTENSIONS_MAX ? -E2BIG : 0;
}

/* The byte must be LF; then the next state begins. */
static int expect_lf(struct chunked *c, char byte, enum chunked_state next)
{
	c->state = next;
	return byte == '\n' ? 0 : -EINVAL;
}

static void begin_chunk(struct chunked *c)
{
	c->left = 0;
	c->digits = c->line = 0;
}

/* Trailers look like header fields: no line begins with a blank or a colon. */
static int parse_trailer(struct chunked *c, char byte)
{
	if (c->state == CHUNKED_TRAILER && byte == '\r')
		return c->state = CHUNKED_END_LF, 0;
	if (++c->trailers > CHUNKED_TRAILERS_MAX)
		return -E2BIG;
	bool begins = c->state == CHUNKED_TRAILER;
	if (begins ? (unsigned char)byte <= ' ' || byte == ':' : byte != '\r' && !is_text(byte))
		return -EINVAL;
	c->state = byte == '\r' ? CHUNKED_TRAILER_LF : CHUNKED_TRAILER_IN;
	return 0;
}

/* A byte that is not the body's. */
static int parse_byte(struct chunked *c, char byte)
{
	switch (c->state) {
	case CHUNKED_SIZE:
	case CHUNKED_EXTENSION:
		if (++c->line > CHUNKED_LINE_MAX)
			return -E2BIG;
		return c->state == CHUNKED_SIZE ? parse_size(c, byte) : parse_extension(c, byte);
	case CHUNKED_SIZE_LF:
		return expect_lf(c, byte, c->left > 0 ? CHUNKED_DATA : CHUNKED_TRAILER);
	case CHUNKED_DATA_CR:
		c->state = CHUNKED_DATA_LF;
		return byte == '\r' ? 0 : -EINVAL;
	case CHUNKED_DATA_LF:
		begin_chunk(c);
		return expect_lf(c, byte, CHUNKED_SIZE);
	case CHUNKED_TRAILER:
	case CHUNKED_TRAILER_IN:
		return parse_trailer(c, byte);
	case CHUNKED_TRAILER_LF:
		return expect_lf(c, byte, CHUNKED_TRAILER);
	case CHUNKED_END_LF:
		return expect_lf(c, byte, CHUNKED_COMPLETE);
	case CHUNKED_DATA:
	case CHUNKED_COMPLETE:
	case CHUNKED_INVALID:
		break;
	}
	return -EINVAL;
}

int chunked_decode(struct chunked *c, char *bytes, size_t length, size_t *ret_used, size_t *ret_size)
{
	size_t used = 0, size = 0;
	int rc = 0;
	while (rc == 0 && used < length && c->state != CHUNKED_COMPLETE) {
		if (c->state != CHUNKED_DATA) {
			rc = parse_byte(c, bytes[used++]);
			continue;
		}
		size_t piece = c->left < length - used ? (size_t)c->left : length - used;
		memmove(bytes + size, bytes + used, piece);
		used += piece;
		size += piece;
		c->left -= piece;
		if (c->left == 0)
			c->state = CHUNKED_DATA_CR;
	}
	if (rc < 0)
		c->state = CHUNKED_INVALID;
	*ret_used = used;
	*ret_size = size;
	return rc;
}

bool chunked_is_complete(const struct chunked *c)
{
	return c->state == CHUNKED_COMPLETE;
}

uint64_t chunked_left(const struct chunked *c)
{
	return c->state == CHUNKED_DATA ? c->left : 0;
}

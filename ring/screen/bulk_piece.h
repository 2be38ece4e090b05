/*
 * The pieces of bulk text: text, tabs, and sequences that only change the pen or erase blank cells.
 * Each takes the parser from its ground state to its ground state. Pure, and inlined for speed:
 * about 1 ns a byte.
 */
#pragma once

#include "ring/screen/grid/width.h"
#include "ring/screen/parser_internal.h"
#include "ring/utf8.h"

#include <stdint.h>

#define PIECE_SGR_MAX 24 /* bytes */
#define PIECE_LINK_MAX 512

/* Kinds of pieces. */
enum piece_type {
	PIECE_NONE, /* not bulk, or incomplete */
	PIECE_ASCII,
	PIECE_CHARACTER,
	PIECE_CLUSTER, /* a character with combining marks */
	PIECE_TAB,
	PIECE_PEN, /* SGR or a link */
	PIECE_EL,  /* erase to the right */
	PIECE_END, /* CR LF */
};

/* A piece of bulk text. */
struct piece {
	enum piece_type type;
	unsigned width;          /* columns of a character or cluster */
	const uint8_t *at, *end; /* PIECE_NONE: `at` is where bulk ends */
};

/* The end of bulk at `at`. */
static inline struct piece piece_none(const uint8_t *at)
{
	return (struct piece){.at = at};
}

/* EL without parameters, or SGR with numbers only. */
static inline struct piece piece_csi(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *p = at + 2;
	unsigned digits = 0;
	if (p < end && *p == 'K')
		return (struct piece){PIECE_EL, 0, at, p + 1};
	for (; p < end && p - at < PIECE_SGR_MAX; p++) {
		if (*p == 'm')
			return (struct piece){PIECE_PEN, 0, at, p + 1};
		if (*p == ';')
			digits = 0;
		else if (*p < '0' || *p > '9' || ++digits > 5)
			break;
	}
	return piece_none(at);
}

/* A link: OSC 8 up to BEL or ST. */
static inline struct piece piece_link(const uint8_t *at, const uint8_t *end)
{
	if (end - at < 5 || at[2] != '8' || at[3] != ';')
		return piece_none(at);
	if (end - at > PIECE_LINK_MAX)
		end = at + PIECE_LINK_MAX;
	const uint8_t *p = parser_text_end(at + 4, end);
	if (p < end && *p == 0x07)
		return (struct piece){PIECE_PEN, 0, at, p + 1};
	if (end - p >= 2 && p[0] == 0x1b && p[1] == '\\')
		return (struct piece){PIECE_PEN, 0, at, p + 2};
	return piece_none(at);
}

/* An escape sequence. */
static inline struct piece piece_escape(const uint8_t *at, const uint8_t *end)
{
	if (end - at >= 3 && at[1] == '[')
		return piece_csi(at, end);
	if (end - at >= 3 && at[1] == ']')
		return piece_link(at, end);
	return piece_none(at);
}

/* Decode a complete character from U+00A0 on. *ret_width: its columns. Returns its bytes, or 0. */
static inline unsigned piece_read_high(const uint8_t *at, const uint8_t *end, unsigned *ret_width)
{
	uint32_t code;
	unsigned size = at == end || *at < 0xc2 ? 0 : utf8_lead_length(*at);
	if (size == 0 || end - at < size)
		return 0;
	for (unsigned i = 1; i < size; i++)
		if (!utf8_is_continuation(at[i]))
			return 0;
	utf8_read(at, &code);
	if (!utf8_is_character(code, size) || code < 0xa0 || code == 0xad || code == 0xfeff)
		return 0;
	*ret_width = width_of(code);
	return size;
}

/* A character that ends at `base`, with the marks that follow. */
static inline struct piece piece_cluster(
	const uint8_t *at, const uint8_t *base, const uint8_t *end, unsigned width)
{
	const uint8_t *p = base;
	unsigned size, mark;
	while ((size = piece_read_high(p, end, &mark)) > 0 && mark == 0)
		p += size;
	/* More marks may follow. */
	if (p == end || (size == 0 && *p >= 0x80))
		return piece_none(p);
	return (struct piece){p > base ? PIECE_CLUSTER : PIECE_CHARACTER, width, at, p};
}

/* A character that is not ASCII. */
static inline struct piece piece_character(const uint8_t *at, const uint8_t *end)
{
	unsigned width = 0, size = piece_read_high(at, end, &width);
	return size == 0 || width == 0 ? piece_none(at) : piece_cluster(at, at + size, end, width);
}

/* A run of ASCII, without its last character if a mark joins that. */
static inline struct piece piece_ascii(const uint8_t *at, const uint8_t *next, const uint8_t *end)
{
	unsigned width;
	if (next == end || *next < 0x80 || (piece_read_high(next, end, &width) > 0 && width > 0))
		return (struct piece){PIECE_ASCII, 1, at, next};
	if (next - at > 1)
		return (struct piece){PIECE_ASCII, 1, at, next - 1};
	return piece_cluster(at, next, end, 1);
}

/* The end of a line. */
static inline struct piece piece_end(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *p = at;
	while (p < end && *p == '\r')
		p++;
	return p < end && *p == '\n' ? (struct piece){PIECE_END, 0, at, p + 1} : piece_none(p);
}

/* The piece at `at`, at most up to `end`. */
static inline struct piece piece_at(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *next = parser_text_end(at, end);
	if (next > at)
		return piece_ascii(at, next, end);
	if (at == end)
		return piece_none(at);
	if (*at == '\r')
		return piece_end(at, end);
	if (*at >= 0x80)
		return piece_character(at, end);
	if (*at == '\t')
		return (struct piece){PIECE_TAB, 0, at, at + 1};
	return *at == 0x1b ? piece_escape(at, end) : piece_none(at);
}

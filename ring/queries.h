/*
 * Queries: the ranges of a session's output that ask the terminal something, newest last. The server
 * answers them itself. What clients get has NULs in their place, so that none of their terminals answers
 * as well, neither at once nor when the output is replayed.
 */
#pragma once

#include "ring/scan.h"

#include <stddef.h>
#include <stdint.h>

/* Ranges kept; beyond that the oldest are forgotten and the output before them is not replayed. */
#define QUERIES_MAX 65536u

struct query {
	uint64_t start;  /* absolute offset */
	uint32_t length; /* bytes */
	bool string;     /* C0 controls inside do not act */
	bool ends;       /* its introducer ends something unfinished, so ST or CAN replaces it */
};

struct queries {
	struct query *items; /* circular, `capacity` of them */
	size_t first;        /* index of the oldest */
	size_t count;        /* ranges held */
	size_t capacity;     /* a power of two, or 0 */
	uint64_t floor;      /* output before this offset has forgotten ranges: do not replay it */
};

void queries_init(struct queries *q);
void queries_finish(struct queries *q);

/*
 * Remember a range that scan reported. It replaces ranges that begin inside it. When memory or QUERIES_MAX
 * is exhausted, floor rises.
 */
void queries_add(struct queries *q, const struct scan_query *range);

/* Where the range that offset lies inside of begins; offset itself when there is none. */
uint64_t queries_start(const struct queries *q, uint64_t offset);

/* Where the first range behind `from` ends, if that is before `end`; otherwise `end`. */
uint64_t queries_next_end(const struct queries *q, uint64_t from, uint64_t end);

/* Forget ranges that end at or before offset. */
void queries_trim(struct queries *q, uint64_t offset);

/*
 * Put NULs in place of queries (ST or CAN first, where the query has ended an unfinished sequence: that one
 * must not go on with what follows) in length bytes of output that begin at offset.
 * Returns how many of the bytes may be used: fewer than length when a query, and so perhaps the ST in its
 * place, would be cut in two.
 */
size_t queries_apply(const struct queries *q, uint64_t offset, uint8_t *bytes, size_t length);

/* Put fill in place of all bytes of the ranges, where they lie in length bytes of output that begin at offset. */
void queries_cover(
	const struct queries *q, uint64_t offset, uint8_t *bytes, size_t length, uint8_t fill);

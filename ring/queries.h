/*
 * Queries: the ranges of a session's output that ask the terminal something, newest last. The
 * server answers them. Clients get NULs instead, so that their terminals never answer, neither live
 * nor in a replay.
 */
#pragma once

#include "ring/scan.h"

#include <stddef.h>
#include <stdint.h>

/* Ranges kept. When the oldest are forgotten, the output before them is not replayed. */
#define QUERIES_MAX 65536u

/* A set of ranges, ordered by offset. */
struct queries {
	struct scan_query *items; /* circular, `capacity` of them */
	size_t first;             /* index of the oldest */
	size_t count;
	size_t capacity; /* a power of two, or 0 */
	uint64_t floor;  /* do not replay output before this offset: ranges were forgotten */
};

/* Initialise an empty set. Allocates nothing. */
void queries_init(struct queries *q);

/* Free the ranges. */
void queries_finish(struct queries *q);

/*
 * Add a range that the scanner reported. It replaces ranges that begin inside it. If memory is
 * short or the set is full, the floor rises.
 */
void queries_add(struct queries *q, const struct scan_query *range);

/* Start of the range that offset lies inside; offset itself if there is none. */
uint64_t queries_start(const struct queries *q, uint64_t offset);

/* End of the first range that ends after `from`, if it is before `end`; otherwise `end`. */
uint64_t queries_next_end(const struct queries *q, uint64_t from, uint64_t end);

/* Forget ranges that end at or before offset. */
void queries_trim(struct queries *q, uint64_t offset);

/*
 * Blank queries in length bytes of output that begin at offset: NULs, but ST or CAN first where a
 * query ended an unfinished sequence. Returns how many bytes may be used: fewer than length if the
 * last query would be cut.
 */
size_t queries_apply(const struct queries *q, uint64_t offset, uint8_t *bytes, size_t length);

/* Overwrite all bytes of the ranges with fill, in length bytes of output that begin at offset. */
void queries_fill(
	const struct queries *q, uint64_t offset, uint8_t *bytes, size_t length, uint8_t fill);

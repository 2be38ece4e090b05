/*
 * An excerpt: the first and the last bytes of a stream of any length, in memory that grows with what has
 * come up to a limit. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct excerpt {
	uint8_t *bytes;  /* linear until it is full; then the head, and a ring behind it */
	size_t capacity; /* bytes allocated */
	size_t limit;    /* that may be kept */
	uint64_t total;  /* bytes that have come */
};

struct excerpt_parts {
	const uint8_t *head; /* the first head_length bytes */
	size_t head_length;
	const uint8_t *tail; /* the last ones; none unless some are missing in between */
	size_t tail_length;
	uint64_t omitted; /* between the two */
	uint64_t total;
};

/* limit: bytes to keep, half of them from the end; 0 keeps none. */
void excerpt_init(struct excerpt *e, size_t limit);
void excerpt_finish(struct excerpt *e);

/*
 * Take bytes. *budget: what may be allocated, less what is; when it or memory is short the limit becomes
 * what there is by now, and that much is kept.
 */
void excerpt_add(struct excerpt *e, const void *bytes, size_t length, size_t *budget);

/* What is kept; sorts it in place, so nothing can be added after it. Valid until excerpt_finish(). */
struct excerpt_parts excerpt_parts(struct excerpt *e);

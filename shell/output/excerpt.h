/* An excerpt: the first and the last bytes of a stream of any length, up to a limit. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The bytes of an excerpt; private to excerpt.c. */
struct excerpt {
	uint8_t *bytes;  /* linear until it is full; then the head, and a ring behind it */
	size_t capacity; /* bytes allocated */
	size_t limit;    /* bytes to keep */
	uint64_t total;  /* bytes added */
};

/* The result. Pointers are into the excerpt. */
struct excerpt_parts {
	const uint8_t *head; /* the first head_length bytes */
	size_t head_length;
	const uint8_t *tail; /* the last bytes; empty unless bytes were omitted */
	size_t tail_length;
	uint64_t omitted; /* bytes between the two */
	uint64_t total;
};

/* Initialize. limit: bytes to keep, half of them from the end; 0 keeps none. */
void excerpt_init(struct excerpt *e, size_t limit);

/* Free the bytes. */
void excerpt_finish(struct excerpt *e);

/*
 * Add bytes. *budget: bytes that may still be allocated; reduced by what is allocated. If the
 * budget or memory is short, the current capacity becomes the limit.
 */
void excerpt_add(struct excerpt *e, const void *bytes, size_t length, size_t *budget);

/*
 * The bytes kept. Sorts them in place, so nothing can be added later. Valid until excerpt_finish().
 */
struct excerpt_parts excerpt_parts(struct excerpt *e);

/* Pseudo-random numbers, the same in every run (xorshift64*). */
#pragma once

#include <stdint.h>

struct random {
	uint64_t state; /* not 0 */
};

static inline uint64_t random_next(struct random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * UINT64_C(0x2545f4914f6cdd1d);
}

/* From 0 to n - 1. */
static inline uint64_t random_below(struct random *r, uint64_t n)
{
	return (random_next(r) >> 16) % n;
}

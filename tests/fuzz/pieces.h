/* Shared by targets that feed the same input in one piece and in many, and compare the results. */
#pragma once

#include "tests/fuzz/fuzz.h"
#include "tests/lib/random.h"

#define PIECES_HASH UINT64_C(0xcbf29ce484222325)

/* FNV-1a; begins with PIECES_HASH. */
static inline uint64_t pieces_hash(uint64_t hash, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static inline uint64_t pieces_hash_number(uint64_t hash, uint64_t number)
{
	return pieces_hash(hash, &number, sizeof number);
}

/* The length of the next piece: from 1 to most, and at most left. */
static inline size_t pieces_next(struct random *r, size_t most, size_t left)
{
	size_t n = 1 + (size_t)random_below(r, most);
	return n < left ? n : left;
}

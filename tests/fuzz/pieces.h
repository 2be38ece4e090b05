/* Shared by targets that feed the same input in one piece and in many, and compare the results. */
#pragma once

#include "shell/hash.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/random.h"

static inline uint64_t pieces_hash_number(uint64_t hash, uint64_t number)
{
	return hash_bytes(hash, &number, sizeof number);
}

/* The length of the next piece: from 1 to most, and at most left. */
static inline size_t pieces_next(struct random *r, size_t most, size_t left)
{
	size_t n = 1 + (size_t)random_below(r, most);
	return n < left ? n : left;
}

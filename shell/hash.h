/* FNV-1a with 64 bits, for keys and names. Quick, but anyone can make two texts with the same hash. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The hash of no bytes. */
#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Append bytes to what hash is the hash of. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Append text, without its NUL. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text));
}

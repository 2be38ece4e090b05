/* SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104): the holder has nothing but libc. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32u
#define SHA256_KEY_MAX 64u /* bytes of a key for HMAC: longer ones are not needed */

/* A part of what is digested; all are borrowed. */
struct sha256_part {
	const void *bytes;
	size_t length;
};

/* The digest of count parts, one behind the other. */
void sha256_digest(const struct sha256_part *parts, size_t count, uint8_t ret[SHA256_SIZE]);

/* The same with a key, of at most SHA256_KEY_MAX bytes. */
void sha256_hmac(const struct sha256_part *key, const struct sha256_part *parts, size_t count,
	uint8_t ret[SHA256_SIZE]);

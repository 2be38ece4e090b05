/* One block at a time; what does not fill one waits for more. */
#include "pty/sha256.h"

#include <assert.h>
#include <string.h>

#define BLOCK 64u
#define LENGTH_AT (BLOCK - 8u) /* of the length in bits, in the last block */

struct state {
	uint32_t words[8];
	uint64_t total; /* bytes */
	uint8_t block[BLOCK];
};

static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
	0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint32_t rounds[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
	0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6,
	0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
	0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
	0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585,
	0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa,
	0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, unsigned by)
{
	return x >> by | x << (32 - by);
}

static uint32_t word_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_word(uint8_t *at, uint32_t word)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(word >> (24 - 8 * i));
}

/* FIPS 180-4, 6.2.2, with the letters that it has. */
static void mix(struct state *s)
{
	uint32_t w[64], v[8];
	for (unsigned t = 0; t < 16; t++)
		w[t] = word_at(s->block + (size_t)4 * t);
	for (unsigned t = 16; t < 64; t++) {
		uint32_t s0 = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ w[t - 15] >> 3;
		uint32_t s1 = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ w[t - 2] >> 10;
		w[t] = w[t - 16] + s0 + w[t - 7] + s1;
	}
	memcpy(v, s->words, sizeof v);
	for (unsigned t = 0; t < 64; t++) {
		uint32_t e = v[4], a = v[0];
		uint32_t t1 = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
			((e & v[5]) ^ (~e & v[6])) + rounds[t] + w[t];
		uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
			((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof *v);
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (unsigned i = 0; i < 8; i++)
		s->words[i] += v[i];
}

static void begin(struct state *s)
{
	*s = (struct state){0};
	memcpy(s->words, first, sizeof first);
}

static void add(struct state *s, const void *bytes, size_t length)
{
	const uint8_t *from = bytes;
	for (size_t i = 0; i < length; i++) {
		s->block[s->total++ % BLOCK] = from[i];
		if (s->total % BLOCK == 0)
			mix(s);
	}
}

static void add_parts(struct state *s, const struct sha256_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(s, parts[i].bytes, parts[i].length);
}

static void finish(struct state *s, uint8_t ret[SHA256_SIZE])
{
	static const uint8_t one = 0x80, zero = 0;
	uint64_t bits = s->total * 8;
	uint8_t length[8];
	put_word(length, (uint32_t)(bits >> 32));
	put_word(length + 4, (uint32_t)bits);
	add(s, &one, 1);
	while (s->total % BLOCK != LENGTH_AT)
		add(s, &zero, 1);
	add(s, length, sizeof length);
	for (size_t i = 0; i < 8; i++)
		put_word(ret + 4 * i, s->words[i]);
}

void sha256_digest(const struct sha256_part *parts, size_t count, uint8_t ret[SHA256_SIZE])
{
	struct state s;
	begin(&s);
	add_parts(&s, parts, count);
	finish(&s, ret);
}

/* Begin with the key's block, each byte of it changed by pad. */
static void begin_keyed(struct state *s, const struct sha256_part *key, uint8_t pad)
{
	uint8_t block[BLOCK] = {0};
	assert(key->length <= SHA256_KEY_MAX);
	memcpy(block, key->bytes, key->length);
	for (size_t i = 0; i < BLOCK; i++)
		block[i] ^= pad;
	begin(s);
	add(s, block, sizeof block);
}

void sha256_hmac(const struct sha256_part *key, const struct sha256_part *parts, size_t count,
	uint8_t ret[SHA256_SIZE])
{
	struct state s;
	uint8_t inner[SHA256_SIZE];
	begin_keyed(&s, key, 0x36);
	add_parts(&s, parts, count);
	finish(&s, inner);
	begin_keyed(&s, key, 0x5c);
	add(&s, inner, sizeof inner);
	finish(&s, ret);
}

#include "pty/proof.h"

#include "pty/sha256.h"

#include <string.h>

_Static_assert(WIRE_CODE_SIZE == SHA256_SIZE, "a code is sent whole");

static struct sha256_part part_of(const struct proof_key *key)
{
	return (struct sha256_part){key->bytes, sizeof key->bytes};
}

void proof_derive(const struct proof_key *secret, const char *place, struct proof_key *ret_key)
{
	static const char use[] = "ringside key of a holder\n";
	const struct sha256_part key = part_of(secret),
				 parts[] = {{use, sizeof use - 1}, {place, strlen(place)}};
	sha256_hmac(&key, parts, 2, ret_key->bytes);
}

void proof_make(const struct proof_key *key, enum proof_side side, const struct proof_exchange *x,
	uint8_t ret_code[WIRE_CODE_SIZE])
{
	static const char *const uses[] = {
		[PROOF_OF_HOLDER] = "ringside holder\n", [PROOF_OF_SERVER] = "ringside server\n"};
	uint8_t pid[4];
	for (unsigned i = 0; i < sizeof pid; i++)
		pid[i] = (uint8_t)(x->holder_pid >> 8 * i);
	/* All have their lengths, so none can be taken for a part of another. */
	const struct sha256_part mac_key = part_of(key),
				 parts[] = {{uses[side], strlen(uses[side])},
					 {x->server, sizeof x->server},
					 {x->holder, sizeof x->holder}, {pid, sizeof pid}};
	sha256_hmac(&mac_key, parts, sizeof parts / sizeof *parts, ret_code);
}

bool proof_holds(const struct proof_key *key, enum proof_side side, const struct proof_exchange *x,
	const uint8_t code[WIRE_CODE_SIZE])
{
	uint8_t wanted[WIRE_CODE_SIZE], differs = 0;
	proof_make(key, side, x, wanted);
	for (size_t i = 0; i < sizeof wanted; i++)
		differs |= wanted[i] ^ code[i];
	return differs == 0;
}

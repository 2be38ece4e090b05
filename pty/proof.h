/*
 * What server and holder show each other before either trusts the other: that it knows the key of the session, which is
 * made of the secret of the runtime directory and of the session's place in it. Whoever learns the key of one session
 * has those of no other. The key itself is never sent: each side sends a random number, and gets a code
 * of both numbers back; the codes of the two sides differ, so that none can be sent back to who has made it. Pure.
 */
#pragma once

#include "pty/wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROOF_KEY_SIZE 32u

struct proof_key {
	uint8_t bytes[PROOF_KEY_SIZE];
};

/* Who shows it. */
enum proof_side { PROOF_OF_HOLDER, PROOF_OF_SERVER };

/* One exchange: both random numbers, and the number that the holder says it has where it lives. */
struct proof_exchange {
	uint8_t server[WIRE_NONCE_SIZE], holder[WIRE_NONCE_SIZE];
	uint32_t holder_pid;
};

/* The key of what has its place here ("sessions/NAME"), by the secret of its runtime directory. */
void proof_derive(const struct proof_key *secret, const char *place, struct proof_key *ret_key);

/* The code of one side. */
void proof_make(const struct proof_key *key, enum proof_side side, const struct proof_exchange *x,
	uint8_t ret_code[WIRE_CODE_SIZE]);

/* Whether a code is that of the side; how long that takes tells nothing of it. */
bool proof_holds(const struct proof_key *key, enum proof_side side, const struct proof_exchange *x,
	const uint8_t code[WIRE_CODE_SIZE]);

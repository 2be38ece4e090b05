/*
 * Limits failed logins: each peer, see limiter_network(), may fail LIMITER_BURST times at once and then once every
 * LIMITER_REFILL_MS. Successful requests are never counted or held up. Bounded memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIMITER_BURST 10u
#define LIMITER_REFILL_MS 6000u
#define LIMITER_PEERS 512u
#define LIMITER_PEER_MAX 64u

struct limiter_peer {
	char name[LIMITER_PEER_MAX];
	uint64_t spent_ms; /* how far its allowance is used up: a point in time */
};

struct limiter {
	struct limiter_peer peers[LIMITER_PEERS];
	size_t count;
};

/*
 * What counts as one peer: an IPv4 address, also one that is written as IPv6; of IPv6 the /64, which one subscriber has
 * and may take any address of. What is no address stays as it is.
 */
void limiter_network(const char *peer, char ret_network[LIMITER_PEER_MAX]);

/*
 * Take one from an allowance of `burst` at once and then one every refill_ms. *spent_ms: how far it is used up, a point in
 * time; zero at first. now_ms: of any steady clock. Returns whether there was none left; then nothing is taken.
 */
bool limiter_spend(uint64_t *spent_ms, unsigned burst, unsigned refill_ms, uint64_t now_ms);

/* Count a failure of peer at now_ms (any steady clock). Returns whether it had failed too often already. */
bool limiter_fail(struct limiter *l, const char *peer, uint64_t now_ms);

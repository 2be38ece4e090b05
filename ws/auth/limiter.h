/*
 * Limits failed logins: each peer (see limiter_get_network()) may fail LIMITER_BURST times at once and then once every
 * LIMITER_REFILL_MS. Successful requests are never counted or delayed. Memory is bounded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIMITER_BURST 10u
#define LIMITER_REFILL_MS 6000u
#define LIMITER_PEERS 512u
#define LIMITER_PEER_MAX 64u

/* A peer that has failed. */
struct limiter_peer {
	char name[LIMITER_PEER_MAX];
	uint64_t spent_ms; /* see limiter_spend() */
};

/* The peers that have failed; zeroed: none. */
struct limiter {
	struct limiter_peer peers[LIMITER_PEERS];
	size_t count;
};

/*
 * Write the network that counts as one peer: an IPv4 address (also a mapped one), or the /64 of an IPv6 address, because a
 * subscriber may use any address in it. Text that is no address is copied.
 */
void limiter_get_network(const char *peer, char ret_network[LIMITER_PEER_MAX]);

/*
 * Use one of an allowance of `burst` at once and then one every refill_ms. *spent_ms: the state, a point in time up to which
 * the allowance is used; zero at first. now_ms: of any steady clock. Returns true if none is left; then nothing is used.
 */
bool limiter_spend(uint64_t *spent_ms, unsigned burst, unsigned refill_ms, uint64_t now_ms);

/* Count a failure of peer. now_ms: of any steady clock. Returns true if the peer has failed too often already. */
bool limiter_fail(struct limiter *l, const char *peer, uint64_t now_ms);

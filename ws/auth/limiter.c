/* A token bucket in one number: each failure moves a point in time by refill_ms, and it may not get too far ahead of now. */
#include "ws/auth/limiter.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define PREFIX_BYTES 8u /* of an address of IPv6 */

void limiter_get_network(const char *peer, char ret_network[LIMITER_PEER_MAX])
{
	static const unsigned char loopback[16] = {[15] = 1};
	struct in6_addr a;
	snprintf(ret_network, LIMITER_PEER_MAX, "%s", peer);
	if (!strchr(peer, ':') || inet_pton(AF_INET6, peer, &a) != 1 ||
		memcmp(a.s6_addr, loopback, sizeof loopback) == 0)
		return;
	if (IN6_IS_ADDR_V4MAPPED(&a)) {
		inet_ntop(AF_INET, a.s6_addr + 12, ret_network, LIMITER_PEER_MAX);
		return;
	}
	memset(a.s6_addr + PREFIX_BYTES, 0, sizeof a.s6_addr - PREFIX_BYTES);
	inet_ntop(AF_INET6, &a, ret_network, LIMITER_PEER_MAX);
}

static struct limiter_peer *find_peer(struct limiter *l, const char *peer)
{
	struct limiter_peer *oldest = &l->peers[0];
	for (size_t i = 0; i < l->count; i++) {
		if (strcmp(l->peers[i].name, peer) == 0)
			return &l->peers[i];
		if (l->peers[i].spent_ms < oldest->spent_ms)
			oldest = &l->peers[i];
	}
	/* If the table is full, replace the peer with the oldest failures. */
	struct limiter_peer *p = l->count < LIMITER_PEERS ? &l->peers[l->count++] : oldest;
	*p = (struct limiter_peer){.spent_ms = 0};
	snprintf(p->name, sizeof p->name, "%s", peer);
	return p;
}

bool limiter_spend(uint64_t *spent_ms, unsigned burst, unsigned refill_ms, uint64_t now_ms)
{
	if (*spent_ms < now_ms)
		*spent_ms = now_ms;
	if (*spent_ms + refill_ms > now_ms + (uint64_t)burst * refill_ms)
		return true;
	*spent_ms += refill_ms;
	return false;
}

bool limiter_fail(struct limiter *l, const char *peer, uint64_t now_ms)
{
	char network[LIMITER_PEER_MAX];
	limiter_get_network(peer, network);
	struct limiter_peer *p = find_peer(l, network);
	return limiter_spend(&p->spent_ms, LIMITER_BURST, LIMITER_REFILL_MS, now_ms);
}

/* A table of addresses. When it is full, the oldest without unauthenticated connections are removed. */
#include "ws/net/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_counted(const char *address)
{
	return strcmp(address, "unix") != 0;
}

/* Loopback: all clients of a proxy on this machine have its address. */
static bool is_local(const char *network)
{
	return strncmp(network, "127.", 4) == 0 || strcmp(network, "::1") == 0;
}

static void forget(struct peers *all, struct peer *p)
{
	HASH_DEL(all->table, p); /* NOLINT(clang-analyzer-*): in uthash */
	free(p);
}

/* Remove addresses if the table is full. The table is in order of insertion. */
static void evict(struct peers *all)
{
	struct peer *p, *next;
	unsigned looked = 0;
	if (HASH_COUNT(all->table) < PEERS_KEPT)
		return;
	for (p = all->table; p && looked++ < PEERS_SHARE_LOCAL; p = next) {
		next = p->hh.next;
		if (p->unauthenticated == 0)
			forget(all, p);
	}
}

static struct peer *find(struct peers *all, const char *address)
{
	struct peer *p;
	char network[LIMITER_PEER_MAX];
	limiter_get_network(address, network);
	HASH_FIND_STR(all->table, network, p);
	if (p)
		return p;
	evict(all);
	p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	memcpy(p->network, network, sizeof p->network);
	HASH_ADD_STR(all->table, network, p);
	if (p->hh.tbl)
		return p;
	free(p);
	return NULL;
}

static unsigned unauthenticated_max(const struct peers *all, const struct peer *p)
{
	unsigned share = is_local(p->network) ? PEERS_SHARE_LOCAL : PEERS_SHARE;
	unsigned most = all->connections_max / share;
	return most > PEERS_UNAUTHENTICATED_MIN ? most : PEERS_UNAUTHENTICATED_MIN;
}

bool peers_enter(struct peers *all, const char *address, struct peer **ret_peer)
{
	*ret_peer = NULL;
	if (!is_counted(address))
		return true;
	struct peer *p = find(all, address);
	if (!p || p->unauthenticated >= unauthenticated_max(all, p))
		return false;
	p->unauthenticated++;
	if (all->gauge)
		++*all->gauge;
	*ret_peer = p;
	return true;
}

void peers_leave(struct peers *all, struct peer *p)
{
	if (!p)
		return;
	p->unauthenticated--;
	if (all->gauge)
		--*all->gauge;
	if (p->unauthenticated == 0 && p->spent_ms == 0)
		forget(all, p);
}

bool peers_count_failure(struct peers *all, const char *address, uint64_t now_ms)
{
	struct peer *p = is_counted(address) ? find(all, address) : NULL;
	return p && limiter_spend(&p->spent_ms, PEERS_FAILURES_BURST, PEERS_FAILURE_MS, now_ms);
}

void peers_finish(struct peers *all)
{
	struct peer *p, *next;
	HASH_ITER (hh, all->table, p, next)
		forget(all, p);
}

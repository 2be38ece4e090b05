/*
 * Limits for each address: on connections that have not authenticated, and on failed requests without credentials. IPv6
 * addresses count by /64, which is what one subscriber gets. Unix sockets are not limited. Pure. Memory is bounded by the
 * number of connections and PEERS_KEPT.
 */
#pragma once

#include "ws/auth/limiter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#define PEERS_KEPT 4096u /* addresses without unauthenticated connections that are kept */
#define PEERS_UNAUTHENTICATED_MIN \
	32u                       /* unauthenticated connections that an address may always have */
#define PEERS_SHARE 4u            /* an address may have 1/4 of all connections, */
#define PEERS_SHARE_LOCAL 2u      /* or 1/2 on loopback, where proxies are */
#define PEERS_FAILURES_BURST 512u /* requests that may fail at once */
#define PEERS_FAILURE_MS 50u      /* time until one more may fail */

/* One address. */
struct peer {
	UT_hash_handle hh;
	char network[LIMITER_PEER_MAX];
	unsigned unauthenticated; /* its connections that have not authenticated */
	uint64_t spent_ms; /* up to when its allowance of failures is used, see limiter_spend() */
};

/* All addresses. Zero it, then set connections_max. */
struct peers {
	struct peer *table;
	unsigned connections_max; /* of the server */
	uint64_t *gauge;          /* unauthenticated connections, for /metrics; may be NULL */
};

/*
 * Count a new connection from this address. Returns false if it has too many. *ret_peer: pass it to peers_leave() once, when
 * the connection has authenticated or closed; NULL = it is not counted.
 */
bool peers_enter(struct peers *all, const char *address, struct peer **ret_peer);

/* Undo peers_enter(). NULL is allowed. */
void peers_leave(struct peers *all, struct peer *peer);

/* Count a failed request. now_ms: monotonic. Returns true if too many have failed before. */
bool peers_count_failure(struct peers *all, const char *address, uint64_t now_ms);

/* Free the table. */
void peers_finish(struct peers *all);

/*
 * What strangers may do from each address: connections on which nobody has said yet who asks, and requests that fail
 * without credentials. An address is a network here: of IPv6 a /64, which is what one subscriber gets. Unix sockets
 * have none, and are not limited. Pure; memory is bounded by the connections, and PEERS_KEPT beyond them.
 */
#pragma once

#include "ws/auth/limiter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#define PEERS_KEPT 4096u          /* of addresses without a stranger's connection */
#define PEERS_STRANGERS_MIN 32u   /* connections, however few there may be in all */
#define PEERS_SHARE 4u            /* one address may have this part of all connections, */
#define PEERS_SHARE_LOCAL 2u      /* or this on loopback, where proxies are */
#define PEERS_FAILURES_BURST 512u /* requests that may fail at once, */
#define PEERS_FAILURE_MS 50u      /* and then one in so much time */

/* One address. */
struct peer {
	UT_hash_handle hh;
	char network[LIMITER_PEER_MAX];
	unsigned strangers; /* its connections of which nobody knows who they are */
	uint64_t spent_ms;  /* how far its allowance of failures is used up: a point in time */
};

/* Zero is an empty one; connections_max is to be set. */
struct peers {
	struct peer *table;
	unsigned connections_max; /* of the server */
	uint64_t *gauge;          /* strangers, for /metrics; NULL: nobody asks */
};

/*
 * A connection from this address begins. Returns whether it may; *ret_peer is to be given to peers_leave() once, when
 * it is known who asks or it has ended; NULL: that is not needed.
 */
bool peers_enter(struct peers *all, const char *address, struct peer **ret_peer);
void peers_leave(struct peers *all, struct peer *peer);

/* Count a request that failed, at a time of a steady clock. Returns whether too many had failed already. */
bool peers_fail(struct peers *all, const char *address, uint64_t now_ms);

void peers_finish(struct peers *all);

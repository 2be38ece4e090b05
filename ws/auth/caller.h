/*
 * The caller of a request that one node of a fleet forwards to another: the client, as the first node has authenticated it.
 * It is a signed token, sent as "Authorization: Bearer", for one node and a short time. All nodes have the key, which is
 * derived from the fleet's secret.
 */
#pragma once

#include "ws/auth/auth.h"

#include <stdbool.h>
#include <stdint.h>

#define CALLER_LIFE_S 300u /* of a token; the clocks of nodes may differ by this */

enum caller_kind {
	CALLER_ANYONE, /* not authenticated */
	CALLER_OWNER,
	CALLER_LINK,  /* id: of a link of the node that is called */
	CALLER_LOGIN, /* id: of a login with such a link */
	CALLER_KINDS
};

/* A caller. */
struct caller {
	enum caller_kind kind;
	char id[LINK_ID_SIZE]; /* or "" */
	bool secure;           /* the client uses TLS */
	uint64_t client;       /* see struct request */
	char peer[LIMITER_PEER_MAX];
};

_Static_assert(LINK_ID_SIZE == LOGIN_ID_SIZE, "an id is of either");

/* The caller for a principal, without peer, secure and client. */
void caller_of(const struct principal *p, struct caller *ret_caller);

/* Sign a token for a node. Returns it, owned by the caller of this function, or NULL when memory is short. */
char *caller_sign(const struct auth *a, const struct caller *c, const char *node, uint64_t now_ms);

/* Read the value of an Authorization header. Returns false if it is not a valid token for this node. */
bool caller_verify(const struct auth *a, const char *authorization, uint64_t now_ms,
	struct caller *ret_caller);

/* Get the principal of a caller. Returns as auth_check(); AUTH_WRONG: its link or login has ended. */
enum auth_result caller_authenticate(
	struct auth *a, const struct caller *c, bool terminal, struct principal *ret_principal);

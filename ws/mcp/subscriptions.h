/*
 * Subscriptions to changes of resources, by the clients of the revisions with sessions and by
 * streams of subscriptions/listen (ws/mcp/notify.h). A screen changes with each byte of output and
 * with its size; a block with each byte of output while it runs, and when it ends. The first change
 * is reported at once, further ones every MCP_UPDATED_MS.
 */
#pragma once

#include "ws/auth/auth.h"
#include "ws/mcp/uri.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_SUBSCRIPTIONS_MAX 64u     /* of a client */
#define MCP_SUBSCRIPTIONS_LINK 512u   /* of all clients of a link */
#define MCP_SUBSCRIPTIONS_TOTAL 4096u /* of all clients */
#define MCP_UPDATED_MS UINT64_C(500)

struct mcp;
struct mcp_subscriber;

/* Zeroed memory is empty. */
struct mcp_subscriptions {
	struct mcp_subscriber *table; /* by scope, the oldest first */
	size_t count;                 /* subscriptions */
};

/*
 * Subscribe the client of p with this scope to a resource. If the link or the server has too many
 * subscriptions, the oldest other client of the same link loses all of its own. Returns 0, also if
 * it was subscribed, -ERR_LIMIT (too many) or -ENOMEM.
 */
int mcp_subscribe(
	struct mcp *m, const char *scope, const struct principal *p, const struct mcp_uri *uri);

/*
 * Subscribe to a list of addresses. Returns those that exist, that p may read and that were
 * subscribed, a new reference.
 */
json_t *mcp_subscribe_all(
	struct mcp *m, const char *scope, const struct principal *p, const json_t *uris);

/* End a subscription, if there is one. */
void mcp_unsubscribe(struct mcp *m, const char *scope, const struct mcp_uri *uri);

/* End all subscriptions of a client. */
void mcp_unsubscribe_all(struct mcp *m, const char *scope);

/*
 * The notification for a resource that has changed since its last one, a new reference; NULL: none.
 */
json_t *mcp_subscriptions_next_change(struct mcp *m, const char *scope);

/* Free everything. */
void mcp_subscriptions_close(struct mcp_subscriptions *all);

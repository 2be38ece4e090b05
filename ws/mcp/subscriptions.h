/*
 * Who wants to hear that a resource has changed: clients of the revisions with sessions, and who listens, on their streams (ws/mcp/news.h).
 * A screen changes with each byte that is printed and with its size, a block with what is printed while it runs, and at its
 * end: a client hears of it at once, and then every MCP_UPDATED_MS at most.
 */
#pragma once

#include "ws/auth/auth.h"
#include "ws/mcp/uri.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_SUBSCRIPTIONS_MAX 64u     /* of a client */
#define MCP_SUBSCRIPTIONS_LINK 512u   /* of all clients that came by one link */
#define MCP_SUBSCRIPTIONS_TOTAL 4096u /* of all; owners' are those that nobody else has */
#define MCP_UPDATED_MS UINT64_C(500)

struct mcp;
struct mcp_subscriber;

/* Zero is none. */
struct mcp_subscriptions {
	struct mcp_subscriber *table; /* by scope, those that came first in front */
	size_t count;                 /* subscriptions */
};

/*
 * The client of this scope, of p, wants to hear of it. Returns 0, also when it does already, -EUSERS (there are too many) or
 * -ENOMEM. Where a link, or the server, has as many as it may, the client of p's that came first hears of nothing more.
 */
int mcp_subscribe(
	struct mcp *m, const char *scope, const struct principal *p, const struct mcp_uri *uri);

/* What of a list of addresses p may hear of, and has been subscribed to under this scope. Returns a new reference. */
json_t *mcp_subscribe_all(
	struct mcp *m, const char *scope, const struct principal *p, const json_t *uris);

void mcp_unsubscribe(struct mcp *m, const char *scope, const struct mcp_uri *uri);

/* The client has ended. */
void mcp_unsubscribe_all(struct mcp *m, const char *scope);

/* One that has changed since this was last said of it: the notification, a new reference; or NULL. */
json_t *mcp_subscriptions_news(struct mcp *m, const char *scope);

void mcp_subscriptions_close(struct mcp_subscriptions *all);

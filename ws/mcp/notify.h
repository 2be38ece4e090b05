/*
 * Event streams that carry notifications. In the revisions with sessions each client has one (GET
 * /mcp; a new one replaces the old): it reports the end of commands that still ran, as
 * notifications/message, and changes of subscribed resources. In the revision without sessions
 * there is one for each subscriptions/listen, with what that request asks for.
 */
#pragma once

#include "ws/mcp/sessions.h"
#include "ws/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_NOTIFY_MAX MCP_SESSIONS_MAX /* streams */
#define MCP_NOTIFY_WAITING 64u          /* unsent notifications of a stream; more are made later */
#define MCP_NOTIFY_CHANGES 16u          /* unsent notifications above which no changes are added */

struct mcp;
struct mcp_stream;
struct rpc_message;

/*
 * Answer r, a GET, with the stream of a client, or refuse it. client: the hash of what
 * mcp_own_identity() writes.
 */
void mcp_notify_open(struct mcp *m, struct request *r, const char *scope, uint64_t client);

/*
 * Answer r, a POST of subscriptions/listen, with a stream, or refuse it. The first notification
 * lists the accepted subscriptions (see mcp_subscribe_all()), which end with the stream. scope: of
 * the client's request ids, or "".
 */
void mcp_notify_listen(
	struct mcp *m, struct request *r, const struct rpc_message *message, const char *scope);

/* End the stream of the subscriptions/listen with this request id, if there is one. */
void mcp_notify_cancel(struct mcp *m, const char *scope, const json_t *id);

/* The server stops: respond to each subscriptions/listen and end its stream. */
void mcp_notify_stop(struct mcp *m);

/* Send a message, taken, to a client. Returns false if it has no stream, or a full one. */
bool mcp_notify_send(struct mcp *m, const char *scope, json_t *message);

/* End the stream of this scope, because its session has ended. */
void mcp_notify_end(struct mcp *m, const char *scope);

/* Periodically: look for ended commands and changed resources. */
void mcp_notify_tick(struct mcp *m);

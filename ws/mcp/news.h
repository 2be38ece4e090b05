/*
 * Streams on which clients are told what happens meanwhile. Those of the revisions with sessions (GET /mcp): that a command which
 * they have left running has ended, as notifications/message, and what they have subscribed to. One for each client, of which the
 * newest counts. Those of the revision without: what each of their requests to listen (subscriptions/listen) asks for.
 */
#pragma once

#include "ws/mcp/sessions.h"
#include "ws/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_NEWS_MAX MCP_SESSIONS_MAX /* streams */
#define MCP_NEWS_WAITING \
	64u /* notifications that wait to be read, of a stream; more are told later */
#define MCP_NEWS_CHANGES 16u /* of which that resources have changed, likewise */

struct mcp;
struct mcp_stream;
struct rpc_message;

/* Answer r, a GET, with the stream of the client of this scope, which has this number as a caller; or refuse it. */
void mcp_news_open(struct mcp *m, struct request *r, const char *scope, uint64_t client);

/*
 * Answer r, a POST of this message, with a stream of what it wants to hear of: first what of that it will, see
 * mcp_subscribe_all(), which ends with the stream. scope: of the client's ids, or "". Or refuse it.
 */
void mcp_news_listen(
	struct mcp *m, struct request *r, const struct rpc_message *message, const char *scope);

/* The client of this scope listens no more with the request of this id, if it does. */
void mcp_news_cancel(struct mcp *m, const char *scope, const json_t *id);

/* The server ends: who listens is told so. */
void mcp_news_stop(struct mcp *m);

/* Tell the client of this scope (message is taken); whether it has a stream, with room. */
bool mcp_news_send(struct mcp *m, const char *scope, json_t *message);

/* The session has ended, and so does its stream. */
void mcp_news_end(struct mcp *m, const char *scope);

/* From time to time: look for what has ended. */
void mcp_news_tick(struct mcp *m);

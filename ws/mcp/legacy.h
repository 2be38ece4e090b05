/* The revisions of MCP that begin with `initialize`: their sessions, and what comes from them. */
#pragma once

#include "ws/mcp/exchange.h"

/* Take what was sent. sender: its scope and how it may be answered; the rest is filled in. */
void mcp_legacy_handle(
	struct mcp *m, struct request *r, const struct rpc_input *input, struct mcp_sender *sender);

/* Answer r, a DELETE: the session ends. What it has under way goes on. */
void mcp_legacy_end(struct mcp *m, struct request *r);

/* Answer r, a GET, with the stream of what happens meanwhile. sender: its scope, as above. */
void mcp_legacy_follow(struct mcp *m, struct request *r, struct mcp_sender *sender);

/* The name of a client by what it says of itself, or "". Borrowed. */
const char *mcp_client_name(const json_t *info);

/* Refuse a revision. */
void mcp_refuse_version(struct request *r, json_t *id, const char *asked);

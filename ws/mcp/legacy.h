/* The revisions of MCP that begin with `initialize`, and their sessions. */
#pragma once

#include "ws/mcp/exchange.h"

/* Handle a POST. sender: scope and accepted answers are set; the rest is filled in. */
void mcp_legacy_handle(
	struct mcp *m, struct request *r, const struct rpc_input *input, struct mcp_sender *sender);

/* Answer r, a DELETE, and end its session. Calls in progress go on. */
void mcp_legacy_end(struct mcp *m, struct request *r);

/* Answer r, a GET, with the stream of notifications. sender: its scope is set. */
void mcp_legacy_follow(struct mcp *m, struct request *r, struct mcp_sender *sender);

/* The client's name from clientInfo, borrowed; "": none or invalid. */
const char *mcp_client_name(const json_t *info);

/* Answer r with an error: this revision is not supported. */
void mcp_refuse_version(struct request *r, json_t *id, const char *asked);

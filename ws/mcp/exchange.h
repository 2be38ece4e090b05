/*
 * An exchange is a POST to /mcp with requests: usually one, or a batch in some revisions. It is
 * answered with JSON or with an event stream.
 */
#pragma once

#include "ws/access.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/rpc.h"

#define MCP_META "io.modelcontextprotocol/"

/* In _meta of a call: an earlier server may have received it (ws/client/resend.h). */
#define MCP_META_AGAIN "ringside/again"

/* Instructions for models: what the server is for. */
extern const char mcp_instructions[];

/* The client that sent a POST, and how it can be answered. */
struct mcp_sender {
	char scope[MCP_SESSION_ID_SIZE]; /* of its request ids; "": none */
	const char *client;              /* name of the program, or "" */
	bool accepts_json, accepts_stream;
	bool elicits;  /* it supports elicitation by URL */
	bool restored; /* its session was not begun by this server, or was dropped */
};

/* Start all requests of the input; answer r when they have ended. modern: no sessions. */
void mcp_exchange_run(struct mcp *m, struct request *r, const struct rpc_input *input, bool modern,
	const struct mcp_sender *sender);

/* Handle a notification or a response. scope: of its sender. */
void mcp_handle_message(struct mcp *m, const struct rpc_message *message, const char *scope);

/* Periodically: send progress, and turn slow answers into streams. */
void mcp_exchanges_tick(struct mcp *m);

/* Whether the headers of r are checked: it came over HTTP, and not from `ringside mcp` (?stdio=), which sends none. */
static inline bool mcp_has_headers(const struct request *r)
{
	return r->has_headers && !request_param(r, "stdio");
}

/* Answer with a status and an empty body. */
void mcp_reply_nothing(struct request *r, int status);

/* Answer with a JSON-RPC error. data: taken; may be NULL. */
void mcp_refuse(struct request *r, int status, json_t *id, enum rpc_code code, const char *message,
	json_t *data);

/* Answer with status 429: the quota of this kind is used up. */
void mcp_refuse_quota(struct request *r, json_t *id, enum quota_kind kind);

/* Name and version of the server. Returns a new reference. */
json_t *mcp_server_info(const struct mcp *m);

/*
 * An exchange is a POST to /mcp with requests, usually one, of some revisions a batch: they are begun, and
 * answered with JSON or with a stream of events.
 */
#pragma once

#include "ws/access.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/rpc.h"

#define MCP_META "io.modelcontextprotocol/"
#define MCP_META_AGAIN \
	"ringside/again" /* of a call: an earlier server may have got it (ws/client/again.h) */

extern const char mcp_instructions[]; /* for models: what the server is for */

/* Who sent it, and how it may be answered. */
struct mcp_sender {
	char scope[MCP_SESSION_ID_SIZE];
	const char *client;
	bool takes_json, takes_stream;
	bool elicits;  /* it can have a person open an address */
	bool taken_up; /* its session is one that this server has not begun */
};

/* Begin all requests of the input, and answer r when they are over. modern: of the revision without sessions. */
void mcp_exchange_run(struct mcp *m, struct request *r, const struct rpc_input *input, bool modern,
	const struct mcp_sender *sender);

/* Do what a notification says, or a response. scope: who sent it. */
void mcp_take_message(struct mcp *m, const struct rpc_message *message, const char *scope);

/* From time to time: progress is told, answers that take long become streams. */
void mcp_exchanges_tick(struct mcp *m);

/* Answer with nothing but a status; or with an error of the protocol (data is taken). */
void mcp_reply_nothing(struct request *r, int status);
void mcp_refuse(struct request *r, int status, json_t *id, enum rpc_code code, const char *message,
	json_t *data);

/* The same: the quota of this kind is used up. */
void mcp_refuse_quota(struct request *r, json_t *id, enum quota_kind kind);

/* Name and version of the server. Returns a new reference. */
json_t *mcp_server_info(const struct mcp *m);

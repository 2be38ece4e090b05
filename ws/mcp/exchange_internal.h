/* What the files of an exchange share: its requests, each of which is answered once. */
#pragma once

#include "ws/mcp/exchange.h"

/* A request of an exchange. */
struct mcp_item {
	struct mcp_exchange *exchange;
	json_t *id;            /* owned */
	struct mcp_call *call; /* NULL: none is under way */
	json_t *token;         /* of progress; owned; NULL: none is wanted */
	uint64_t progress_ms;  /* of the last one */
	char *progress;        /* waits to be sent; owned */
	char *asked;           /* a request to the client; likewise */
	char *response;        /* likewise */
	bool starting, over;   /* over: its response was made, or it was cancelled */
};

struct mcp_exchange {
	struct mcp_exchange *prev, *next;
	struct mcp *mcp;
	struct request *request; /* our reference */
	struct quota_place place;
	bool modern, batch, streaming, takes_json, takes_stream, busy;
	bool asks; /* something of the client, for which only a stream will do */
	char scope[MCP_SESSION_ID_SIZE]; /* of ids for cancelling; "" = none */
	int status;                      /* of an answer in JSON */
	uint64_t began_ms;
	size_t count, open; /* items; those that are not over */
	struct mcp_item items[];
};

/* Begin what a request asks for. */
void mcp_method_begin(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender);

/* Its response: a result (taken; NULL: memory is short), or an error (data is taken). status: of HTTP, where there are no sessions. */
void mcp_item_result(struct mcp_item *i, json_t *result);
void mcp_item_error(
	struct mcp_item *i, int status, enum rpc_code code, const char *message, json_t *data);

/* Something is over: answer, or send it. Nobody looks at x afterwards. */
void mcp_exchange_advance(struct mcp_exchange *x);

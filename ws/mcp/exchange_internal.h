/* What the files of an exchange share. */
#pragma once

#include "ws/mcp/exchange.h"

/* A request of an exchange, which is answered once. */
struct mcp_item {
	struct mcp_exchange *exchange;
	json_t *id;            /* owned */
	struct mcp_call *call; /* NULL: none in progress */
	json_t *token;         /* progressToken; owned; NULL: progress is not wanted */
	uint64_t progress_ms;  /* time of the last progress */
	char *progress;        /* unsent notification; owned */
	char *asked;           /* unsent request to the client; owned */
	char *response;        /* unsent response; owned */
	bool starting, over;   /* over: it has a response, or was cancelled */
};

/* A POST with its requests. */
struct mcp_exchange {
	struct mcp_exchange *prev, *next;
	struct mcp *mcp;
	struct request *request; /* our reference */
	struct quota_place place;
	bool modern, batch, streaming, accepts_json, accepts_stream, busy;
	bool needs_stream;               /* a request to the client was made */
	char scope[MCP_SESSION_ID_SIZE]; /* of ids for cancelling; "": none */
	int status;                      /* of an answer in JSON */
	uint64_t began_ms;
	size_t count, open; /* items; those that are not over */
	struct mcp_item items[];
};

/* Start the method that a request calls. */
void mcp_method_begin(
	struct mcp_item *i, const struct rpc_message *m, const struct mcp_sender *sender);

/* Respond with a result, taken; NULL: memory is short. */
void mcp_item_result(struct mcp_item *i, json_t *result);

/* Respond with an error. status: of HTTP, if there are no sessions. data: taken; may be NULL. */
void mcp_item_error(
	struct mcp_item *i, int status, enum rpc_code code, const char *message, json_t *data);

/* An item is over, or has something to send: send or answer. May free x. */
void mcp_exchange_advance(struct mcp_exchange *x);

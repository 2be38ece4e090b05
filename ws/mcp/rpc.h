/* JSON-RPC 2.0 as MCP uses it: what a client has sent, and what it is answered. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RPC_BATCH_MAX 64u /* messages of a batch */
#define RPC_ID_MAX 256u   /* bytes of an id that is a string */

enum rpc_code {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL_ERROR = -32603,
	RPC_RESOURCE_NOT_FOUND = -32002, /* MCP's own, of its earlier revisions */
	RPC_HEADER_MISMATCH = -32020,    /* MCP's own, as the next */
	RPC_UNSUPPORTED_VERSION = -32022,
	RPC_ACCESS_ENDED = 401,  /* ours, as the next: outside of what JSON-RPC reserves */
	RPC_LIMIT_REACHED = 429, /* ours: outside of what JSON-RPC reserves */
};

/* What came: one message or a batch of them. */
struct rpc_input {
	json_t *root;        /* owned; NULL when there is a problem */
	size_t count;        /* messages, at least 1 */
	bool batch;          /* also of one */
	enum rpc_code code;  /* of the problem */
	const char *problem; /* literal, or NULL */
};

enum rpc_kind { RPC_INVALID, RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE };

/* One message; all is borrowed from the input. */
struct rpc_message {
	enum rpc_kind kind;
	json_t *id;          /* a string or an integer; NULL = none, or none that can be used */
	const char *method;  /* "" of a response */
	json_t *params;      /* an object, or NULL */
	json_t *meta;        /* params._meta, an object, or NULL */
	json_t *result;      /* of a response, an object, or NULL: it is an error */
	const char *problem; /* RPC_INVALID: literal */
};

/* Parse what was sent, and free what that has left. */
void rpc_parse(const char *text, size_t length, struct rpc_input *ret_input);
void rpc_free(struct rpc_input *input);

/* The message at index, which is less than count. */
void rpc_message(const struct rpc_input *input, size_t index, struct rpc_message *ret_message);

/* Messages of ours; new references, id is borrowed and may be NULL, the rest is taken; data may be NULL. */
json_t *rpc_result(json_t *id, json_t *result);
json_t *rpc_error(json_t *id, enum rpc_code code, const char *message, json_t *data);
json_t *rpc_notification(const char *method, json_t *params);

/* JSON-RPC 2.0 as used by MCP: parses messages of a client, and makes ours. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RPC_BATCH_MAX 64u /* messages of a batch */
#define RPC_ID_MAX 256u   /* bytes of an id that is a string */

/* Error codes. */
enum rpc_code {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL_ERROR = -32603,
	RPC_RESOURCE_NOT_FOUND = -32002,  /* of MCP, revisions with `initialize` */
	RPC_HEADER_MISMATCH = -32020,     /* of MCP */
	RPC_UNSUPPORTED_VERSION = -32022, /* of MCP */
	RPC_ACCESS_ENDED = 401,           /* ours, outside of the range that JSON-RPC reserves */
	RPC_LIMIT_REACHED = 429,          /* ours */
};

/* A parsed body: one message or a batch. */
struct rpc_input {
	json_t *root;        /* owned; NULL: invalid */
	size_t count;        /* messages, at least 1 */
	bool batch;          /* may also have one message */
	enum rpc_code code;  /* of the problem */
	const char *problem; /* a literal; NULL: valid */
};

/* What a message is. */
enum rpc_kind { RPC_INVALID, RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE };

/* One message, borrowed from the input. */
struct rpc_message {
	enum rpc_kind kind;
	json_t *id;          /* a string or an integer; NULL: absent or invalid */
	const char *method;  /* response: "" */
	json_t *params;      /* an object, or NULL */
	json_t *meta;        /* params._meta, an object, or NULL */
	json_t *result;      /* response: an object; NULL: an error */
	const char *problem; /* RPC_INVALID: a literal */
};

/* Parse a body. Free it with rpc_free(). */
void rpc_parse(const char *text, size_t length, struct rpc_input *ret_input);

/* Free a parsed body. */
void rpc_free(struct rpc_input *input);

/* Get the message at index, which must be less than count. */
void rpc_message(const struct rpc_input *input, size_t index, struct rpc_message *ret_message);

/* A response with a result, taken. id: borrowed. Returns a new reference. */
json_t *rpc_result(json_t *id, json_t *result);

/* A response with an error, a new reference. id: borrowed or NULL. data: taken or NULL. */
json_t *rpc_error(json_t *id, enum rpc_code code, const char *message, json_t *data);

/* A notification. params: taken. Returns a new reference. */
json_t *rpc_notification(const char *method, json_t *params);

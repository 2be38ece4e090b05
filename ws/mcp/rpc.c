/* Parses JSON-RPC. An invalid message gets an error code and a text; the caller responds. */
#include "ws/mcp/rpc.h"
#include "shell/json_read.h"
#include "ws/text.h"

#include <string.h>

static void refuse_input(struct rpc_input *input, enum rpc_code code, const char *problem)
{
	json_decref(input->root);
	*input = (struct rpc_input){.code = code, .problem = problem};
}

void rpc_parse(const char *text, size_t length, struct rpc_input *input)
{
	/* Handlers refuse NULs, because they know the field. */
	json_t *root = json_read(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	*input = (struct rpc_input){.root = root, .count = 1, .batch = json_is_array(root)};
	if (input->batch)
		input->count = json_array_size(root);
	if (!root)
		refuse_input(input, RPC_PARSE_ERROR, "The body is not valid JSON");
	else if (input->count == 0)
		refuse_input(input, RPC_INVALID_REQUEST, "The batch is empty");
	else if (input->count > RPC_BATCH_MAX)
		refuse_input(input, RPC_INVALID_REQUEST, "The batch has more than 64 messages");
}

void rpc_free(struct rpc_input *input)
{
	json_decref(input->root);
	input->root = NULL;
}

static bool is_id(const json_t *id)
{
	return json_is_integer(id) || (json_is_string(id) && json_string_length(id) <= RPC_ID_MAX);
}

/* The error in a message; NULL: it is valid. */
static const char *problem_of(const json_t *object, const struct rpc_message *m)
{
	const char *version = json_string_value(json_object_get(object, "jsonrpc"));
	const json_t *method = json_object_get(object, "method");
	const json_t *params = json_object_get(object, "params");
	if (!json_is_object(object))
		return "A message must be an object";
	if (!version || strcmp(version, "2.0") != 0)
		return "jsonrpc must be \"2.0\"";
	if (json_object_get(object, "id") && !m->id)
		return "id must be a string of at most 256 bytes or an integer";
	if (!method)
		return json_object_get(object, "result") || json_object_get(object, "error")
			? NULL
			: "method is required";
	if (!json_is_string(method) || strlen(m->method) != json_string_length(method))
		return "method must be a string";
	if (params && !json_is_object(params))
		return "params must be an object";
	return NULL;
}

void rpc_message(const struct rpc_input *input, size_t index, struct rpc_message *m)
{
	json_t *object = input->batch ? json_array_get(input->root, index) : input->root;
	json_t *id = json_object_get(object, "id");
	json_t *params = json_object_get(object, "params");
	json_t *meta = json_object_get(params, "_meta");
	json_t *result = json_object_get(object, "result");
	const char *method = json_string_value(json_object_get(object, "method"));
	*m = (struct rpc_message){.id = is_id(id) ? id : NULL,
		.method = method ? method : "",
		.params = json_is_object(params) ? params : NULL,
		.meta = json_is_object(meta) ? meta : NULL,
		.result = json_is_object(result) ? result : NULL};
	m->problem = problem_of(object, m);
	if (m->problem)
		m->kind = RPC_INVALID;
	else if (!method)
		m->kind = RPC_RESPONSE;
	else
		m->kind = m->id ? RPC_REQUEST : RPC_NOTIFICATION;
}

json_t *rpc_result(json_t *id, json_t *result)
{
	return json_pack("{s:s, s:O?, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

json_t *rpc_error(json_t *id, enum rpc_code code, const char *message, json_t *data)
{
	json_t *error = json_pack("{s:i, s:o, s:o*}", "code", (int)code, "message",
		text_string_json(message), "data", data);
	/* Without an id if the message has no valid one. */
	return json_pack("{s:s, s:O*, s:o}", "jsonrpc", "2.0", "id", id, "error", error);
}

json_t *rpc_notification(const char *method, json_t *params)
{
	return json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params", params);
}

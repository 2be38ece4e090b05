#include "tests/lib/json_text.h"
#include "ws/mcp/rpc.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(mcp_rpc, .timeout = 60);

static const struct {
	const char *in;
	enum rpc_kind kind;
	bool has_id;
} messages[] = {
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}", RPC_REQUEST, true},
	{"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"x\",\"params\":{}}", RPC_REQUEST, true},
	{"{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", RPC_NOTIFICATION, false},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", RPC_RESPONSE, true},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", RPC_RESPONSE, true},
	{"{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_INVALID, true},
	{"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", RPC_INVALID, false},
	{"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}", RPC_INVALID, false},
	{"{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"x\"}", RPC_INVALID, false},
	{"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}", RPC_INVALID, true},
	{"{\"id\":1,\"method\":\"x\"}", RPC_INVALID, true},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":2}", RPC_INVALID, true},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\\u0000y\"}", RPC_INVALID, true},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]}", RPC_INVALID, true},
	{"{}", RPC_INVALID, false},
};

Test(mcp_rpc, messages)
{
	for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
		struct rpc_input input;
		struct rpc_message m;
		rpc_parse(messages[i].in, strlen(messages[i].in), &input);
		cr_assert(input.root && !input.batch && input.count == 1, "%s", messages[i].in);
		rpc_message(&input, 0, &m);
		cr_assert_eq(m.kind, messages[i].kind, "%s", messages[i].in);
		cr_assert_eq(m.id != NULL, messages[i].has_id, "%s", messages[i].in);
		rpc_free(&input);
	}
}

static enum rpc_code code_of(const char *text)
{
	struct rpc_input input;
	rpc_parse(text, strlen(text), &input);
	enum rpc_code code = input.code;
	cr_assert_eq(input.root == NULL, input.problem != NULL);
	rpc_free(&input);
	return code;
}

Test(mcp_rpc, invalid_messages)
{
	cr_assert_eq(code_of("{"), RPC_PARSE_ERROR);
	cr_assert_eq(code_of(""), RPC_PARSE_ERROR);
	cr_assert_eq(code_of("1"), RPC_PARSE_ERROR);
	cr_assert_eq(code_of("{\"a\":1,\"a\":2}"), RPC_PARSE_ERROR);
	cr_assert_eq(code_of("[]"), RPC_INVALID_REQUEST);
}

Test(mcp_rpc, batch_is_limited)
{
	char text[4 * RPC_BATCH_MAX] = "[1";
	for (unsigned i = 1; i < RPC_BATCH_MAX; i++)
		strcat(text, ",1");
	struct rpc_input input;
	struct rpc_message m;
	char whole[sizeof text + 4];
	snprintf(whole, sizeof whole, "%s]", text);
	rpc_parse(whole, strlen(whole), &input);
	cr_assert(input.root && input.batch);
	cr_assert_eq(input.count, RPC_BATCH_MAX);
	rpc_message(&input, RPC_BATCH_MAX - 1, &m);
	cr_assert_eq(m.kind, RPC_INVALID);
	rpc_free(&input);
	snprintf(whole, sizeof whole, "%s,1]", text);
	cr_assert_eq(code_of(whole), RPC_INVALID_REQUEST);
}

Test(mcp_rpc, replies)
{
	json_t *id = json_integer(7);
	json_expect(rpc_result(id, json_object()), "{'jsonrpc':'2.0','id':7,'result':{}}");
	json_expect(rpc_error(id, RPC_INVALID_PARAMS, "no", json_true()),
		"{'jsonrpc':'2.0','id':7,'error':{'code':-32602,'message':'no','data':true}}");
	json_expect(rpc_error(NULL, RPC_PARSE_ERROR, "no", NULL),
		"{'jsonrpc':'2.0','error':{'code':-32700,'message':'no'}}");
	json_expect(
		rpc_notification("n", json_object()), "{'jsonrpc':'2.0','method':'n','params':{}}");
	json_decref(id);
}

/* Messages of clients to /mcp, and arguments against the schemas of all tools. */
#include "tests/fuzz/fuzz.h"
#include "ws/mcp/rpc.h"
#include "ws/mcp/tools.h"

static void check_answer(json_t *answer)
{
	FUZZ_CHECK(answer);
	char *text = json_dumps(answer, JSON_COMPACT);
	FUZZ_CHECK(text);
	free(text);
	json_decref(answer);
}

static void check_arguments(json_t *arguments)
{
	char problem[MCP_PROBLEM_SIZE];
	struct mcp_tools tools;
	FUZZ_CHECK(mcp_tools_open(&tools) == 0);
	for (size_t i = 0; i < tools.count; i++)
		if (!mcp_schema_check(tools.list[i].schema, arguments, "arguments", problem))
			FUZZ_CHECK(memchr(problem, '\0', sizeof problem) && problem[0]);
	mcp_tools_close(&tools);
}

static void check_message(const struct rpc_message *m)
{
	FUZZ_CHECK(m->method);
	FUZZ_CHECK((m->kind == RPC_INVALID) == (m->problem != NULL));
	FUZZ_CHECK(m->kind != RPC_REQUEST || (m->id && m->method));
	FUZZ_CHECK(m->kind != RPC_NOTIFICATION || !m->id);
	FUZZ_CHECK(!m->id || json_is_string(m->id) || json_is_integer(m->id));
	FUZZ_CHECK(!m->params || json_is_object(m->params));
	FUZZ_CHECK(!m->meta || json_is_object(m->meta));
	check_answer(rpc_error(m->id, RPC_INVALID_REQUEST, m->problem ? m->problem : "", NULL));
	if (m->id)
		check_answer(rpc_result(m->id, json_object()));
	json_t *arguments = json_object_get(m->params, "arguments");
	if (arguments)
		check_arguments(arguments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpc_input input;
	struct rpc_message message;
	rpc_parse((const char *)data, size, &input);
	FUZZ_CHECK((input.root == NULL) == (input.problem != NULL));
	FUZZ_CHECK(!input.root || (input.count > 0 && input.count <= RPC_BATCH_MAX));
	for (size_t i = 0; input.root && i < input.count; i++) {
		rpc_message(&input, i, &message);
		check_message(&message);
	}
	rpc_free(&input);
	return 0;
}

/* The code, the API's description and that of MCP's tools list the same conditions. */
#include "shell/wait/wait.h"
#include "ws/api/openapi.h"
#include "ws/mcp/tools_document.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

static json_t *load(const char *document, size_t length)
{
	json_t *root = json_loadb(document, length, 0, NULL);
	cr_assert_not_null(root);
	return root;
}

/* The node below `node` at these keys; the list ends with NULL. */
static const json_t *below(const json_t *node, const char *const keys[])
{
	for (; *keys; keys++) {
		node = json_object_get(node, *keys);
		cr_assert_not_null(node, "there is no %s", *keys);
	}
	return node;
}

static const json_t *find_tool(const json_t *tools, const char *name)
{
	size_t i;
	const json_t *tool;
	json_array_foreach (tools, i, tool)
		if (strcmp(json_string_value(json_object_get(tool, "name")), name) == 0)
			return tool;
	cr_assert_fail("there is no tool %s", name);
	return NULL;
}

/* The list has the names of all conditions, and as many others. */
static void expect_conditions(const json_t *names, size_t others)
{
	cr_assert_eq(json_array_size(names), (size_t)WAIT_TYPES + others);
	for (int type = 0; type < WAIT_TYPES; type++) {
		const char *name = wait_type_name((enum wait_type)type);
		cr_assert_not_null(name, "condition %d has no name", type);
		cr_expect_str_eq(json_string_value(json_array_get(names, (size_t)type)), name);
	}
}

Test(described, conditions_of_a_wait_in_the_api)
{
	static const char *const condition[] = {
		"components", "schemas", "Condition", "properties", "type", "enum", NULL};
	static const char *const answer[] = {"paths", "/api/session/{id}/wait", "post", "responses",
		"200", "content", "application/json", "schema", "properties", "type", "enum", NULL};
	json_t *document = load(openapi_document, openapi_document_length);
	expect_conditions(below(document, condition), 0);
	expect_conditions(below(document, answer), 1); /* timeout */
	json_decref(document);
}

Test(described, conditions_of_a_wait_in_mcp)
{
	static const char *const way[] = {
		"inputSchema", "properties", "until", "items", "properties", "type", "enum", NULL};
	json_t *tools = load(mcp_tools_document, mcp_tools_document_length);
	expect_conditions(below(find_tool(tools, "wait"), way), 0);
	json_decref(tools);
}

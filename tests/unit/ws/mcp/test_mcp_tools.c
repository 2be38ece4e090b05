#include "tests/lib/json_text.h"
#include "ws/mcp/call.h"
#include "ws/mcp/field_names.h"
#include "ws/mcp/tool_table.h"
#include "ws/mcp/tools.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(mcp_tools, .timeout = 60);

static struct mcp_tools tools;

static void setup(void)
{
	cr_assert_eq(mcp_tools_open(&tools), 0);
}

static void teardown(void)
{
	mcp_tools_close(&tools);
}

static bool offers(enum role role, const char *name)
{
	size_t i;
	const json_t *tool;
	json_array_foreach (mcp_tools_list(&tools, (size_t)role, "codex-mcp-client"), i, tool)
		if (strcmp(json_string_value(json_object_get(tool, "name")), name) == 0)
			return true;
	return false;
}

Test(mcp_tools, each_role_is_offered_what_it_may_call, .init = setup, .fini = teardown)
{
	cr_assert(offers(ROLE_VIEWER, "snapshot") && offers(ROLE_VIEWER, "exec_read"));
	cr_assert(!offers(ROLE_VIEWER, "exec") && !offers(ROLE_VIEWER, "send_keys"));
	cr_assert(offers(ROLE_DRIVER, "exec") && !offers(ROLE_DRIVER, "session_create"));
	cr_assert(offers(ROLE_OWNER, "session_create") && offers(ROLE_OWNER, "exec_command"));
	cr_assert_eq(json_array_size(mcp_tools_list(&tools, ROLE_OWNER, "Codex")), tools.count);
	cr_assert_eq(json_array_size(mcp_tools_list(&tools, ROLE_OWNER, "")), tools.count - 2);
	cr_assert_null(mcp_tools_find(&tools, "nothing"));
}

Test(mcp_tools, every_tool_is_described, .init = setup, .fini = teardown)
{
	for (size_t i = 0; i < tools.count; i++) {
		const json_t *tool = json_array_get(tools.document, i);
		const json_t *hints = json_object_get(tool, "annotations");
		bool in_session;
		cr_assert_not_null(mcp_tool_begin(tools.list[i].name, &in_session));
		cr_assert(json_is_string(json_object_get(tool, "description")));
		cr_assert(json_is_false(
			json_object_get(tools.list[i].schema, "additionalProperties")));
		cr_assert_null(json_object_get(tool, "role"));
		/*
		 * Viewers get only tools that read, and no other tool is marked read-only, except for reading
		 * files.
		 */
		cr_assert_eq(json_is_true(json_object_get(hints, "readOnlyHint")),
			tools.list[i].role == ROLE_VIEWER ||
				strcmp(tools.list[i].name, "read_file") == 0,
			"%s", tools.list[i].name);
	}
}

Test(mcp_tools, descriptions_are_short, .init = setup, .fini = teardown)
{
	for (size_t list = 0; list < MCP_LISTS; list++) {
		char *text = json_dumps(mcp_tools_list(&tools, list, "claude-code"), JSON_COMPACT);
		cr_expect_leq(strlen(text) / 4, 2000, "%zu tokens", strlen(text) / 4);
		cr_expect_null(strstr(text, "\"base64\""));
		cr_expect_null(strstr(text, "exec_command"));
		cr_expect_null(strstr(text, "hidden"));
		free(text);
	}
	/* Mistakes of clients that have not read it. */
	const json_t *exec = NULL, *one;
	size_t i;
	json_array_foreach (mcp_tools_list(&tools, MCP_TRUSTED, ""), i, one)
		if (strcmp(json_string_value(json_object_get(one, "name")), "exec") == 0)
			exec = one;
	static const char *const required[] = {"yield_ms", "Only timeout_ms ends it",
		"If the shell is busy", "After exit", "passwords", "Default: your own"};
	char *all = json_dumps(exec, JSON_COMPACT);
	for (i = 0; i < sizeof required / sizeof *required; i++)
		cr_expect_not_null(strstr(all, required[i]), "%s", required[i]);
	free(all);
	char problem[MCP_PROBLEM_SIZE];
	json_t *args = json_of("{'base64':'YQ=='}");
	cr_expect(mcp_schema_check(
		mcp_tools_find(&tools, "send_keys")->schema, args, "arguments", problem));
	json_decref(args);
}

static const struct {
	const char *tool, *args, *problem; /* problem: NULL = valid */
} cases[] = {
	{"exec", "{'command':'true'}", NULL},
	{"exec", "{'command':'true','stdin':null,'env':{'A':'b'}}", NULL},
	{"exec", "{}", "command is required"},
	{"exec", "{'command':1}", "command must be of type string"},
	{"exec", "{'command':'a','stdin':1}", "stdin must be of type string or null"},
	{"exec", "{'command':'a','cmd':'b'}", "cmd is not a known argument"},
	{"exec", "{'command':'a','yield_ms':-1}", "yield_ms is out of range"},
	{"exec", "{'command':'a','yield_ms':1.5}", "yield_ms must be of type integer"},
	{"exec", "{'command':'a','env':{'A':1}}", "A must be of type string"},
	{"exec", "{'command':'a','on_cancel':'x'}",
		"on_cancel must be one of [\"detach\",\"interrupt\"]"},
	{"send_keys", "{'keys':'C-c'}", NULL},
	{"send_keys", "{'keys':['C-c','x']}", NULL},
	{"send_keys", "{'keys':[1]}", "keys is of the wrong type"},
	{"send_keys", "{'mouse':{'action':'click','row':1}}", "column is required"},
	{"wait", "{'until':[{'type':'prompt'}]}", NULL},
	{"wait", "{'until':[]}", "until has too few or too many items"},
	{"wait", "{'until':[{}]}", "type is required"},
	{"wait", "{'until':{}}", "until must be of type array"},
};

Test(mcp_tools, arguments_are_checked_against_the_schema, .init = setup, .fini = teardown)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char problem[MCP_PROBLEM_SIZE] = "";
		json_t *args = json_of(cases[i].args);
		bool good = mcp_schema_check(
			mcp_tools_find(&tools, cases[i].tool)->schema, args, "arguments", problem);
		cr_assert_eq(good, cases[i].problem == NULL, "%s: %s", cases[i].args, problem);
		cr_assert_str_eq(problem, cases[i].problem ? cases[i].problem : "");
		json_decref(args);
	}
}

Test(mcp_tools, snake_case_names_are_accepted)
{
	json_t *camel = json_of("{'aBc':[{'exitCode':{'x':1}}],'plain':'aB'}");
	json_expect(mcp_snake_case(camel), "{'a_bc':[{'exit_code':{'x':1}}],'plain':'aB'}");
	json_decref(camel);
}

/* The table of tools. ws/mcp/tools.json has their arguments and the roles that may call them. */
#include "ws/mcp/tool_table.h"

#include <assert.h>
#include <string.h>

static const struct {
	const char *name;
	mcp_step begin;
} begins[] = {
	{"session_create", mcp_session_create},
	{"session_list", mcp_session_list},
	{"session_close", mcp_session_close},
	{"exec", mcp_exec},
	{"exec_read", mcp_exec_read},
	{"exec_signal", mcp_exec_signal},
	{"send_keys", mcp_send_keys},
	{"lease", mcp_lease},
	{"wait", mcp_wait},
	{"snapshot", mcp_snapshot},
	{"resize", mcp_resize},
	{"history", mcp_history},
	{"read_file", mcp_read_file},
	{"write_file", mcp_write_file},
	{"exec_command", mcp_exec_command},
	{"write_stdin", mcp_write_stdin},
};

mcp_step mcp_tool_begin(const char *name)
{
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strcmp(begins[i].name, name) == 0)
			return begins[i].begin;
	assert(false && "tools.json has a tool that is not in the table");
	return NULL;
}

/* The table of tools. ws/mcp/tools.json has their arguments and the roles that may call them. */
#include "ws/mcp/tool_table.h"

#include <assert.h>
#include <string.h>

static const struct {
	const char *name;
	mcp_step begin;
	bool in_session;
} begins[] = {
	{"session_create", mcp_session_create},
	{"session_list", mcp_session_list},
	{"session_close", mcp_session_close},
	{"exec", mcp_exec},
	{"exec_read", mcp_exec_read},
	{"exec_signal", mcp_exec_signal},
	{"send_keys", mcp_send_keys, .in_session = true},
	{"lease", mcp_lease, .in_session = true},
	{"wait", mcp_wait, .in_session = true},
	{"snapshot", mcp_snapshot, .in_session = true},
	{"resize", mcp_resize, .in_session = true},
	{"history", mcp_history, .in_session = true},
	{"read_file", mcp_read_file, .in_session = true},
	{"write_file", mcp_write_file, .in_session = true},
	{"exec_command", mcp_exec_command},
	{"write_stdin", mcp_write_stdin},
};

mcp_step mcp_tool_begin(const char *name, bool *ret_in_session)
{
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strcmp(begins[i].name, name) == 0) {
			*ret_in_session = begins[i].in_session;
			return begins[i].begin;
		}
	assert(false && "tools.json has a tool that is not in the table");
	return NULL;
}

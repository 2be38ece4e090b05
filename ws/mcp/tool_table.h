/* The tools: the first step of each, which the file of its subject has, and finding it by the tool's name. */
#pragma once

#include "ws/mcp/call.h"

/* The first step of a tool in ws/mcp/tools.json. *ret_in_session: see struct mcp_call_options. */
mcp_step mcp_tool_begin(const char *name, bool *ret_in_session);

/* The first steps of the tools. */
void mcp_session_create(struct mcp_call *c, const struct mcp_answer *a);
void mcp_session_list(struct mcp_call *c, const struct mcp_answer *a);
void mcp_session_close(struct mcp_call *c, const struct mcp_answer *a);
void mcp_exec(struct mcp_call *c, const struct mcp_answer *a);
void mcp_exec_read(struct mcp_call *c, const struct mcp_answer *a);
void mcp_exec_signal(struct mcp_call *c, const struct mcp_answer *a);
void mcp_send_keys(struct mcp_call *c, const struct mcp_answer *a);
void mcp_lease(struct mcp_call *c, const struct mcp_answer *a);
void mcp_wait(struct mcp_call *c, const struct mcp_answer *a);
void mcp_snapshot(struct mcp_call *c, const struct mcp_answer *a);
void mcp_resize(struct mcp_call *c, const struct mcp_answer *a);
void mcp_history(struct mcp_call *c, const struct mcp_answer *a);
void mcp_read_file(struct mcp_call *c, const struct mcp_answer *a);
void mcp_write_file(struct mcp_call *c, const struct mcp_answer *a);
void mcp_exec_command(struct mcp_call *c, const struct mcp_answer *a);
void mcp_write_stdin(struct mcp_call *c, const struct mcp_answer *a);

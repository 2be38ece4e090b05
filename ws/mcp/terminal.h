/* MCP's tools of sessions and terminals: how they begin. */
#pragma once

#include "ws/mcp/call.h"

void mcp_session_create(struct mcp_call *c, const struct mcp_answer *a);
void mcp_session_list(struct mcp_call *c, const struct mcp_answer *a);
void mcp_session_close(struct mcp_call *c, const struct mcp_answer *a);
void mcp_resize(struct mcp_call *c, const struct mcp_answer *a);
void mcp_send_keys(struct mcp_call *c, const struct mcp_answer *a);
void mcp_lease(struct mcp_call *c, const struct mcp_answer *a);
void mcp_wait(struct mcp_call *c, const struct mcp_answer *a);

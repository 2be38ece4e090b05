/* MCP's tools of files: how they begin. */
#pragma once

#include "ws/mcp/call.h"

void mcp_read_file(struct mcp_call *c, const struct mcp_answer *a);
void mcp_write_file(struct mcp_call *c, const struct mcp_answer *a);

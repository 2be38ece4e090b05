/* MCP's tool of what has been: how it begins. */
#pragma once

#include "ws/mcp/call.h"

void mcp_history(struct mcp_call *c, const struct mcp_answer *a);

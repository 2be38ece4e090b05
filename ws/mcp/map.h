/* From the name of a tool to what it does. */
#pragma once

#include "ws/mcp/call.h"

/* How a tool of ws/mcp/tools.json begins. */
mcp_step mcp_tool_begin(const char *name);

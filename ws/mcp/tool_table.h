/* Finds the first step of a tool by its name. */
#pragma once

#include "ws/mcp/call.h"

/* The first step of a tool in ws/mcp/tools.json. */
mcp_step mcp_tool_begin(const char *name);

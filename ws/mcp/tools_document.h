/* The description of MCP's tools, ws/mcp/tools.json, built into the program. */
#pragma once

#include <stddef.h>

extern const char mcp_tools_document[];
extern const size_t mcp_tools_document_length;

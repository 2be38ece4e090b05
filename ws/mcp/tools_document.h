/* The description of MCP's tools, ws/mcp/tools.json, built into the program (ws/embed.mjs writes the bytes). */
#pragma once

#include <stddef.h>

extern const unsigned char mcp_tools_document[];
extern const size_t mcp_tools_document_length;

/* The text of ws/mcp/tools.json, embedded in the program. */
#pragma once

#include <stddef.h>

/* The text. */
extern const char mcp_tools_document[];

/* Bytes of the text. */
extern const size_t mcp_tools_document_length;

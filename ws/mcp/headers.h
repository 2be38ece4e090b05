/* The headers of HTTP that MCP looks at. */
#pragma once

#include <stdbool.h>

#define MCP_HEADER_MAX 512u /* bytes; a longer one is none of the values that are looked for */

struct mcp_headers {
	bool known; /* false: who forwards messages of a standard input has no such headers */
	bool has_version, has_method, has_name, has_session;
	char accept[MCP_HEADER_MAX];  /* "" = absent */
	char version[MCP_HEADER_MAX]; /* MCP-Protocol-Version */
	char method[MCP_HEADER_MAX];  /* Mcp-Method */
	char name[MCP_HEADER_MAX];    /* Mcp-Name */
	char session[MCP_HEADER_MAX]; /* Mcp-Session-Id */
};

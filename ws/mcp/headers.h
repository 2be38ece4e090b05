/* The HTTP headers that MCP uses. */
#pragma once

#include <stdbool.h>

#define MCP_HEADER_MAX 512u /* bytes of a value; a longer value is not valid */

/* The headers of a request to /mcp. */
struct mcp_headers {
	bool known; /* false: with ?stdio= the headers are not checked */
	bool has_version, has_method, has_name, has_session;
	char accept[MCP_HEADER_MAX];  /* "": absent */
	char version[MCP_HEADER_MAX]; /* MCP-Protocol-Version */
	char method[MCP_HEADER_MAX];  /* Mcp-Method */
	char name[MCP_HEADER_MAX];    /* Mcp-Name */
	char session[MCP_HEADER_MAX]; /* Mcp-Session-Id */
};

/* The addresses of what clients may read: ringside://session/ID/screen, ringside://session/ID/block/BLOCK. Pure. */
#pragma once

#include "shell/name.h"

#include <stdbool.h>

#define MCP_URI_SCREEN "ringside://session/{session}/screen"
#define MCP_URI_BLOCK "ringside://session/{session}/block/{block}"
#define MCP_URI_SIZE (sizeof MCP_URI_BLOCK + 2 * NAME_ID_MAX)

struct mcp_uri {
	char session[NAME_ID_MAX + 1];
	char block[NAME_ID_MAX + 1]; /* ""; it is the screen */
};

/* Returns whether text is one; otherwise *ret_uri is untouched. */
bool mcp_uri_read(const char *text, struct mcp_uri *ret_uri);

void mcp_uri_write(const struct mcp_uri *uri, char text[MCP_URI_SIZE]);

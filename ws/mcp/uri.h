/* Addresses of resources: ringside://session/ID/screen, ringside://session/ID/block/BLOCK. Pure. */
#pragma once

#include "shell/name.h"

#include <stdbool.h>

#define MCP_URI_SCREEN "ringside://session/{session}/screen"
#define MCP_URI_BLOCK "ringside://session/{session}/block/{block}"
#define MCP_URI_SIZE (sizeof MCP_URI_BLOCK + 2 * NAME_ID_MAX)

/* An address. */
struct mcp_uri {
	char session[NAME_ID_MAX + 1];
	char block[NAME_ID_MAX + 1]; /* "": the screen */
};

/* Parse an address. Returns false, with *ret_uri untouched, if it is invalid. */
bool mcp_uri_read(const char *text, struct mcp_uri *ret_uri);

/* Write an address. */
void mcp_uri_write(const struct mcp_uri *uri, char text[MCP_URI_SIZE]);

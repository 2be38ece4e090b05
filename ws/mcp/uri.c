/* Ids need no escapes, so each address has only one valid spelling. */
#include "ws/mcp/uri.h"

#include <stdio.h>
#include <string.h>

static const char prefix[] = "ringside://session/";

static bool parse_id(const char *text, size_t length, char id[NAME_ID_MAX + 1])
{
	if (length > NAME_ID_MAX)
		return false;
	memcpy(id, text, length);
	id[length] = '\0';
	return name_is_id(id);
}

bool mcp_uri_read(const char *text, struct mcp_uri *ret_uri)
{
	struct mcp_uri uri = {.session = ""};
	if (strncmp(text, prefix, sizeof prefix - 1) != 0)
		return false;
	text += sizeof prefix - 1;
	size_t length = strcspn(text, "/");
	if (!parse_id(text, length, uri.session))
		return false;
	text += length;
	bool block = strncmp(text, "/block/", 7) == 0;
	if (block ? !parse_id(text + 7, strlen(text + 7), uri.block) : strcmp(text, "/screen") != 0)
		return false;
	*ret_uri = uri;
	return true;
}

void mcp_uri_write(const struct mcp_uri *uri, char text[MCP_URI_SIZE])
{
	snprintf(text, MCP_URI_SIZE, "%s%s/%s%s", prefix, uri->session,
		uri->block[0] ? "block/" : "screen", uri->block);
}

/* The supported revisions of MCP, newest first. */
#include "ws/mcp/version.h"

#include <string.h>

static const char *const versions[] = {
	MCP_VERSION, MCP_VERSION_LEGACY, "2025-06-18", "2025-03-26", NULL};

bool mcp_version_is_legacy(const char *version)
{
	for (size_t i = 1; versions[i]; i++)
		if (strcmp(versions[i], version) == 0)
			return true;
	return false;
}

json_t *mcp_versions_json(void)
{
	json_t *list = json_array();
	for (size_t i = 0; versions[i]; i++)
		json_array_append_new(list, json_string(versions[i]));
	return list;
}

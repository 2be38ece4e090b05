/* The tools in ws/mcp/tools.json, and the validation of arguments by their schemas. Pure. */
#pragma once

#include "shell/session/presence.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define MCP_TRUSTED 3u /* index of the list for trusted drivers, after those of the roles */
#define MCP_LISTS 4u
#define MCP_PROBLEM_SIZE 256u

/* A tool. */
struct mcp_tool {
	const char *name;
	const json_t *schema; /* of its arguments; NULL: the tool validates them */
	enum role role;       /* the lowest that may call it */
};

/* All tools. */
struct mcp_tools {
	json_t *document; /* owned; every tool, without its role */
	struct mcp_tool *list;
	size_t count;
	/*
	 * The tools listed for each role, and for MCP_TRUSTED. [1]: with those for Codex. Members
	 * marked "hidden" and numeric limits are not listed, because a model reads all of it.
	 */
	json_t *lists[MCP_LISTS][2];
};

/* Load the description. Returns 0 or -ENOMEM. */
int mcp_tools_open(struct mcp_tools *t);

/* Free the description. */
void mcp_tools_close(struct mcp_tools *t);

/* The tools listed for a client of this name, borrowed. list: a role or MCP_TRUSTED. */
const json_t *mcp_tools_list(const struct mcp_tools *t, size_t list, const char *client);

/* The tool with this name; NULL: none. */
const struct mcp_tool *mcp_tools_find(const struct mcp_tools *t, const char *name);

/*
 * Validate a value by a schema, of which type, enum, minimum, maximum, minItems, maxItems, items,
 * required, properties, additionalProperties and anyOf are supported. Returns false with a message
 * that begins with the name in problem.
 */
bool mcp_schema_check(
	const json_t *schema, json_t *value, const char *name, char problem[MCP_PROBLEM_SIZE]);

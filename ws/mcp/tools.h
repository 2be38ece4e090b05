/*
 * The tools that MCP offers: what ws/mcp/tools.json says of them, and whether arguments are as their
 * schemas want them. Pure.
 */
#pragma once

#include "shell/session/presence.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct mcp_tool {
	const char *name;
	const json_t *schema; /* of its arguments; NULL: it judges of them itself */
	enum role role;       /* the least that may call it */
};

#define MCP_TRUSTED 3u
#define MCP_LISTS 4u

struct mcp_tools {
	json_t *document; /* owned; every tool, without its role */
	struct mcp_tool *list;
	size_t count;
	/*
	 * By role: those that it may call; MCP_TRUSTED: drivers who are trusted. [1]: with those that only Codex knows. What
	 * is "hidden", and limits that are told when they are broken, may be used, but is not listed: a model reads all of it.
	 */
	json_t *lists[MCP_LISTS][2];
};

/* Load the description. Returns 0 or -ENOMEM. */
int mcp_tools_open(struct mcp_tools *t);
void mcp_tools_close(struct mcp_tools *t);

/* What a client of this name is told of. Borrowed. */
const json_t *mcp_tools_list(const struct mcp_tools *t, size_t list, const char *client);

/* The tool of that name, or NULL. */
const struct mcp_tool *mcp_tools_find(const struct mcp_tools *t, const char *name);

/*
 * Whether a value is as a schema wants it: type, enum, minimum, maximum, minItems, maxItems, items, required,
 * properties, additionalProperties, anyOf. Otherwise what is wrong is in problem, beginning with its name.
 */
#define MCP_PROBLEM_SIZE 256u
bool mcp_schema_check(
	const json_t *schema, json_t *value, const char *name, char problem[MCP_PROBLEM_SIZE]);

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
	const json_t *schema; /* of its arguments */
	enum role role;       /* the least that may call it */
};

struct mcp_tools {
	json_t *document; /* owned; every tool, without its role */
	struct mcp_tool *list;
	size_t count;
	json_t *lists[3]; /* by role: those that it may call */
};

/* Load the description. Returns 0 or -ENOMEM. */
int mcp_tools_open(struct mcp_tools *t);
void mcp_tools_close(struct mcp_tools *t);

/* The tool of that name, or NULL. */
const struct mcp_tool *mcp_tools_find(const struct mcp_tools *t, const char *name);

/*
 * Whether a value is as a schema wants it: type, enum, minimum, maximum, minItems, maxItems, items, required,
 * properties, additionalProperties, anyOf. Otherwise what is wrong is in problem, beginning with its name.
 */
#define MCP_PROBLEM_SIZE 256u
bool mcp_schema_check(
	const json_t *schema, json_t *value, const char *name, char problem[MCP_PROBLEM_SIZE]);

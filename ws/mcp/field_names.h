/*
 * Names of fields: camelCase in the API, snake_case in the arguments and results of tools. Pure.
 */
#pragma once

#include <jansson.h>

#define MCP_FIELD_SIZE 128u /* a name and its NUL; longer names are cut */

/* A copy of JSON of the API with all member names in snake_case. value may be NULL. Returns a new reference. */
json_t *mcp_snake_case(json_t *value);

/* Convert a name to camelCase. */
void mcp_camel_case(const char *snake, char ret_camel[MCP_FIELD_SIZE]);

/* In validation errors of the API, replace each field by the name of the tool's argument. */
void mcp_rename_fields(const char *tool, const json_t *errors);

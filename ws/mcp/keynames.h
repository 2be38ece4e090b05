/* Converts the key names that people and models write to those of the API. Pure. */
#pragma once

#include <jansson.h>

#define MCP_KEYS_MAX 4096u /* keys in one list */
#define MCP_KEYS_PROBLEM 256u

/*
 * Convert an argument `keys`: one text of names separated by blanks, or a list, in which a word
 * that is not a key name is typed as text. Ctrl-C, ctrl+c and C-c are the same key, as are Alt,
 * Meta and Option, ArrowUp and Up, <Enter> and Enter. Returns a list of key names of the API, or
 * NULL with a message about the invalid name and similar names in problem.
 */
json_t *mcp_keynames(const json_t *keys, char problem[MCP_KEYS_PROBLEM]);

/* Keys by the names that people and models write, as those that the API knows. Pure. */
#pragma once

#include <jansson.h>

#define MCP_KEYS_MAX 4096u /* that one list makes */
#define MCP_KEYS_PROBLEM 256u

/*
 * What an argument `keys` asks for: names in one text with blanks between, or in a list, in which a word that is no
 * name is typed as it is. Ctrl-C, ctrl+c and C-c are the same, as are Alt, Meta and Option, ArrowUp and Up, <Enter> and
 * Enter. Returns a list of names for the API, or NULL: then problem says which is none, and what may be meant.
 */
json_t *mcp_keynames(const json_t *keys, char problem[MCP_KEYS_PROBLEM]);

/* The tool `history`. */
#pragma once

#include "ws/mcp/call.h"

/*
 * The output of a block from a JSON reply, complete or truncated, as text to be freed; NULL: none.
 */
char *mcp_block_text(const json_t *answer);

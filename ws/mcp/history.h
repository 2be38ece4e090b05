/* The tool `history`. */
#pragma once

#include "ws/mcp/call.h"

/* First step of the tool history. */
void mcp_history(struct mcp_call *c, const struct mcp_answer *a);

/*
 * The output of a block from a JSON reply, complete or truncated, as text to be freed; NULL: none.
 */
char *mcp_block_text(const json_t *answer);

/* MCP's tool of what has been: how it begins. */
#pragma once

#include "ws/mcp/call.h"

void mcp_history(struct mcp_call *c, const struct mcp_answer *a);

/* What a block has printed, of an answer that has it in JSON, cut or not: text to be freed, or NULL. */
char *mcp_block_text(const json_t *answer);

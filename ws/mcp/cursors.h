/*
 * How far the output of commands has been given to who asks for it piece by piece: by number, the latest
 * MCP_CURSORS_MAX of them. A number that is not known, or not any more, begins at 0: nothing is left out.
 */
#pragma once

#include <stdint.h>

#define MCP_CURSORS_MAX 4096u

struct mcp_cursor;

/* Zero is an empty one. */
struct mcp_cursors {
	struct mcp_cursor *table; /* in the order in which they were first set */
};

uint64_t mcp_cursors_get(const struct mcp_cursors *all, uint64_t number);
void mcp_cursors_set(struct mcp_cursors *all, uint64_t number, uint64_t cursor);
void mcp_cursors_forget(struct mcp_cursors *all, uint64_t number);
void mcp_cursors_close(struct mcp_cursors *all);

/*
 * 64-bit values by key, such as the offset up to which a client has read a command's output. Holds
 * the MCP_CURSORS_MAX newest keys; the value of an unknown key is 0.
 */
#pragma once

#include <stdint.h>

#define MCP_CURSORS_MAX 4096u

struct mcp_cursor;

/* Zeroed memory is an empty table. */
struct mcp_cursors {
	struct mcp_cursor *table; /* in order of insertion */
};

/* The value of a key; 0: unknown. */
uint64_t mcp_cursors_get(const struct mcp_cursors *all, uint64_t number);

/* Set the value of a key. If the table is full, the oldest key is dropped. */
void mcp_cursors_set(struct mcp_cursors *all, uint64_t number, uint64_t cursor);

/* Remove a key. */
void mcp_cursors_forget(struct mcp_cursors *all, uint64_t number);

/* Free the table. */
void mcp_cursors_close(struct mcp_cursors *all);

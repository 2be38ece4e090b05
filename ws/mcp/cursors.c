/* A hash table in order of insertion. If it is full, the oldest entry is dropped. */
#include "ws/mcp/cursors.h"

#include <stdlib.h>
#include <uthash.h>

struct mcp_cursor {
	UT_hash_handle hh;
	uint64_t number, cursor;
};

static struct mcp_cursor *find_cursor(const struct mcp_cursors *all, uint64_t number)
{
	struct mcp_cursor *found;
	HASH_FIND(hh, all->table, &number, sizeof number, found);
	return found;
}

uint64_t mcp_cursors_get(const struct mcp_cursors *all, uint64_t number)
{
	const struct mcp_cursor *found = find_cursor(all, number);
	return found ? found->cursor : 0;
}

static void drop(struct mcp_cursors *all, struct mcp_cursor *c)
{
	if (!c)
		return;
	HASH_DEL(all->table, c);
	free(c);
}

void mcp_cursors_forget(struct mcp_cursors *all, uint64_t number)
{
	drop(all, find_cursor(all, number));
}

void mcp_cursors_set(struct mcp_cursors *all, uint64_t number, uint64_t cursor)
{
	struct mcp_cursor *c = find_cursor(all, number);
	if (c) {
		c->cursor = cursor;
		return;
	}
	c = calloc(1, sizeof *c);
	if (!c)
		return;
	c->number = number;
	c->cursor = cursor;
	HASH_ADD(hh, all->table, number, sizeof c->number, c);
	if (!c->hh.tbl)
		free(c);
	if (HASH_COUNT(all->table) > MCP_CURSORS_MAX)
		drop(all, all->table);
}

void mcp_cursors_close(struct mcp_cursors *all)
{
	struct mcp_cursor *c = all->table, *next;
	HASH_CLEAR(hh, all->table);
	for (; c; c = next) {
		next = c->hh.next;
		free(c);
	}
}

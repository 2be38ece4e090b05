/*
 * A hash table whose order is that of last use, so that the first is the one to go; making one removes at most one.
 * One that has expired is not found, though it may still be there.
 */
#include "ws/mcp/sessions.h"

#include "shell/id.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mcp_sessions_end(struct mcp_sessions *all, struct mcp_session *s)
{
	HASH_DEL(all->table, s);
	free(s);
}

static bool is_of(const struct mcp_session *s, const struct principal *p)
{
	return s->role == p->role && strcmp(s->link, p->link) == 0;
}

struct mcp_session *mcp_sessions_create(
	struct mcp_sessions *all, const struct principal *p, const char *id, uint64_t now_ms)
{
	struct mcp_session *s = NULL;
	if (id)
		HASH_FIND_STR(all->table, id, s);
	if (s)
		return is_of(s, p) ? s : NULL;
	s = calloc(1, sizeof *s);
	if (!s || (!id && id_hex(s->id, 2 * MCP_SESSION_RANDOM + 1) < 0)) {
		free(s);
		return NULL;
	}
	if (id)
		snprintf(s->id, sizeof s->id, "%s", id);
	s->role = p->role;
	memcpy(s->link, p->link, sizeof s->link);
	s->used_ms = now_ms;
	struct mcp_session *oldest = all->table;
	HASH_ADD_STR(all->table, id, s);
	if (oldest &&
		(HASH_COUNT(all->table) > MCP_SESSIONS_MAX ||
			now_ms - oldest->used_ms > MCP_SESSION_IDLE_MS))
		mcp_sessions_end(all, oldest);
	return s;
}

struct mcp_session *mcp_sessions_find(
	struct mcp_sessions *all, const char *id, const struct principal *p, uint64_t now_ms)
{
	struct mcp_session *s;
	HASH_FIND_STR(all->table, id, s);
	if (!s || now_ms - s->used_ms > MCP_SESSION_IDLE_MS || !is_of(s, p))
		return NULL;
	s->used_ms = now_ms;
	HASH_DEL(all->table, s);
	HASH_ADD_STR(all->table, id, s);
	return s;
}

void mcp_sessions_close(struct mcp_sessions *all)
{
	struct mcp_session *s = all->table, *next;
	HASH_CLEAR(hh, all->table);
	for (; s; s = next) {
		next = s->hh.next;
		free(s);
	}
}

#include "ws/mcp_sessions.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mcp_sessions_end(struct mcp_sessions *all, struct mcp_session *s)
{
	HASH_DEL(all->table, s);
	free(s);
}

struct mcp_session *mcp_sessions_create(
	struct mcp_sessions *all, const struct principal *p, uint64_t now_ms)
{
	unsigned char bytes[(MCP_SESSION_ID_SIZE - 1) / 2];
	struct mcp_session *s = calloc(1, sizeof *s);
	if (!s || RAND_bytes(bytes, sizeof bytes) != 1) {
		free(s);
		return NULL;
	}
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(s->id + 2 * i, 3, "%02x", bytes[i]);
	s->role = p->role;
	memcpy(s->link, p->link, sizeof s->link);
	s->used_ms = now_ms;
	const struct mcp_session *oldest = all->table;
	if (oldest &&
		(HASH_COUNT(all->table) >= MCP_SESSIONS_MAX ||
			now_ms - oldest->used_ms > MCP_SESSION_IDLE_MS))
		mcp_sessions_end(all, all->table);
	HASH_ADD_STR(all->table, id, s);
	return s;
}

struct mcp_session *mcp_sessions_find(
	struct mcp_sessions *all, const char *id, const struct principal *p, uint64_t now_ms)
{
	struct mcp_session *s;
	HASH_FIND_STR(all->table, id, s);
	if (!s || now_ms - s->used_ms > MCP_SESSION_IDLE_MS || s->role != p->role ||
		strcmp(s->link, p->link) != 0)
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

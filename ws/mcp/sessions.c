/*
 * A hash table. Creating a session searches for the least recently used one and removes at most
 * one. An expired session is not found, though it may still be in the table.
 */
#include "ws/mcp/sessions.h"

#include "shell/id.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mcp_sessions_end(struct mcp_sessions *all, struct mcp_session *s)
{
	HASH_DEL(all->table, s);
	claim_release(&s->claim);
	free(s);
}

static bool is_of(const struct mcp_session *s, const struct principal *p)
{
	return s->role == p->role && strcmp(s->link, p->link) == 0;
}

/* The least recently used session of p; p NULL: of all. */
static struct mcp_session *find_oldest(const struct mcp_sessions *all, const struct principal *p)
{
	struct mcp_session *oldest = NULL;
	for (struct mcp_session *s = all->table; s; s = s->hh.next)
		if ((!p || is_of(s, p)) && (!oldest || s->used_ms < oldest->used_ms))
			oldest = s;
	return oldest;
}

bool mcp_sessions_evict(struct mcp_sessions *all, const struct principal *p)
{
	struct mcp_session *oldest = find_oldest(all, p);
	if (oldest)
		mcp_sessions_end(all, oldest);
	return oldest != NULL;
}

static void on_withdrawn(struct claim *claim)
{
	struct mcp_session *s = claim->of;
	mcp_sessions_end(s->all, s);
}

static void attach_claim(struct mcp_session *s, struct claim *claim)
{
	s->claim = claim;
	if (!claim)
		return;
	claim->of = s;
	claim->withdraw = on_withdrawn;
}

/* Make room for a session: remove an expired one, or one of p. */
static void make_room(struct mcp_sessions *all, const struct principal *p, uint64_t now_ms)
{
	struct mcp_session *oldest = find_oldest(all, NULL);
	if (oldest && now_ms - oldest->used_ms > MCP_SESSION_IDLE_MS)
		mcp_sessions_end(all, oldest);
	else if (HASH_COUNT(all->table) >= MCP_SESSIONS_MAX)
		(void)mcp_sessions_evict(all, p); /* links have lower limits: p has one */
}

struct mcp_session *mcp_sessions_create(struct mcp_sessions *all, const struct principal *p,
	const char *id, struct claim *claim, uint64_t now_ms)
{
	struct mcp_session *s = NULL;
	if (id)
		HASH_FIND_STR(all->table, id, s);
	if (s && !is_of(s, p))
		return NULL;
	if (s) {
		claim_release(&claim);
		s->used_ms = now_ms;
		return s;
	}
	s = calloc(1, sizeof *s);
	if (!s || (!id && id_hex(s->id, 2 * MCP_SESSION_RANDOM + 1) < 0)) {
		free(s);
		return NULL;
	}
	make_room(all, p, now_ms);
	if (id)
		snprintf(s->id, sizeof s->id, "%s", id);
	s->role = p->role;
	memcpy(s->link, p->link, sizeof s->link);
	s->used_ms = now_ms;
	s->all = all;
	HASH_ADD_STR(all->table, id, s); /* NOLINT(clang-analyzer-*): false positive in uthash */
	if (!s->hh.tbl) {
		free(s);
		return NULL;
	}
	attach_claim(s, claim);
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
	return s;
}

void mcp_sessions_mark_ended(struct mcp_sessions *all, const char *id)
{
	if (!all->ended)
		all->ended = calloc(MCP_ENDED_MAX, sizeof *all->ended);
	if (all->ended)
		snprintf(all->ended[all->ended_count++ % MCP_ENDED_MAX], sizeof *all->ended, "%s",
			id);
}

bool mcp_sessions_is_ended(const struct mcp_sessions *all, const char *id)
{
	for (size_t i = 0; i < all->ended_count && i < MCP_ENDED_MAX; i++)
		if (strcmp(all->ended[i], id) == 0)
			return true;
	return false;
}

void mcp_sessions_close(struct mcp_sessions *all)
{
	struct mcp_session *s = all->table, *next;
	HASH_CLEAR(hh, all->table);
	for (; s; s = next) {
		next = s->hh.next;
		claim_release(&s->claim);
		free(s);
	}
	free(all->ended);
	all->ended = NULL;
	all->ended_count = 0;
}

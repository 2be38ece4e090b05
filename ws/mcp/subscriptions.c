/* A table of clients, each with a list. The state of a resource is compared as a hash. */
#include "ws/mcp/subscriptions.h"

#include "shell/own_error.h"
#include "shell/session/sessions.h"
#include "ws/dispatcher.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/rpc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

struct subscription {
	struct subscription *prev, *next;
	struct mcp_uri uri;
	uint64_t reported;    /* state_of() */
	uint64_t reported_ms; /* loop time; 0: not reported yet */
};

struct mcp_subscriber {
	UT_hash_handle hh;
	char scope[MCP_SESSION_ID_SIZE];
	char link[LINK_ID_SIZE]; /* "": an owner */
	struct subscription *list;
	size_t count;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/* A hash of a resource's state, which differs if the resource may have changed. */
static uint64_t state_of(const struct mcp *m, const struct mcp_uri *uri)
{
	struct session *s = sessions_find(m->dispatcher->sessions, uri->session);
	if (!s)
		return 0;
	uint64_t state = mix(1, session_epoch(s));
	const struct block *b = uri->block[0] ? blocks_find(session_blocks(s), uri->block) : NULL;
	if (uri->block[0] && (!b || b->done))
		return mix(state, b ? b->end : UINT64_MAX);
	state = mix(mix(state, pane_head(&s->pane)), s->pane.rows);
	return mix(state, s->pane.cols);
}

static struct mcp_subscriber *find(const struct mcp_subscriptions *all, const char *scope)
{
	struct mcp_subscriber *one;
	HASH_FIND_STR(all->table, scope, one);
	return one;
}

static struct subscription *find_uri(const struct mcp_subscriber *one, const struct mcp_uri *uri)
{
	struct subscription *s;
	DL_FOREACH (one->list, s)
		if (strcmp(s->uri.session, uri->session) == 0 &&
			strcmp(s->uri.block, uri->block) == 0)
			return s;
	return NULL;
}

static void drop(struct mcp_subscriptions *all, struct mcp_subscriber *one, struct subscription *s)
{
	DL_DELETE(one->list, s);
	one->count--;
	all->count--;
	free(s);
}

static void drop_all(struct mcp_subscriptions *all, struct mcp_subscriber *one)
{
	while (one->list)
		drop(all, one, one->list);
	HASH_DEL(all->table, one);
	free(one);
}

/* Make room for a subscription, if needed by dropping the oldest other client of the link. */
static bool make_room(struct mcp_subscriptions *all, const struct mcp_subscriber *mine)
{
	size_t count = 0;
	struct mcp_subscriber *oldest = NULL;
	if (mine->count >= MCP_SUBSCRIPTIONS_MAX)
		return false;
	for (struct mcp_subscriber *one = all->table; one; one = one->hh.next) {
		if (strcmp(one->link, mine->link) != 0)
			continue;
		count += one->count;
		if (!oldest && one != mine)
			oldest = one;
	}
	if (all->count < MCP_SUBSCRIPTIONS_TOTAL &&
		(!mine->link[0] || count < MCP_SUBSCRIPTIONS_LINK))
		return true;
	if (!oldest)
		return false;
	drop_all(all, oldest);
	return true;
}

static struct mcp_subscriber *add_subscriber(
	struct mcp_subscriptions *all, const char *scope, const struct principal *p)
{
	struct mcp_subscriber *one = calloc(1, sizeof *one);
	if (!one)
		return NULL;
	snprintf(one->scope, sizeof one->scope, "%s", scope);
	memcpy(one->link, p->link, sizeof one->link);
	HASH_ADD_STR(all->table, scope, one); /* NOLINT(clang-analyzer-*): false positive in uthash */
	if (one->hh.tbl)
		return one;
	free(one);
	return NULL;
}

int mcp_subscribe(
	struct mcp *m, const char *scope, const struct principal *p, const struct mcp_uri *uri)
{
	struct mcp_subscriptions *all = &m->subscriptions;
	struct mcp_subscriber *one = find(all, scope);
	if (!one)
		one = add_subscriber(all, scope, p);
	if (!one)
		return -ENOMEM;
	if (find_uri(one, uri))
		return 0;
	bool room = make_room(all, one);
	struct subscription *s = room ? calloc(1, sizeof *s) : NULL;
	if (!s) {
		if (!one->list)
			drop_all(all, one);
		return room ? -ENOMEM : -ERR_LIMIT;
	}
	s->uri = *uri;
	s->reported = state_of(m, uri);
	DL_APPEND(one->list, s);
	one->count++;
	all->count++;
	mcp_update_timer(m);
	return 0;
}

/* Whether the resource exists and p may read it. */
static bool can_read(const struct mcp *m, const struct principal *p, const struct mcp_uri *uri)
{
	struct session *s = sessions_find(m->dispatcher->sessions, uri->session);
	if (!s || (p->session[0] && strcmp(p->session, uri->session) != 0))
		return false;
	return !uri->block[0] || blocks_find(session_blocks(s), uri->block);
}

json_t *mcp_subscribe_all(
	struct mcp *m, const char *scope, const struct principal *p, const json_t *uris)
{
	json_t *accepted = json_array(), *one;
	size_t i;
	struct mcp_uri uri;
	json_array_foreach (uris, i, one) {
		const char *text = json_string_value(one);
		if (text && strlen(text) == json_string_length(one) && mcp_uri_read(text, &uri) &&
			can_read(m, p, &uri) && mcp_subscribe(m, scope, p, &uri) == 0)
			json_array_append(accepted, one);
	}
	return accepted;
}

void mcp_unsubscribe(struct mcp *m, const char *scope, const struct mcp_uri *uri)
{
	struct mcp_subscriber *one = find(&m->subscriptions, scope);
	struct subscription *s = one ? find_uri(one, uri) : NULL;
	if (s)
		drop(&m->subscriptions, one, s);
	if (one && !one->list)
		drop_all(&m->subscriptions, one);
}

void mcp_unsubscribe_all(struct mcp *m, const char *scope)
{
	struct mcp_subscriber *one = find(&m->subscriptions, scope);
	if (one)
		drop_all(&m->subscriptions, one);
}

json_t *mcp_subscriptions_next_change(struct mcp *m, const char *scope)
{
	const struct mcp_subscriber *one = find(&m->subscriptions, scope);
	uint64_t now = uv_now(m->loop);
	struct subscription *s;
	char uri[MCP_URI_SIZE];
	DL_FOREACH (one ? one->list : NULL, s) {
		uint64_t state = state_of(m, &s->uri);
		if (state == s->reported ||
			(s->reported_ms > 0 && now - s->reported_ms < MCP_UPDATED_MS))
			continue;
		s->reported = state;
		s->reported_ms = now;
		mcp_uri_write(&s->uri, uri);
		return rpc_notification(
			"notifications/resources/updated", json_pack("{s:s}", "uri", uri));
	}
	return NULL;
}

void mcp_subscriptions_close(struct mcp_subscriptions *all)
{
	struct mcp_subscriber *one, *next;
	HASH_ITER (hh, all->table, one, next)
		drop_all(all, one);
}

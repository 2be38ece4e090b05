/* The list in memory and in a file. The file has the tokens in clear text; only the server's user can read it. */
#include "ws/preview/previews.h"

#include "shell/clock.h"
#include "shell/id.h"
#include "shell/own_error.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static json_t *to_json(const struct preview *p)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:I, s:s, s:s, s:I}", "port", (int)p->name.port,
		"id", p->name.id, "token", p->name.token, "session", p->session, "epoch",
		(json_int_t)p->epoch, "title", p->title, "author", p->author, "created",
		(json_int_t)p->created_ms);
}

static bool put(char *text, size_t size, const char *value)
{
	return snprintf(text, size, "%s", value) < (int)size;
}

/* Parse a preview from the file. Its name must be valid in a host. */
static bool from_json(json_t *value, struct preview *p)
{
	const char *id, *token, *session, *title, *author;
	int port;
	json_int_t epoch, created;
	if (json_unpack(value, "{s:i, s:s, s:s, s:s, s:I, s:s, s:s, s:I}", "port", &port, "id", &id,
		    "token", &token, "session", &session, "epoch", &epoch, "title", &title,
		    "author", &author, "created", &created) < 0)
		return false;
	*p = (struct preview){.epoch = (uint64_t)epoch, .created_ms = (uint64_t)created};
	p->name.port = (unsigned)port;
	return port >= (int)PREVIEW_PORT_MIN && port <= (int)PREVIEW_PORT_MAX &&
		preview_name_is_token(token) && put(p->name.id, sizeof p->name.id, id) &&
		put(p->name.token, sizeof p->name.token, token) &&
		put(p->session, sizeof p->session, session) &&
		put(p->title, sizeof p->title, title) && put(p->author, sizeof p->author, author);
}

static void link_in(struct previews *all, struct preview *p)
{
	p->previews = all;
	DL_APPEND(all->list, p);
	all->count++;
}

static void add_stored(void *user, json_t *entry)
{
	struct previews *all = user;
	struct preview *p = all->count < PREVIEWS_MAX ? malloc(sizeof *p) : NULL;
	if (p && from_json(entry, p))
		link_in(all, p);
	else
		free(p);
}

int previews_open(struct previews *all, struct sessions *sessions, uv_loop_t *loop, int dir_fd)
{
	all->sessions = sessions;
	if (all->users_max == 0 || all->users_max > PREVIEWS_USERS_MAX)
		all->users_max = PREVIEWS_USERS_MAX;
	int rc = id_hex(all->instance, sizeof all->instance);
	return rc < 0 ? rc
		      : durable_open(&all->file, loop, dir_fd, "previews.json", add_stored, all);
}

static void forget(struct preview *p)
{
	struct previews *all = p->previews;
	struct preview_user *u, *next;
	DL_DELETE(all->list, p);
	all->count--;
	DL_FOREACH_SAFE (p->users, u, next) {
		preview_detach(u);
		u->ended(u->user);
	}
	claim_release(&p->claim);
	free(p);
}

void previews_close(struct previews *all)
{
	while (all->list)
		forget(all->list);
	durable_finish(&all->file);
}

void previews_add_own(struct previews *all, unsigned port)
{
	if (all->own_ports_count < PREVIEW_OWN_PORTS_MAX)
		all->own_ports[all->own_ports_count++] = port;
}

bool previews_is_own(const struct previews *all, unsigned port)
{
	for (size_t i = 0; i < all->own_ports_count; i++)
		if (all->own_ports[i] == port)
			return true;
	return false;
}

/* The access of the link that made the preview has ended. */
static void on_withdrawn(struct claim *claim)
{
	preview_revoke(claim->of);
}

static bool has_token(const struct previews *all, const char *token)
{
	const struct preview *p;
	DL_FOREACH (all->list, p)
		if (strcmp(p->name.token, token) == 0)
			return true;
	return false;
}

/* Whether this link, or ("") an owner, may make another preview. */
static bool can_add(const struct previews *all, const char *link)
{
	const struct preview *p;
	size_t same = 0, links = 0;
	DL_FOREACH (all->list, p) {
		same += strcmp(p->link, link) == 0;
		links += p->link[0] != '\0';
	}
	if (all->count == PREVIEWS_MAX)
		return false;
	return !link[0] || (same < PREVIEWS_OF_LINK && links < PREVIEWS_OF_LINKS);
}

int previews_add(struct previews *all, const struct preview *terms, struct preview **ret_preview)
{
	struct claim *claim = terms->claim;
	struct preview *p = NULL;
	int rc = -ERR_LIMIT;
	previews_prune(all);
	if (!can_add(all, terms->link))
		goto err_claim;
	rc = -EEXIST;
	if (terms->name.token[0] && has_token(all, terms->name.token))
		goto err_claim;
	rc = -ENOMEM;
	p = malloc(sizeof *p);
	if (!p)
		goto err_claim;
	*p = *terms;
	p->users = NULL;
	p->users_count = 0;
	p->created_ms = clock_wall_ms();
	preview_name_id(p->session[0] ? p->session : "s", p->name.id);
	rc = p->name.token[0] ? 0 : id_digits(p->name.token, PREVIEW_TOKEN_MAX, 36);
	if (rc < 0)
		goto err_claim;
	link_in(all, p);
	if (claim) {
		claim->of = p;
		claim->withdraw = on_withdrawn;
	}
	*ret_preview = p;
	return 0;
err_claim:
	free(p);
	claim_release(&claim);
	return rc;
}

/* Whether the session of a preview has ended. */
static bool is_over(const struct previews *all, const struct preview *p)
{
	if (!p->session[0] || !all->sessions)
		return false;
	const struct session *s = sessions_find(all->sessions, p->session);
	/* Not known yet for a session of the previous server. */
	if (sessions_are_adopting(all->sessions) || (s && s->state == SESSION_STARTING))
		return false;
	return !s || session_epoch(s) != p->epoch || s->state == SESSION_EXITED;
}

/* Revoke a preview because its session has ended, and remember its name. */
static void end_with_session(struct preview *p)
{
	struct previews *all = p->previews;
	all->stale[all->stale_next++ % PREVIEWS_STALE_MAX] = p->name;
	preview_revoke(p);
}

void previews_prune(struct previews *all)
{
	struct preview *p = all->list;
	while (p) {
		struct preview *next = p->next;
		if (is_over(all, p))
			end_with_session(p);
		p = next;
	}
}

static bool is_name(const struct preview_name *a, const struct preview_name *b)
{
	return a->port == b->port && strcmp(a->id, b->id) == 0 &&
		CRYPTO_memcmp(a->token, b->token, sizeof a->token) == 0;
}

bool previews_is_stale(const struct previews *all, const struct preview_name *name)
{
	bool stale = false;
	for (size_t i = 0; i < PREVIEWS_STALE_MAX; i++)
		stale |= is_name(&all->stale[i], name);
	return stale;
}

struct preview *previews_find(struct previews *all, const struct preview_name *name)
{
	struct preview *p, *found = NULL;
	DL_FOREACH (all->list, p)
		if (is_name(&p->name, name))
			found = p;
	if (found && is_over(all, found)) {
		end_with_session(found);
		return NULL;
	}
	return found;
}

struct preview *previews_find_same(
	struct previews *all, unsigned port, const char *session, const char *link)
{
	struct preview *p;
	DL_FOREACH (all->list, p)
		if (p->name.port == port && strcmp(p->session, session) == 0 &&
			strcmp(p->link, link) == 0 && !is_over(all, p))
			return p;
	return NULL;
}

void preview_revoke(struct preview *p)
{
	struct previews *all = p->previews;
	bool stored = !p->link[0];
	forget(p);
	if (stored)
		previews_store(all, NULL, NULL);
}

void previews_store(struct previews *all, durable_done done, void *user)
{
	json_t *list = json_array();
	const struct preview *p;
	DL_FOREACH (all->list, p)
		if (!p->link[0])
			json_array_append_new(list, to_json(p));
	durable_save(&all->file, list, done, user);
}

bool preview_attach(struct previews *all, struct preview *p, struct preview_user *u)
{
	if (all->users_count >= all->users_max || (p && p->users_count == PREVIEW_USERS_MAX))
		return false;
	u->previews = all;
	u->preview = p;
	if (p) {
		DL_APPEND(p->users, u);
		p->users_count++;
	} else {
		DL_APPEND(all->path_users, u);
	}
	all->users_count++;
	return true;
}

void preview_detach(struct preview_user *u)
{
	struct previews *all = u->previews;
	if (!all)
		return;
	if (u->preview) {
		DL_DELETE(u->preview->users, u);
		u->preview->users_count--;
	} else {
		DL_DELETE(all->path_users, u);
	}
	all->users_count--;
	u->previews = NULL;
	u->preview = NULL;
}

/* A table of links and sessions that use anything; an entry is removed with its last place. */
#include "ws/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the server's connections one link may use 1/8, all links 3/8, and clients without credentials on loopback half. */
#define CONNECTIONS_PARTS 8u
#define CONNECTIONS_OF_LINKS 3u

static const struct quota_limits limits[QUOTA_KINDS] = {
#define QUOTA_ROW(kind, name, link, session, server) [QUOTA_##kind] = {link, session, server},
	QUOTA_LIST(QUOTA_ROW)
#undef QUOTA_ROW
};

const char *quota_name(enum quota_kind kind)
{
	static const char *const names[QUOTA_KINDS] = {
#define QUOTA_ROW(kind, name, link, session, server) [QUOTA_##kind] = name,
		QUOTA_LIST(QUOTA_ROW)
#undef QUOTA_ROW
	};
	return names[kind];
}

static unsigned at_least(unsigned least, unsigned value)
{
	return value > least ? value : least;
}

void quotas_init(struct quotas *all, unsigned max_connections)
{
	*all = (struct quotas){0};
	memcpy(all->limits, limits, sizeof limits);
	struct quota_limits *l = &all->limits[QUOTA_CONNECTIONS];
	unsigned part = max_connections / CONNECTIONS_PARTS;
	l->link = at_least(l->link, part);
	l->server = l->session = at_least(l->server, part * CONNECTIONS_OF_LINKS);
}

static void forget(struct quotas *all, struct quota_count *c)
{
	HASH_DEL(all->table, c); /* NOLINT(clang-analyzer-*): it is uthash's */
	free(c);
}

void quotas_finish(struct quotas *all)
{
	struct quota_count *c, *next;
	HASH_ITER (hh, all->table, c, next)
		forget(all, c);
}

static struct quota_count *find(struct quotas *all, char prefix, const char *id)
{
	char name[sizeof all->table->name];
	struct quota_count *c;
	snprintf(name, sizeof name, "%c:%s", prefix, id);
	HASH_FIND_STR(all->table, name, c);
	if (c)
		return c;
	c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	memcpy(c->name, name, sizeof name);
	HASH_ADD_STR(all->table, name, c);
	if (c->hh.tbl)
		return c;
	free(c);
	return NULL;
}

static void forget_unused(struct quotas *all, struct quota_count *c)
{
	if (c && c->places == 0)
		forget(all, c);
}

static bool fits(unsigned had, unsigned amount, unsigned limit)
{
	return had <= limit && amount <= limit - had;
}

bool quota_acquire(struct quotas *all, enum quota_kind kind, unsigned amount,
	const struct principal *p, struct quota_place *place)
{
	const struct quota_limits *l = &all->limits[kind];
	if (!p->link[0] || amount == 0)
		return true;
	struct quota_count *link = find(all, 'l', p->link), *session = find(all, 's', p->session);
	bool good = link && session && fits(link->had[kind], amount, l->link) &&
		fits(session->had[kind], amount, l->session) &&
		fits(all->had[kind], amount, l->server);
	if (!good) {
		all->refused[kind]++;
		forget_unused(all, link);
		forget_unused(all, session);
		return false;
	}
	link->had[kind] += amount;
	session->had[kind] += amount;
	all->had[kind] += amount;
	link->places++;
	session->places++;
	*place = (struct quota_place){
		.quotas = all, .link = link, .session = session, .kind = kind, .amount = amount};
	return true;
}

bool quota_is_of(const struct quota_place *place, const struct principal *p)
{
	return place->link ? strcmp(place->link->name + 2, p->link) == 0 : !p->link[0];
}

void quota_release(struct quota_place *place)
{
	struct quotas *all = place->quotas;
	if (!all)
		return;
	place->link->had[place->kind] -= place->amount;
	place->session->had[place->kind] -= place->amount;
	all->had[place->kind] -= place->amount;
	place->link->places--;
	place->session->places--;
	forget_unused(all, place->link);
	forget_unused(all, place->session);
	*place = (struct quota_place){0};
}

#include "ws/auth/ended.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ended_login *find(const struct ended_logins *e, const char *id)
{
	for (size_t i = 0; i < e->count; i++)
		if (strcmp(e->entries[i].id, id) == 0)
			return &e->entries[i];
	return NULL;
}

bool ended_logins_have(const struct ended_logins *e, const char *id)
{
	return find(e, id);
}

struct ended_login *ended_logins_unpublished(struct ended_logins *e)
{
	for (size_t i = 0; i < e->count; i++)
		if (!e->entries[i].published)
			return &e->entries[i];
	return NULL;
}

static void drop(struct ended_logins *e, size_t i)
{
	e->entries[i] = e->entries[--e->count];
}

static void make_room(struct ended_logins *e, uint64_t now_ms)
{
	size_t first = 0;
	for (size_t i = e->count; i-- > 0;)
		if (e->entries[i].expires_ms <= now_ms)
			drop(e, i);
	if (e->count < ENDED_MAX)
		return;
	for (size_t i = 1; i < e->count; i++)
		if (e->entries[i].expires_ms < e->entries[first].expires_ms)
			first = i;
	drop(e, first);
}

struct ended_login *ended_logins_add(
	struct ended_logins *e, const char *id, uint64_t expires_ms, uint64_t now_ms)
{
	struct ended_login *found = find(e, id);
	if (expires_ms <= now_ms || found)
		return found;
	make_room(e, now_ms);
	if (e->count == e->size) {
		size_t size = e->size ? e->size * 2 : 64;
		struct ended_login *grown = realloc(e->entries, size * sizeof *grown);
		if (!grown)
			return NULL;
		e->entries = grown;
		e->size = size;
	}
	struct ended_login *added = &e->entries[e->count++];
	*added = (struct ended_login){.expires_ms = expires_ms};
	snprintf(added->id, sizeof added->id, "%s", id);
	e->changes++;
	return added;
}

void ended_logins_finish(struct ended_logins *e)
{
	free(e->entries);
	*e = (struct ended_logins){0};
}

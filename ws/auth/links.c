/*
 * The register of share links, in memory and in a file. The memory decides; the file is written in the background.
 * Callers wait for the file before they report that a link was created or revoked, so that a restart cannot contradict
 * them.
 */
#include "ws/auth/links.h"

#include "shell/id.h"
#include "shell/own_error.h"
#include "ws/auth/token.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *to_json(const struct link_entry *e)
{
	char epoch[17];
	snprintf(epoch, sizeof epoch, "%016" PRIx64, e->epoch);
	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:I, s:I}", "id", e->id, "session", e->session,
		"epoch", epoch, "role", (int)e->role, "name", e->name, "created",
		(json_int_t)e->created_ms, "expires", (json_int_t)e->expires_ms);
}

static bool from_json(json_t *value, struct link_entry *e)
{
	const char *id, *session, *epoch, *name;
	int role;
	json_int_t created, expires;
	if (json_unpack(value, "{s:s, s:s, s:s, s:i, s:s, s:I, s:I}", "id", &id, "session",
		    &session, "epoch", &epoch, "role", &role, "name", &name, "created", &created,
		    "expires", &expires) < 0)
		return false;
	if (strlen(id) >= sizeof e->id || !name_is_id(session) || strlen(name) >= sizeof e->name ||
		(role != ROLE_VIEWER && role != ROLE_DRIVER))
		return false;
	*e = (struct link_entry){.role = (enum role)role,
		.epoch = strtoull(epoch, NULL, 16),
		.created_ms = (uint64_t)created,
		.expires_ms = (uint64_t)expires};
	snprintf(e->id, sizeof e->id, "%s", id);
	snprintf(e->session, sizeof e->session, "%s", session);
	snprintf(e->name, sizeof e->name, "%s", name);
	return true;
}

static void add_stored(void *user, json_t *entry)
{
	struct links *l = user;
	if (l->count < LINKS_MAX && from_json(entry, &l->entries[l->count]))
		l->count++;
}

void links_store(struct links *l, durable_done done, void *user)
{
	json_t *list = json_array();
	for (size_t i = 0; i < l->count; i++)
		if (!l->entries[i].passing)
			json_array_append_new(list, to_json(&l->entries[i]));
	durable_save(&l->file, list, done, user);
}

int links_open(struct links *l, uv_loop_t *loop, int dir_fd, const unsigned char key[LINKS_KEY_SIZE])
{
	*l = (struct links){0};
	memcpy(l->key, key, sizeof l->key);
	l->entries = calloc(LINKS_MAX, sizeof *l->entries);
	if (!l->entries)
		return -ENOMEM;
	int rc = durable_open(&l->file, loop, dir_fd, "links.json", add_stored, l);
	if (rc < 0)
		links_close(l);
	return rc;
}

void links_close(struct links *l)
{
	durable_finish(&l->file);
	free(l->entries);
	*l = (struct links){0};
}

char *links_sign(const struct links *l, const struct link_entry *entry)
{
	char id[LINK_ID_SIZE + LINKS_NODE_SIZE];
	snprintf(id, sizeof id, "%s%s%s", entry->id, l->node[0] ? "@" : "", l->node);
	/* A JWT counts seconds; the register has the exact time. */
	return token_sign(id, (entry->expires_ms + 999) / 1000, l->key, sizeof l->key);
}

int links_issue(struct links *l, struct link_entry *entry, uint64_t now_ms, char **ret_token)
{
	links_prune(l, now_ms, NULL);
	if (l->count == LINKS_MAX)
		return -ERR_LIMIT;
	entry->created_ms = now_ms;
	int rc = id_hex(entry->id, sizeof entry->id);
	if (rc < 0)
		return rc;
	char *token = links_sign(l, entry);
	if (!token)
		return -ENOMEM;
	l->entries[l->count++] = *entry;
	*ret_token = token;
	return 0;
}

const struct link_entry *links_find(const struct links *l, const char *id)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->entries[i].id, id) == 0)
			return &l->entries[i];
	return NULL;
}

const struct link_entry *links_check(const struct links *l, const char *token, uint64_t now_ms)
{
	char id[TOKEN_ID_SIZE];
	if (token_verify(token, l->key, sizeof l->key, now_ms / 1000, id) < 0)
		return NULL;
	char *node = strchr(id, '@');
	if (node && strcmp(node + 1, l->node) == 0)
		*node = '\0';
	const struct link_entry *e = links_find(l, id);
	return e && e->expires_ms > now_ms && !e->spent ? e : NULL;
}

bool links_read_other(const struct links *l, const char *token, uint64_t now_ms,
	char ret_id[LINK_ID_SIZE], char ret_node[LINKS_NODE_SIZE])
{
	char id[TOKEN_ID_SIZE];
	if (!l->node[0] || token_verify(token, l->key, sizeof l->key, now_ms / 1000, id) < 0)
		return false;
	char *node = strchr(id, '@');
	if (!node || strcmp(node + 1, l->node) == 0 || node - id >= (int)LINK_ID_SIZE ||
		strlen(node + 1) >= LINKS_NODE_SIZE)
		return false;
	*node = '\0';
	snprintf(ret_id, LINK_ID_SIZE, "%s", id);
	snprintf(ret_node, LINKS_NODE_SIZE, "%s", node + 1);
	return true;
}

void links_mark_used(struct links *l, const char *id)
{
	const struct link_entry *found = links_find(l, id);
	if (found)
		l->entries[found - l->entries].spent = found->answers;
}

int links_revoke(struct links *l, const char *id)
{
	const struct link_entry *found = links_find(l, id);
	if (!found)
		return -ENOENT;
	l->entries[found - l->entries] = l->entries[--l->count];
	l->removed++;
	return 0;
}

void links_prune(struct links *l, uint64_t now_ms, const char *session)
{
	size_t before = l->count;
	for (size_t i = 0; i < l->count;) {
		const struct link_entry *e = &l->entries[i];
		if (e->expires_ms <= now_ms || (session && strcmp(e->session, session) == 0))
			l->entries[i] = l->entries[--l->count];
		else
			i++;
	}
	l->removed += before - l->count;
	/* Stale entries in the file are harmless, because they are pruned again. */
	if (l->count != before)
		links_store(l, NULL, NULL);
}

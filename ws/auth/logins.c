/*
 * The ledger in memory and in a file. Entries have no order. Logins of a link displace those of the same link, or those of
 * other links once there are LOGINS_OF_LINKS, but never the owner's.
 */
#include "ws/auth/logins.h"

#include "shell/id.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void digest_of(const char *secret, char hex[LOGIN_SECRET_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	EVP_Digest(secret, strlen(secret), digest, NULL, EVP_sha256(), NULL);
	for (unsigned i = 0; i < (LOGIN_SECRET_SIZE - 1) / 2; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", digest[i]);
}

static json_t *to_json(const struct login_entry *e)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:s}", "id", e->id, "digest",
		e->digest, "link", e->link, "owner", e->owner, "created", (json_int_t)e->created_ms,
		"used", (json_int_t)e->used_ms, "expires", (json_int_t)e->expires_ms, "peer",
		e->peer, "agent", e->agent);
}

static bool put(char *text, size_t size, const char *value)
{
	return snprintf(text, size, "%s", value) < (int)size;
}

static bool from_json(json_t *value, struct login_entry *e)
{
	const char *id, *digest, *link, *owner, *peer, *agent;
	json_int_t created, used, expires;
	if (json_unpack(value, "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:s}", "id", &id, "digest",
		    &digest, "link", &link, "owner", &owner, "created", &created, "used", &used,
		    "expires", &expires, "peer", &peer, "agent", &agent) < 0)
		return false;
	*e = (struct login_entry){.created_ms = (uint64_t)created,
		.used_ms = (uint64_t)used,
		.stored_used_ms = (uint64_t)used,
		.expires_ms = (uint64_t)expires};
	return put(e->id, sizeof e->id, id) && put(e->digest, sizeof e->digest, digest) &&
		put(e->link, sizeof e->link, link) && put(e->owner, sizeof e->owner, owner) &&
		put(e->peer, sizeof e->peer, peer) && put(e->agent, sizeof e->agent, agent) &&
		strlen(e->id) == LOGIN_ID_SIZE - 1 && strlen(e->digest) == LOGIN_SECRET_SIZE - 1 &&
		!e->link[0] != !e->owner[0];
}

static void add_stored(void *user, json_t *entry)
{
	struct logins *l = user;
	if (l->count < LOGINS_MAX && from_json(entry, &l->entries[l->count]))
		l->count++;
}

int logins_open(struct logins *l, uv_loop_t *loop, int dir_fd)
{
	*l = (struct logins){.entries = calloc(LOGINS_MAX, sizeof *l->entries)};
	if (!l->entries)
		return -ENOMEM;
	int rc = durable_open(&l->file, loop, dir_fd, "logins.json", add_stored, l);
	if (rc < 0)
		logins_close(l);
	return rc;
}

void logins_close(struct logins *l)
{
	durable_finish(&l->file);
	free(l->entries);
	*l = (struct logins){0};
}

static void drop(struct logins *l, size_t i)
{
	if (l->ended)
		l->ended(l->user, &l->entries[i]);
	l->entries[i] = l->entries[--l->count];
	l->removed++;
}

/* Drop the least recently used login of a link ("": the owner), or of all links, if there are `most` already. */
static void evict_oldest(struct logins *l, const char *link, bool all_links, size_t most)
{
	size_t count = 0, oldest = 0;
	for (size_t i = 0; i < l->count; i++) {
		const struct login_entry *e = &l->entries[i];
		bool same = all_links ? e->link[0] != '\0' : strcmp(e->link, link ? link : "") == 0;
		if (same && (count++ == 0 || e->used_ms < l->entries[oldest].used_ms))
			oldest = i;
	}
	if (count >= most)
		drop(l, oldest);
}

const struct login_entry *logins_add(
	struct logins *l, const struct login_entry *terms, char value[LOGIN_VALUE_SIZE])
{
	struct login_entry e = *terms;
	char secret[LOGIN_SECRET_SIZE];
	if ((!e.id[0] && id_hex(e.id, sizeof e.id) < 0) || id_hex(secret, sizeof secret) < 0)
		return NULL;
	digest_of(secret, e.digest);
	e.used_ms = e.stored_used_ms = e.created_ms;
	for (char *p = e.agent; *p; p++)
		*p = *p < ' ' || *p > '~' ? '?' : *p;
	logins_expire(l, e.created_ms);
	evict_oldest(l, e.link, false, e.link[0] ? LOGINS_OF_LINK : LOGINS_OF_OWNER);
	if (e.link[0])
		evict_oldest(l, NULL, true, LOGINS_OF_LINKS);
	snprintf(value, LOGIN_VALUE_SIZE, "%s.%s", e.id, secret);
	OPENSSL_cleanse(secret, sizeof secret);
	l->entries[l->count] = e;
	return &l->entries[l->count++];
}

const struct login_entry *logins_find(const struct logins *l, const char *id)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->entries[i].id, id) == 0)
			return &l->entries[i];
	return NULL;
}

/* Find the login of a cookie's value. The id is no secret; the digest of the secret is compared in constant time. */
static struct login_entry *match(struct logins *l, const char *value)
{
	char id[LOGIN_ID_SIZE], digest[LOGIN_SECRET_SIZE];
	if (strlen(value) != LOGIN_VALUE_SIZE - 1 || value[LOGIN_ID_SIZE - 1] != '.')
		return NULL;
	snprintf(id, sizeof id, "%s", value);
	const struct login_entry *found = logins_find(l, id);
	digest_of(value + LOGIN_ID_SIZE, digest);
	if (!found || CRYPTO_memcmp(found->digest, digest, sizeof digest) != 0)
		return NULL;
	return &l->entries[found - l->entries];
}

const struct login_entry *logins_use(struct logins *l, const char *value, uint64_t now_ms)
{
	struct login_entry *e = match(l, value);
	if (!e || e->expires_ms <= now_ms)
		return NULL;
	e->used_ms = now_ms;
	if (e->stored_used_ms + LOGINS_USE_STORE_MS <= now_ms)
		logins_store(l, NULL, NULL);
	return e;
}

bool logins_remove(struct logins *l, const char *id)
{
	const struct login_entry *e = logins_find(l, id);
	if (e)
		drop(l, (size_t)(e - l->entries));
	return e != NULL;
}

bool logins_expire(struct logins *l, uint64_t now_ms)
{
	size_t before = l->count;
	for (size_t i = l->count; i-- > 0;)
		if (l->entries[i].expires_ms <= now_ms)
			drop(l, i);
	return l->count != before;
}

void logins_store(struct logins *l, durable_done done, void *user)
{
	json_t *list = json_array();
	for (size_t i = 0; i < l->count; i++) {
		l->entries[i].stored_used_ms = l->entries[i].used_ms;
		json_array_append_new(list, to_json(&l->entries[i]));
	}
	durable_save(&l->file, list, done, user);
}

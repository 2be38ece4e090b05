/* One call at a time: publish(), or look(). After an error the next turn tries again. */
#include "ws/fleet/logouts.h"

#include "shell/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "ended."
#define KEY "logouts"

static void on_removed(void *user, const struct bucket_answer *a)
{
	(void)user;
	(void)a; /* the next list shows it again */
}

static void on_list(void *user, int error, const struct bucket_entry *entries, size_t count)
{
	struct logouts *l = user;
	uint64_t now_ms = clock_wall_ms();
	l->busy = false;
	if (error < 0)
		return;
	l->seen = true;
	for (size_t i = 0; i < count; i++) {
		uint64_t expires_ms = strtoull(entries[i].value, NULL, 10);
		const char *id = entries[i].key + sizeof PREFIX - 1;
		if (expires_ms <= now_ms)
			(void)bucket_remove(l->registry, entries[i].key, BUCKET_ANY, on_removed, l);
		else
			auth_learn_ended(l->auth, id, expires_ms);
	}
}

static void on_revision(void *user, const struct bucket_answer *a)
{
	struct logouts *l = user;
	bool changed = a->error == 0 && a->revision != l->revision;
	l->busy = false;
	if (a->error < 0 && a->error != -ENOENT)
		return;
	if (!changed && l->seen)
		return;
	l->revision = a->error == 0 ? a->revision : 0;
	l->seen = false; /* until the list is complete */
	l->busy = bucket_list(l->registry, PREFIX, on_list, l) == 0;
}

static void on_noted(void *user, const struct bucket_answer *a)
{
	struct logouts *l = user;
	(void)a; /* if it failed, the next one that ends here tells */
	l->busy = false;
	logouts_turn(l);
}

static void on_published(void *user, const struct bucket_answer *a)
{
	struct logouts *l = user;
	struct ended_login *e = ended_logins_unpublished(&l->auth->ended);
	l->busy = false;
	if (a->error < 0 || !e)
		return;
	e->published = true;
	l->busy = bucket_put(l->registry, KEY, e->id, BUCKET_ANY, on_noted, l) == 0;
}

void logouts_turn(struct logouts *l)
{
	const struct ended_login *e = ended_logins_unpublished(&l->auth->ended);
	char key[BUCKET_KEY_SIZE], value[24];
	if (l->busy)
		return;
	if (!e) {
		l->busy = bucket_get(l->registry, KEY, on_revision, l) == 0;
		return;
	}
	snprintf(key, sizeof key, PREFIX "%s", e->id);
	snprintf(value, sizeof value, "%" PRIu64, e->expires_ms);
	l->busy = bucket_put(l->registry, key, value, BUCKET_ANY, on_published, l) == 0;
}

/* A login of this node has ended. Its cookie may be used at other nodes. */
static void on_ended(void *user, const struct login_entry *entry)
{
	struct logouts *l = user;
	if (entry->link[0]) /* its requests come here */
		return;
	auth_end_login(l->auth, entry->id, entry->expires_ms);
	logouts_turn(l);
}

void logouts_open(struct logouts *l, struct bucket *registry, struct auth *auth)
{
	*l = (struct logouts){.registry = registry, .auth = auth};
	auth->logins.user = l;
	auth->logins.ended = on_ended;
}

void logouts_close(struct logouts *l)
{
	if (l->auth)
		l->auth->logins.ended = NULL;
	l->busy = true; /* nothing is begun any more */
}

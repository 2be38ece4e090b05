#include "shell/cluster/places.h"

#include "shell/cluster/claims.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A place that is kept; in the order of their age in the table. */
struct place {
	UT_hash_handle hh;
	struct object_id object; /* unused bytes are 0 */
	char node[KEY_NODE_MAX + 1];
};

struct places {
	struct bucket *bucket;
	struct place *table;
};

/* A call of the bucket. */
struct lookup {
	struct places *places;
	struct object_id object;
	char node[KEY_NODE_MAX + 1];
	uint64_t revision;
	place_fn *fn;
	places_list_fn *list_fn;
	void *user;
};

static struct place *find(const struct places *p, const struct object_id *o)
{
	struct place *place;
	const struct object_id key = object_id_of(o->kind, o->id);
	HASH_FIND(hh, p->table, &key, sizeof key, place);
	return place;
}

static void discard(struct places *p, struct place *place)
{
	HASH_DEL(p->table, place);
	free(place);
}

void places_drop(struct places *p, const struct object_id *o)
{
	struct place *place = find(p, o);
	if (place)
		discard(p, place);
}

void places_keep(struct places *p, const struct object_id *o, const char *node)
{
	places_drop(p, o);
	if (HASH_COUNT(p->table) >= PLACES_MAX)
		discard(p, p->table);
	struct place *place = calloc(1, sizeof *place);
	if (!place)
		return;
	place->object = object_id_of(o->kind, o->id);
	snprintf(place->node, sizeof place->node, "%s", node);
	HASH_ADD(hh, p->table, object, sizeof place->object, place);
	if (!place->hh.tbl)
		free(place);
}

static struct lookup *make(struct places *p, const struct object_id *o, place_fn *fn, void *user)
{
	struct lookup *l = calloc(1, sizeof *l);
	if (!l) {
		fn(user, -ENOMEM, NULL);
		return NULL;
	}
	l->places = p;
	l->object = object_id_of(o->kind, o->id);
	l->fn = fn;
	l->user = user;
	return l;
}

/* End a call. Errors of the connection are one. */
static void end(struct lookup *l, int error)
{
	bool away = error == -ETIMEDOUT || error == -ECANCELED || error == -ENOBUFS;
	l->fn(l->user, away ? -ENOTCONN : error, error < 0 ? NULL : l->node);
	free(l);
}

/* Read the node of an answer. Returns an error. */
static int read_node(struct lookup *l, const struct bucket_answer *a)
{
	if (a->error < 0)
		return a->error;
	if (!key_is_node(a->value))
		return -ENOENT;
	snprintf(l->node, sizeof l->node, "%s", a->value);
	l->revision = a->revision;
	return 0;
}

static void on_found(void *user, const struct bucket_answer *a)
{
	struct lookup *l = user;
	int rc = read_node(l, a);
	if (rc == 0)
		places_keep(l->places, &l->object, l->node);
	end(l, rc);
}

void places_find(struct places *p, const struct object_id *o, place_fn *fn, void *user)
{
	char key[BUCKET_KEY_SIZE], node[KEY_NODE_MAX + 1];
	const struct place *place = find(p, o);
	if (place) {
		snprintf(node, sizeof node, "%s", place->node);
		fn(user, 0, node);
		return;
	}
	struct lookup *l = make(p, o, fn, user);
	if (!l)
		return;
	key_of_object(&l->object, key);
	int rc = bucket_get(p->bucket, key, on_found, l);
	if (rc < 0)
		end(l, rc);
}

static void on_forgotten(void *user, const struct bucket_answer *a)
{
	struct lookup *l = user;
	if (a->error == 0)
		places_drop(l->places, &l->object);
	end(l, a->error);
}

static void on_marked(void *user, const struct bucket_answer *a)
{
	struct lookup *l = user;
	char key[BUCKET_KEY_SIZE];
	key_of_object(&l->object, key);
	int rc = a->error < 0 ? a->error
			      : bucket_remove(l->places->bucket, key, l->revision, on_forgotten, l);
	if (rc < 0)
		end(l, rc);
}

static void on_known(void *user, const struct bucket_answer *a)
{
	struct lookup *l = user;
	char key[BUCKET_KEY_SIZE];
	int rc = read_node(l, a);
	if (rc == 0) {
		key_of_index(l->node, &l->object, key);
		rc = bucket_put(l->places->bucket, key, INDEX_FORGOTTEN, BUCKET_ANY, on_marked, l);
	}
	if (rc < 0)
		end(l, rc);
}

void places_forget(struct places *p, const struct object_id *o, place_fn *fn, void *user)
{
	char key[BUCKET_KEY_SIZE];
	struct lookup *l = make(p, o, fn, user);
	if (!l)
		return;
	key_of_object(&l->object, key);
	int rc = bucket_get(p->bucket, key, on_known, l);
	if (rc < 0)
		end(l, rc);
}

static void end_list(struct lookup *l, int error, const struct object_id *objects, size_t count)
{
	l->list_fn(l->user, error < 0 && error != -ENOMEM ? -ENOTCONN : error, objects, count);
	free(l);
}

static void on_list(void *user, int error, const struct bucket_entry *entries, size_t count)
{
	struct lookup *l = user;
	struct object_id *all = error < 0 ? NULL : calloc(count + 1, sizeof *all);
	size_t n = 0;
	if (error == 0 && !all)
		error = -ENOMEM;
	for (size_t i = 0; error == 0 && i < count; i++)
		n += key_parse_index(entries[i].key, &all[n]) &&
			strcmp(entries[i].value, INDEX_FORGOTTEN) != 0;
	end_list(l, error, all, n);
	free(all);
}

void places_list(struct places *p, const char *node, places_list_fn *fn, void *user)
{
	char prefix[BUCKET_KEY_SIZE];
	struct lookup *l = calloc(1, sizeof *l);
	if (!l) {
		fn(user, -ENOMEM, NULL, 0);
		return;
	}
	*l = (struct lookup){.places = p, .list_fn = fn, .user = user};
	key_of_index_prefix(node, prefix);
	int rc = bucket_list(p->bucket, prefix, on_list, l);
	if (rc < 0)
		end_list(l, rc, NULL, 0);
}

struct places *places_open(struct bucket *bucket)
{
	struct places *p = calloc(1, sizeof *p);
	if (p)
		p->bucket = bucket;
	return p;
}

void places_close(struct places *p)
{
	if (!p)
		return;
	while (p->table)
		discard(p, p->table); /* NOLINT(clang-analyzer-*): it removes the place */
	free(p);
}

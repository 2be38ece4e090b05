/*
 * A tile for each session. A new session with the id of an old one has another epoch, and gets another tile.
 * Tiles are sorted by need of attention and then by id, so a tile moves only if its attention changes. If memory
 * is short, sessions are left out.
 */
#include "ws/client/wall/crowd.h"

#include "ws/client/connect/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void update_standing(struct tile *t)
{
	char words[ATTENTION_WORDS_MAX];
	enum attention attention = attention_of(t->session, t->state, t->called, words);
	if (attention == t->attention && strcmp(words, t->words) == 0)
		return;
	t->attention = attention;
	memcpy(t->words, words, sizeof t->words);
	t->dirty = true;
}

static void free_tile(struct tile *t)
{
	picture_finish(&t->picture);
	json_decref(t->session);
	json_decref(t->state);
	free(t);
}

static struct tile *find_session(const struct crowd *c, const char *id, const char *epoch)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->tiles[i]->id, id) == 0 && strcmp(c->tiles[i]->epoch, epoch) == 0)
			return c->tiles[i];
	return NULL;
}

static struct tile *add_tile(struct crowd *c, const char *id, const char *epoch)
{
	struct tile **tiles = realloc(c->tiles, (c->count + 1) * sizeof(struct tile *));
	if (!tiles)
		return NULL;
	c->tiles = tiles;
	struct tile *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->serial = ++c->last_serial;
	t->stale = true;
	snprintf(t->id, sizeof t->id, "%s", id);
	snprintf(t->epoch, sizeof t->epoch, "%s", epoch);
	c->tiles[c->count++] = t;
	return t;
}

static void update_tile(struct tile *t, json_t *session)
{
	const char *name = answer_text(session, "name");
	unsigned cols = (unsigned)json_integer_value(json_object_get(session, "cols"));
	unsigned rows = (unsigned)json_integer_value(json_object_get(session, "rows"));
	if (strcmp(name, t->id) == 0)
		name = "";
	t->listed = true;
	t->dirty = t->dirty || strncmp(name, t->name, TILE_NAME_MAX) != 0;
	t->stale = t->stale || cols != t->cols || rows != t->rows;
	t->cols = cols;
	t->rows = rows;
	snprintf(t->name, sizeof t->name, "%s", name);
	json_incref(session);
	json_decref(t->session);
	t->session = session;
	if (json_integer_value(json_object_get(session, "clients")) > 0)
		t->called = false;
	update_standing(t);
}

static void remove_unlisted(struct crowd *c, void (*gone)(void *user, struct tile *tile), void *user)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->count; i++) {
		struct tile *t = c->tiles[i];
		if (t->listed) {
			t->listed = false;
			c->tiles[kept++] = t;
			continue;
		}
		gone(user, t);
		free_tile(t);
	}
	c->count = kept;
}

bool crowd_update_list(struct crowd *c, const json_t *sessions,
	void (*gone)(void *user, struct tile *tile), void *user)
{
	size_t i;
	json_t *session;
	bool whole = true;
	json_array_foreach (sessions, i, session) {
		const char *id = answer_text(session, "id"), *epoch = answer_text(session, "epoch");
		if (i >= CROWD_MAX || !*id || strlen(id) > TILE_ID_MAX ||
			strlen(epoch) >= sizeof c->tiles[0]->epoch ||
			strcmp(id, c->own_session) == 0)
			continue;
		struct tile *t = find_session(c, id, epoch);
		if (!t)
			t = add_tile(c, id, epoch);
		if (t)
			update_tile(t, session);
		whole = whole && t;
	}
	remove_unlisted(c, gone, user);
	return whole;
}

void crowd_update_state(struct tile *t, const json_t *state)
{
	json_t *copy = json_deep_copy(state);
	json_decref(t->state);
	t->state = copy;
	update_standing(t);
}

void crowd_set_called(struct tile *t, bool called)
{
	t->dirty = t->dirty || t->called != called;
	t->called = called;
	update_standing(t);
}

static int compare(const void *a, const void *b)
{
	const struct tile *s = *(struct tile *const *)a, *t = *(struct tile *const *)b;
	if (s->attention != t->attention)
		return s->attention < t->attention ? -1 : 1;
	int order = strcmp(s->id, t->id);
	return order ? order : s->serial < t->serial ? -1 : 1;
}

bool crowd_sort(struct crowd *c)
{
	bool sorted = true;
	for (size_t i = 1; i < c->count && sorted; i++)
		sorted = compare(&c->tiles[i - 1], &c->tiles[i]) < 0;
	if (!sorted)
		qsort(c->tiles, c->count, sizeof(struct tile *), compare);
	return !sorted;
}

struct tile *crowd_find(const struct crowd *c, uint64_t serial)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->tiles[i]->serial == serial)
			return c->tiles[i];
	return NULL;
}

unsigned crowd_index(const struct crowd *c, uint64_t serial)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->tiles[i]->serial == serial)
			return (unsigned)i;
	return 0;
}

unsigned crowd_count(const struct crowd *c, enum attention attention)
{
	unsigned n = 0;
	for (size_t i = 0; i < c->count; i++)
		n += c->tiles[i]->attention == attention;
	return n;
}

void crowd_finish(struct crowd *c)
{
	for (size_t i = 0; i < c->count; i++)
		free_tile(c->tiles[i]);
	free(c->tiles);
	c->tiles = NULL;
	c->count = 0;
}

#include "tests/lib/memory_bucket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

/* A key with its value. */
struct item {
	UT_hash_handle hh;
	char *value; /* owned */
	uint64_t revision, written_ms;
	char key[];
};

enum operation { GET, PUT, REMOVE, LIST };

/* A call that is out. All calls take the same time, so their order is that of the queue. */
struct call {
	struct call *prev, *next;
	struct memory_bucket *bucket;
	enum operation operation;
	char *key, *value; /* owned; NULL: none */
	uint64_t expected, due_ms;
	bucket_fn *fn;
	bucket_list_fn *list_fn;
	void *user;
};

struct memory_store {
	struct item *items;
	struct call *calls;
	unsigned latency_ms, ttl_ms;
	uint64_t now_ms, revision;
	struct memory_counts counts;
};

static struct item *find(const struct memory_store *s, const char *key)
{
	struct item *i;
	HASH_FIND_STR(s->items, key, i);
	return i && s->ttl_ms && s->now_ms - i->written_ms >= s->ttl_ms ? NULL : i;
}

static void drop(struct memory_store *s, struct item *i)
{
	HASH_DEL(s->items, i);
	free(i->value);
	free(i);
}

static uint64_t write_item(struct memory_store *s, const char *key, const char *value)
{
	struct item *i;
	HASH_FIND_STR(s->items, key, i);
	if (!i) {
		size_t size = strlen(key) + 1;
		i = calloc(1, sizeof *i + size);
		memcpy(i->key, key, size);
		HASH_ADD_KEYPTR(hh, s->items, i->key, size - 1, i);
	}
	free(i->value);
	i->value = strdup(value);
	i->written_ms = s->now_ms;
	return i->revision = ++s->revision;
}

static void send(struct memory_bucket *b, struct call *call)
{
	struct call *c = malloc(sizeof *c);
	*c = *call;
	c->bucket = b;
	c->key = strdup(call->key);
	c->value = call->value ? strdup(call->value) : NULL;
	c->due_ms = b->store->now_ms + b->store->latency_ms;
	DL_APPEND(b->store->calls, c);
}

static int get(struct bucket *b, const char *key, bucket_fn *fn, void *user)
{
	send((struct memory_bucket *)b,
		&(struct call){.operation = GET, .key = (char *)key, .fn = fn, .user = user});
	return 0;
}

static int put(struct bucket *b, const char *key, const char *value, uint64_t expected,
	bucket_fn *fn, void *user)
{
	send((struct memory_bucket *)b,
		&(struct call){.operation = PUT,
			.key = (char *)key,
			.value = (char *)value,
			.expected = expected,
			.fn = fn,
			.user = user});
	return 0;
}

static int remove_key(
	struct bucket *b, const char *key, uint64_t expected, bucket_fn *fn, void *user)
{
	send((struct memory_bucket *)b,
		&(struct call){.operation = REMOVE,
			.key = (char *)key,
			.expected = expected,
			.fn = fn,
			.user = user});
	return 0;
}

static int list(struct bucket *b, const char *prefix, bucket_list_fn *fn, void *user)
{
	send((struct memory_bucket *)b,
		&(struct call){
			.operation = LIST, .key = (char *)prefix, .list_fn = fn, .user = user});
	return 0;
}

static const struct bucket_kind kind = {.get = get, .put = put, .remove = remove_key, .list = list};

void memory_bucket_init(struct memory_bucket *b, struct memory_store *s)
{
	*b = (struct memory_bucket){.head = {.kind = &kind, .connections = 1}, .store = s};
}

static struct bucket_answer carry_out(struct memory_store *s, const struct call *c)
{
	struct bucket_answer a = {0};
	struct item *i = find(s, c->key);
	uint64_t revision = i ? i->revision : BUCKET_ABSENT;
	s->counts.calls++;
	s->counts.bytes += strlen(c->key) + (c->value ? strlen(c->value) : 0);
	if (c->operation != PUT && !i)
		a.error = -ENOENT;
	else if (c->operation != GET && c->expected != BUCKET_ANY && c->expected != revision)
		a.error = -EEXIST;
	else if (c->operation == PUT)
		a.revision = write_item(s, c->key, c->value);
	else if (c->operation == REMOVE)
		drop(s, i);
	else
		a = (struct bucket_answer){
			.revision = revision, .value = i->value, .length = strlen(i->value)};
	s->counts.bytes += a.length;
	return a;
}

static void answer_list(struct memory_store *s, const struct call *c)
{
	size_t count = 0, length = strlen(c->key);
	struct bucket_entry *all = calloc(HASH_COUNT(s->items) + 1, sizeof *all);
	struct item *i, *next;
	HASH_ITER (hh, s->items, i, next) {
		if (strncmp(i->key, c->key, length) != 0 || !find(s, i->key))
			continue;
		/* The callback may write, so it gets copies. */
		all[count++] = (struct bucket_entry){.key = strdup(i->key),
			.value = strdup(i->value),
			.length = strlen(i->value),
			.revision = i->revision};
		s->counts.bytes += strlen(i->key) + strlen(i->value);
	}
	s->counts.calls++;
	s->counts.entries += count;
	c->list_fn(c->user, 0, all, count);
	while (count-- > 0) {
		free((char *)all[count].key);
		free((char *)all[count].value);
	}
	free(all);
}

static void answer(struct memory_store *s, const struct call *c)
{
	enum memory_link link = c->bucket->link;
	struct bucket_answer a = {.error = link == LINK_AWAY ? -ENOTCONN : -ETIMEDOUT};
	if (c->operation == LIST && link == LINK_GOOD) {
		answer_list(s, c);
	} else if (c->operation == LIST) {
		c->list_fn(c->user, a.error, NULL, 0);
	} else {
		if (link == LINK_GOOD)
			a = carry_out(s, c);
		else if (link == LINK_LOSES_REPLY)
			carry_out(s, c);
		char *value = a.value ? strdup(a.value) : NULL; /* the callback may write */
		a.value = value;
		c->fn(c->user, &a);
		free(value);
	}
}

bool memory_store_step(struct memory_store *s, uint64_t limit_ms)
{
	struct call *c = s->calls;
	if (!c || c->due_ms > limit_ms)
		return false;
	s->now_ms = c->due_ms > s->now_ms ? c->due_ms : s->now_ms;
	DL_DELETE(s->calls, c);
	answer(s, c);
	free(c->key);
	free(c->value);
	free(c);
	return true;
}

void memory_store_run(struct memory_store *s, uint64_t limit_ms)
{
	while (memory_store_step(s, limit_ms))
		;
	s->now_ms = limit_ms > s->now_ms ? limit_ms : s->now_ms;
}

uint64_t memory_store_now(void *user)
{
	const struct memory_store *s = user;
	return s->now_ms;
}

const char *memory_store_value(const struct memory_store *s, const char *key)
{
	const struct item *i = find(s, key);
	return i ? i->value : NULL;
}

void memory_store_set(struct memory_store *s, const char *key, const char *value)
{
	struct item *i;
	HASH_FIND_STR(s->items, key, i);
	if (value)
		write_item(s, key, value);
	else if (i)
		drop(s, i);
}

size_t memory_store_count(const struct memory_store *s)
{
	return HASH_COUNT(s->items);
}

struct memory_counts memory_store_counts(const struct memory_store *s)
{
	return s->counts;
}

struct memory_store *memory_store_create(unsigned latency_ms, unsigned ttl_ms)
{
	struct memory_store *s = calloc(1, sizeof *s);
	s->latency_ms = latency_ms;
	s->ttl_ms = ttl_ms;
	return s;
}

void memory_store_destroy(struct memory_store *s)
{
	struct item *i, *next;
	struct call *c, *after;
	HASH_ITER (hh, s->items, i, next)
		drop(s, i);
	DL_FOREACH_SAFE (s->calls, c, after) {
		free(c->key);
		free(c->value);
		free(c);
	}
	free(s);
}

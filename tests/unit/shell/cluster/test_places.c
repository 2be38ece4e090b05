#include "shell/cluster/claims.h"
#include "shell/cluster/places.h"
#include "tests/lib/memory_bucket.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct memory_store *store;
static struct memory_bucket bucket;
static struct places *places;
static const struct object_id demo = {OBJECT_SESSION, "demo"};
static int result;
static char found[KEY_NODE_MAX + 1];
static char listed[256];

static void setup(void)
{
	store = memory_store_create(1, 0);
	memory_bucket_init(&bucket, store);
	places = places_open(&bucket.head);
	memory_store_set(store, "id.session.demo", "a");
	memory_store_set(store, "at.a.session.demo", "held");
}

static void teardown(void)
{
	places_close(places);
	memory_store_destroy(store);
}

static void on_place(void *user, int error, const char *node)
{
	(void)user;
	result = error;
	snprintf(found, sizeof found, "%s", node ? node : "");
}

static int find(void)
{
	result = 1;
	places_find(places, &demo, on_place, NULL);
	memory_store_run(store, memory_store_now(store) + 10);
	return result;
}

static int forget(void)
{
	result = 1;
	places_forget(places, &demo, on_place, NULL);
	memory_store_run(store, memory_store_now(store) + 10);
	return result;
}

static void on_list(void *user, int error, const struct object_id *objects, size_t count)
{
	(void)user;
	result = error;
	listed[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		strcat(listed, objects[i].id);
		strcat(listed, " ");
	}
}

static int list(const char *node)
{
	result = 1;
	places_list(places, node, on_list, NULL);
	memory_store_run(store, memory_store_now(store) + 10);
	return result;
}

TestSuite(places, .init = setup, .fini = teardown, .timeout = 20);

Test(places, find_a_node_once)
{
	cr_assert_eq(find(), 0);
	cr_assert_str_eq(found, "a");
	uint64_t calls = memory_store_counts(store).calls;
	cr_assert_eq(find(), 0);
	cr_assert_eq(memory_store_counts(store).calls, calls);
	places_drop(places, &demo);
	memory_store_set(store, "id.session.demo", NULL);
	cr_assert_eq(find(), -ENOENT);
	cr_assert_eq(find(), -ENOENT);
}

Test(places, known_places_do_not_need_the_store)
{
	bucket.link = LINK_AWAY;
	cr_assert_eq(find(), -ENOTCONN);
	bucket.link = LINK_GOOD;
	cr_assert_eq(find(), 0);
	bucket.link = LINK_LOSES_CALL;
	cr_assert_eq(find(), 0);
	places_drop(places, &demo);
	cr_assert_eq(find(), -ENOTCONN);
}

Test(places, an_invalid_value_is_no_place)
{
	memory_store_set(store, "id.session.demo", "../x");
	cr_assert_eq(find(), -ENOENT);
}

Test(places, the_oldest_is_dropped)
{
	struct object_id o = {.kind = OBJECT_SESSION};
	cr_assert_eq(find(), 0);
	for (unsigned i = 0; i < PLACES_MAX; i++) {
		snprintf(o.id, sizeof o.id, "s%u", i);
		places_keep(places, &o, "b");
	}
	uint64_t calls = memory_store_counts(store).calls;
	cr_assert_eq(find(), 0);
	cr_assert_eq(memory_store_counts(store).calls, calls + 1);
}

Test(places, forget_frees_the_id_and_marks_the_index)
{
	cr_assert_eq(find(), 0);
	cr_assert_eq(forget(), 0);
	cr_assert_str_eq(found, "a");
	cr_assert_null(memory_store_value(store, "id.session.demo"));
	cr_assert_str_eq(memory_store_value(store, "at.a.session.demo"), INDEX_FORGOTTEN);
	cr_assert_eq(find(), -ENOENT);
	cr_assert_eq(forget(), -ENOENT);
}

Test(places, list_what_a_node_has)
{
	memory_store_set(store, "at.a.session.more", "held");
	memory_store_set(store, "at.ab.session.other", "held");
	memory_store_set(store, "at.a.session.gone", INDEX_FORGOTTEN);
	memory_store_set(store, "at.a.unknown.thing", "held");
	cr_assert_eq(list("a"), 0);
	cr_assert(strcmp(listed, "demo more ") == 0 || strcmp(listed, "more demo ") == 0, "%s",
		listed);
	bucket.link = LINK_AWAY;
	cr_assert_eq(list("a"), -ENOTCONN);
}

/* The registry in a real nats-server. */
#include "shell/cluster/nats_store.h"
#include "tests/lib/nats_server.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TTL_MS 1000u
#define MANY 300u

/* Results of calls. */
struct result {
	int error; /* 1: none yet */
	uint64_t revision;
	char value[64];
	size_t count;
	char keys[256];
};

static struct nats_server server;
static uv_loop_t loop;
static uv_timer_t alive;
static struct nats_store *store;
static struct bucket *bucket;
static bool connected;
static unsigned changes;

static void on_changed(void *user, bool is_connected, const char *reason)
{
	(void)user;
	connected = is_connected;
	changes++;
	cr_assert(connected || *reason);
}

static int open_store(const char *servers)
{
	connected = false;
	changes = 0;
	int rc = nats_store_open(&(struct nats_options){.loop = &loop,
					 .servers = servers,
					 .name = "test",
					 .ttl_ms = TTL_MS,
					 .changed = on_changed},
		&store);
	bucket = rc == 0 ? nats_store_registry(store) : NULL;
	return rc;
}

static void set_up(void)
{
	nats_server_open(&server);
	until_open_loop(&loop, &alive, 5);
	cr_assert_eq(open_store(server.url), 0);
	cr_assert(LOOP_UNTIL(&loop, connected));
}

static void tear_down(void)
{
	nats_store_close(store);
	until_close_loop(&loop, &alive);
	nats_server_close(&server);
}

static void on_answer(void *user, const struct bucket_answer *a)
{
	struct result *r = user;
	r->error = a->error;
	r->revision = a->revision;
	snprintf(r->value, sizeof r->value, "%s", a->value ? a->value : "");
}

static void on_list(void *user, int error, const struct bucket_entry *entries, size_t count)
{
	struct result *r = user;
	r->error = error;
	r->count = count;
	r->keys[0] = '\0';
	for (size_t i = 0; i < count && i < 8; i++) {
		strcat(r->keys, entries[i].key);
		strcat(r->keys, "=");
		strcat(r->keys, entries[i].value);
		strcat(r->keys, " ");
	}
}

static struct result wait_for(struct result *r, int rc)
{
	cr_assert_eq(rc, 0);
	cr_assert(LOOP_UNTIL(&loop, r->error != 1));
	return *r;
}

static struct result get(const char *key)
{
	struct result r = {.error = 1};
	return wait_for(&r, bucket_get(bucket, key, on_answer, &r));
}

static struct result put(const char *key, const char *value, uint64_t expected)
{
	struct result r = {.error = 1};
	return wait_for(&r, bucket_put(bucket, key, value, expected, on_answer, &r));
}

static int remove_key(const char *key, uint64_t expected)
{
	struct result r = {.error = 1};
	return wait_for(&r, bucket_remove(bucket, key, expected, on_answer, &r)).error;
}

static struct result list(const char *prefix)
{
	struct result r = {.error = 1};
	return wait_for(&r, bucket_list(bucket, prefix, on_list, &r));
}

TestSuite(nats_store, .init = set_up, .fini = tear_down, .timeout = 60);

Test(nats_store, compare_and_set)
{
	cr_assert_eq(get("id.session.demo").error, -ENOENT);
	struct result first = put("id.session.demo", "a", BUCKET_ABSENT);
	cr_assert_eq(first.error, 0);
	cr_assert_gt(first.revision, 0);
	cr_assert_eq(put("id.session.demo", "b", BUCKET_ABSENT).error, -EEXIST);
	struct result read = get("id.session.demo");
	cr_assert_eq(read.revision, first.revision);
	cr_assert_str_eq(read.value, "a");
	cr_assert_eq(put("id.session.demo", "b", first.revision + 1).error, -EEXIST);
	struct result second = put("id.session.demo", "b", first.revision);
	cr_assert_eq(second.error, 0);
	cr_assert_eq(remove_key("id.session.demo", first.revision), -EEXIST);
	cr_assert_str_eq(get("id.session.demo").value, "b");
	cr_assert_eq(remove_key("id.session.demo", second.revision), 0);
	cr_assert_eq(get("id.session.demo").error, -ENOENT);
	cr_assert_eq(remove_key("id.session.demo", second.revision), -ENOENT);
	cr_assert_eq(remove_key("id.session.demo", BUCKET_ANY), -ENOENT);
	cr_assert_eq(put("id.session.demo", "c", BUCKET_ABSENT).error, 0);
	cr_assert_eq(put("id.session.demo", "d", BUCKET_ANY).error, 0);
	cr_assert_eq(remove_key("id.session.demo", BUCKET_ANY), 0);
	cr_assert_eq(get("id.session.demo").error, -ENOENT);
}

Test(nats_store, list_keys_below_a_prefix)
{
	cr_assert_eq(list("at.a.").count, 0);
	put("at.a.session.x", "1", BUCKET_ANY);
	put("at.a.session.y=2E", "", BUCKET_ANY);
	put("at.ab.session.z", "3", BUCKET_ANY);
	put("at.a.session.gone", "4", BUCKET_ANY);
	remove_key("at.a.session.gone", BUCKET_ANY);
	struct result r = list("at.a.");
	cr_assert_eq(r.error, 0);
	cr_assert_str_eq(r.keys, "at.a.session.x=1 at.a.session.y=2E= ");
	cr_assert_eq(list("").count, 3);
}

Test(nats_store, many_calls_at_once_each_have_one_winner)
{
	static struct result results[MANY];
	char key[32];
	unsigned won = 0;
	for (unsigned i = 0; i < MANY; i++) {
		results[i].error = 1;
		snprintf(key, sizeof key, "id.session.%u", i / 3);
		cr_assert_eq(bucket_put(bucket, key, "a", BUCKET_ABSENT, on_answer, &results[i]), 0);
	}
	for (unsigned i = 0; i < MANY; i++) {
		wait_for(&results[i], 0);
		cr_assert(results[i].error == 0 || results[i].error == -EEXIST);
		won += results[i].error == 0;
	}
	cr_assert_eq(won, MANY / 3);
	cr_assert_eq(list("id.session.").count, MANY / 3);
}

Test(nats_store, reports_expire)
{
	bucket = nats_store_reports(store);
	put("a", "x", BUCKET_ANY);
	cr_assert_str_eq(get("a").value, "x");
	cr_assert(UNTIL(get("a").error == -ENOENT));
	cr_assert_eq(list("").count, 0);
}

Test(nats_store, a_killed_server_comes_back)
{
	put("id.session.demo", "a", BUCKET_ABSENT);
	unsigned before = bucket->connections;
	nats_server_kill(&server);
	cr_assert(LOOP_UNTIL(&loop, !connected));
	cr_assert_eq(get("id.session.demo").error, -ENOTCONN);
	cr_assert_eq(put("id.session.demo", "b", BUCKET_ANY).error, -ENOTCONN);
	nats_server_start(&server, NULL);
	cr_assert(LOOP_UNTIL(&loop, connected));
	cr_assert_eq(bucket->connections, before + 1);
	cr_assert(UNTIL(get("id.session.demo").error == 0));
	cr_assert_str_eq(get("id.session.demo").value, "a");
	/* What was in memory is made again. */
	bucket = nats_store_reports(store);
	cr_assert(UNTIL(put("a", "x", BUCKET_ANY).error == 0));
}

Test(nats_store, a_stopped_server_delays_only_calls)
{
	struct result results[8];
	put("id.session.demo", "a", BUCKET_ABSENT);
	kill(server.pid, SIGSTOP);
	for (size_t i = 0; i < 8; i++) {
		results[i].error = 1;
		cr_assert_eq(bucket_get(bucket, "id.session.demo", on_answer, &results[i]), 0);
	}
	for (size_t i = 0; i < 8; i++) {
		wait_for(&results[i], 0);
		cr_assert(results[i].error == -ETIMEDOUT || results[i].error == -ENOTCONN);
	}
	kill(server.pid, SIGCONT);
	cr_assert(UNTIL(get("id.session.demo").error == 0));
}

Test(nats_store, closing_cancels_calls)
{
	struct result results[20];
	kill(server.pid, SIGSTOP);
	for (size_t i = 0; i < 20; i++) {
		results[i].error = 1;
		cr_assert_eq(bucket_get(bucket, "x", on_answer, &results[i]), 0);
	}
	nats_store_close(store);
	store = NULL;
	for (size_t i = 0; i < 20; i++)
		cr_assert_neq(results[i].error, 1);
	kill(server.pid, SIGCONT);
}

Test(nats_store, the_server_may_come_later)
{
	nats_store_close(store);
	nats_server_kill(&server);
	cr_assert_eq(open_store(server.url), 0);
	cr_assert_eq(get("x").error, -ENOTCONN);
	nats_server_start(&server, NULL);
	cr_assert(LOOP_UNTIL(&loop, connected));
	cr_assert(UNTIL(put("x", "1", BUCKET_ABSENT).error == 0));
}

Test(nats_store, a_server_that_refuses_is_asked_again)
{
	char url[80];
	nats_store_close(store);
	nats_server_kill(&server);
	nats_server_start(&server, (const char *[]){"--user", "u", "--pass", "right", NULL});
	snprintf(url, sizeof url, "nats://u:right@127.0.0.1:%s", server.port);
	cr_assert_eq(open_store(url), 0);
	cr_assert(LOOP_UNTIL(&loop, connected));
	/* With another password the library gives up at once. */
	nats_server_kill(&server);
	nats_server_start(&server, (const char *[]){"--user", "u", "--pass", "wrong", NULL});
	cr_assert(LOOP_UNTIL(&loop, !connected));
	nats_server_kill(&server);
	nats_server_start(&server, (const char *[]){"--user", "u", "--pass", "right", NULL});
	cr_assert(LOOP_UNTIL(&loop, connected));
	cr_assert(UNTIL(put("x", "1", BUCKET_ANY).error == 0));
}

Test(nats_store, invalid_options_are_refused)
{
	static const char *const bad[] = {"", ",", "nats://127.0.0.1:x"};
	nats_store_close(store);
	store = NULL;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_assert_eq(open_store(bad[i]), -EINVAL, "%s", bad[i]);
}

#include "shell/cluster/claims.h"
#include "tests/lib/memory_bucket.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LATENCY_MS 2u
#define LONG_MS 20000u

/* A node: its claims, and what they have reported. */
struct node {
	struct memory_bucket bucket;
	struct claims *claims;
	int outcome; /* of the last claim; 1: none yet */
	char owner[KEY_NODE_MAX + 1];
	unsigned conflicts, forgotten;
	bool keeps; /* does not end what was forgotten */
};

static struct memory_store *store;
static struct node a, b;
static const struct object_id demo = {OBJECT_SESSION, "demo"};

static void on_outcome(void *user, int error, const char *owner)
{
	struct node *n = user;
	cr_assert_eq(n->outcome, 1, "reported once");
	n->outcome = error;
	snprintf(n->owner, sizeof n->owner, "%s", owner ? owner : "");
}

static void on_forgotten(void *user, const struct object_id *o)
{
	struct node *n = user;
	n->forgotten++;
	if (!n->keeps)
		claims_end(n->claims, o);
}

static void on_conflict(void *user, const struct object_id *o, const char *owner)
{
	struct node *n = user;
	(void)o;
	n->conflicts++;
	snprintf(n->owner, sizeof n->owner, "%s", owner);
}

static uint64_t now_ms(void *user)
{
	(void)user;
	return memory_store_now(store);
}

static void open_node(struct node *n, const char *name)
{
	*n = (struct node){.outcome = 1};
	memory_bucket_init(&n->bucket, store);
	n->claims = claims_open(&(struct claims_options){.bucket = &n->bucket.head,
		.node = name,
		.forgotten = on_forgotten,
		.conflict = on_conflict,
		.now_ms = now_ms,
		.user = n});
}

static void setup(void)
{
	store = memory_store_create(LATENCY_MS, 0);
	open_node(&a, "a");
	open_node(&b, "b");
}

static void teardown(void)
{
	claims_close(a.claims);
	claims_close(b.claims);
	memory_store_destroy(store);
}

/* Let time pass for both nodes. */
static void pass(unsigned ms)
{
	uint64_t end = memory_store_now(store) + ms;
	while (memory_store_now(store) < end) {
		claims_turn(a.claims);
		claims_turn(b.claims);
		memory_store_run(store, memory_store_now(store) + LATENCY_MS);
	}
}

static int claim(struct node *n, const struct object_id *o, bool required)
{
	n->outcome = 1;
	claims_begin(n->claims, o, required, on_outcome, n);
	pass(10 * LATENCY_MS);
	return n->outcome;
}

static struct claims_counts counts(const struct node *n)
{
	struct claims_counts c;
	claims_count(n->claims, &c);
	return c;
}

static void expect_keys(const char *owner)
{
	char key[64];
	const char *value = memory_store_value(store, "id.session.demo");
	cr_assert_eq(memory_store_count(store), owner ? 2 : 0);
	if (!owner)
		return;
	cr_assert_str_eq(value, owner);
	snprintf(key, sizeof key, "at.%s.session.demo", owner);
	cr_assert_str_eq(memory_store_value(store, key), "held");
}

TestSuite(claims, .init = setup, .fini = teardown, .timeout = 20);

Test(claims, register_an_id_and_remove_it)
{
	cr_assert_eq(claim(&a, &demo, true), 0);
	expect_keys("a");
	cr_assert(claims_have(a.claims, &demo));
	cr_assert_eq(counts(&a).held, 1);
	claims_end(a.claims, &demo);
	pass(10 * LATENCY_MS);
	expect_keys(NULL);
	cr_assert_eq(counts(&a).leaving, 0);
}

Test(claims, the_second_node_is_refused)
{
	cr_assert_eq(claim(&a, &demo, true), 0);
	cr_assert_eq(claim(&b, &demo, true), -EEXIST);
	cr_assert_str_eq(b.owner, "a");
	expect_keys("a");
	cr_assert_not(claims_have(b.claims, &demo));
}

Test(claims, of_two_at_once_one_is_refused)
{
	claims_begin(a.claims, &demo, true, on_outcome, &a);
	claims_begin(b.claims, &demo, true, on_outcome, &b);
	pass(10 * LATENCY_MS);
	cr_assert(a.outcome == 0 || b.outcome == 0);
	cr_assert(a.outcome == -EEXIST || b.outcome == -EEXIST);
	expect_keys(a.outcome == 0 ? "a" : "b");
}

Test(claims, a_second_claim_of_the_same_node_is_refused)
{
	cr_assert_eq(claim(&a, &demo, true), 0);
	cr_assert_eq(claim(&a, &demo, true), -EEXIST);
	cr_assert_str_eq(a.owner, "a");
}

Test(claims, an_id_that_is_being_removed_can_be_claimed_again)
{
	for (unsigned ms = 0; ms < 8 * LATENCY_MS; ms++) {
		cr_assert_eq(claim(&a, &demo, true), 0);
		claims_end(a.claims, &demo);
		memory_store_run(store, memory_store_now(store) + ms);
		cr_assert_eq(claim(&a, &demo, true), 0);
		expect_keys("a");
		claims_end(a.claims, &demo);
		pass(10 * LATENCY_MS);
		expect_keys(NULL);
	}
}

Test(claims, chosen_ids_fail_while_the_store_is_away)
{
	a.bucket.link = LINK_AWAY;
	cr_assert_eq(claim(&a, &demo, true), -ENOTCONN);
	cr_assert_not(claims_have(a.claims, &demo));
	a.bucket.link = LINK_GOOD;
	pass(LONG_MS);
	expect_keys(NULL);
	cr_assert_eq(claim(&b, &demo, true), 0);
}

Test(claims, random_ids_are_registered_later)
{
	a.bucket.link = LINK_AWAY;
	cr_assert_eq(claim(&a, &demo, false), 0);
	pass(LONG_MS);
	cr_assert_eq(counts(&a).waiting, 1);
	a.bucket.link = LINK_GOOD;
	pass(LONG_MS);
	cr_assert_eq(counts(&a).held, 1);
	expect_keys("a");
}

Test(claims, a_claim_with_unknown_outcome_leaves_nothing)
{
	/* Of the three calls, lose the answer of each in turn. */
	for (unsigned lost = 0; lost < 3; lost++) {
		a.outcome = 1;
		claims_begin(a.claims, &demo, true, on_outcome, &a);
		memory_store_run(store, memory_store_now(store) + lost * LATENCY_MS);
		a.bucket.link = LINK_LOSES_REPLY;
		pass(10 * LATENCY_MS);
		a.bucket.link = LINK_GOOD;
		if (a.outcome == 0)
			claims_end(a.claims, &demo);
		pass(LONG_MS);
		expect_keys(NULL);
		cr_assert_eq(counts(&a).leaving, 0);
	}
}

Test(claims, what_a_killed_node_has_left_is_removed)
{
	memory_store_set(store, "at.a.session.demo", "held");
	memory_store_set(store, "id.session.demo", "a");
	memory_store_set(store, "at.a.session.half", "held");
	memory_store_set(store, "at.a.session.other", "held");
	memory_store_set(store, "id.session.other", "b");
	claims_check(a.claims);
	pass(LONG_MS);
	cr_assert_eq(memory_store_count(store), 1);
	cr_assert_str_eq(memory_store_value(store, "id.session.other"), "b");
}

Test(claims, a_left_over_of_this_node_does_not_refuse_its_claim)
{
	memory_store_set(store, "id.session.demo", "a");
	cr_assert_eq(claim(&a, &demo, true), 0);
	expect_keys("a");
}

Test(claims, adopted_objects_are_registered)
{
	claims_adopt(a.claims, &demo);
	a.bucket.link = LINK_AWAY;
	claims_check(a.claims);
	pass(LONG_MS);
	cr_assert(claims_have(a.claims, &demo));
	cr_assert_eq(memory_store_count(store), 0);
	a.bucket.link = LINK_GOOD;
	pass(LONG_MS);
	expect_keys("a");
	/* The store has lost everything. */
	memory_store_set(store, "id.session.demo", NULL);
	memory_store_set(store, "at.a.session.demo", NULL);
	claims_check(a.claims);
	pass(LONG_MS);
	expect_keys("a");
	cr_assert_eq(counts(&a).held, 1);
}

Test(claims, an_adopted_object_with_a_taken_id_is_a_conflict)
{
	cr_assert_eq(claim(&b, &demo, true), 0);
	claims_adopt(a.claims, &demo);
	claims_check(a.claims);
	pass(LONG_MS);
	cr_assert_eq(a.conflicts, 1);
	cr_assert_eq(counts(&a).conflicts, 1);
	cr_assert_str_eq(a.owner, "b");
	expect_keys("b");
}

Test(claims, a_forgotten_object_is_reported_until_it_is_ended)
{
	memory_store_set(store, "at.a.session.demo", INDEX_FORGOTTEN);
	a.keeps = true;
	claims_adopt(a.claims, &demo);
	claims_check(a.claims);
	pass(LONG_MS);
	cr_assert_eq(a.forgotten, 1);
	cr_assert_eq(memory_store_count(store), 1, "it is not registered again");
	cr_assert_str_eq(memory_store_value(store, "at.a.session.demo"), INDEX_FORGOTTEN);
	claims_end(a.claims, &demo);
	pass(LONG_MS);
	expect_keys(NULL);
}

Test(claims, many_claims_are_checked_in_portions)
{
	struct object_id o = {.kind = OBJECT_PROCESS};
	for (unsigned i = 0; i < 20 * CLAIMS_BUSY_MAX; i++) {
		snprintf(o.id, sizeof o.id, "p%u", i);
		claims_adopt(a.claims, &o);
	}
	claims_check(a.claims);
	pass(LONG_MS);
	cr_assert_eq(counts(&a).held, 20 * CLAIMS_BUSY_MAX);
	claims_check(a.claims);
	pass(LONG_MS);
	cr_assert_eq(counts(&a).held, 20 * CLAIMS_BUSY_MAX);
	cr_assert_eq(memory_store_count(store), 40 * CLAIMS_BUSY_MAX);
}

/* Random work of two nodes on a store that fails now and then: no id has two owners, and nothing is left at the end. */
Test(claims, random_failures_never_split_an_id)
{
	static const enum memory_link links[] = {
		LINK_GOOD, LINK_GOOD, LINK_GOOD, LINK_AWAY, LINK_LOSES_CALL, LINK_LOSES_REPLY};
	struct node *nodes[] = {&a, &b};
	bool has[2][3] = {0};
	uint64_t random = 88172645463325252u;
	struct object_id o = {.kind = OBJECT_SESSION};
	for (unsigned round = 0; round < 20000; round++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		unsigned side = random & 1, which = (unsigned)(random >> 1) % 3;
		struct node *n = nodes[side];
		n->bucket.link = links[(random >> 8) % (sizeof links / sizeof *links)];
		snprintf(o.id, sizeof o.id, "x%u", which);
		if ((random >> 16) % 8 == 0)
			claims_check(n->claims);
		if (has[side][which]) {
			claims_end(n->claims, &o);
			has[side][which] = false;
		} else {
			has[side][which] = claim(n, &o, true) == 0;
			cr_assert(!has[side][which] || !has[1 - side][which], "%s in round %u",
				o.id, round);
		}
		pass((unsigned)(random >> 24) % (2 * LATENCY_MS));
	}
	a.bucket.link = b.bucket.link = LINK_GOOD;
	for (unsigned which = 0; which < 3; which++) {
		snprintf(o.id, sizeof o.id, "x%u", which);
		claims_end(a.claims, &o);
		claims_end(b.claims, &o);
	}
	pass(LONG_MS);
	cr_assert_eq(memory_store_count(store), 0);
}

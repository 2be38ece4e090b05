#include "shell/cluster/nodes.h"
#include "tests/lib/memory_bucket.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LATENCY_MS 2u

/* A node of the fleet, and what it was told. */
struct member {
	struct memory_bucket registry, reports;
	struct nodes *nodes;
	int joined; /* 1: not yet */
	struct node_report report;
	int error; /* of the last list; 1: none yet */
	char list[512];
};

static struct memory_store *registry, *reports;
static struct member a, b;

static uint64_t now_ms(void *user)
{
	(void)user;
	return memory_store_now(registry);
}

static void on_joined(void *user, int error)
{
	struct member *m = user;
	cr_assert_eq(m->joined, 1, "called once");
	m->joined = error;
}

static void fill(void *user, struct node_report *report)
{
	const struct member *m = user;
	*report = m->report;
}

static void open_member(struct member *m, const char *name, const char *instance)
{
	*m = (struct member){.joined = 1, .report = {.max_sessions = 10}};
	memory_bucket_init(&m->registry, registry);
	memory_bucket_init(&m->reports, reports);
	m->nodes = nodes_open(&(struct nodes_options){.registry = &m->registry.head,
		.reports = &m->reports.head,
		.name = name,
		.url = "http://10.0.0.1:7070",
		.version = "1.0",
		.instance = instance,
		.fill = fill,
		.joined = on_joined,
		.now_ms = now_ms,
		.user = m});
}

static void setup(void)
{
	registry = memory_store_create(LATENCY_MS, 0);
	reports = memory_store_create(LATENCY_MS, NODES_LIFE_MS);
	open_member(&a, "a", "instance-a");
	open_member(&b, "b", "instance-b");
}

static void teardown(void)
{
	nodes_close(a.nodes);
	nodes_close(b.nodes);
	memory_store_destroy(registry);
	memory_store_destroy(reports);
}

/* Let time pass; `living` of the two do their work. */
static void pass(unsigned ms, bool a_lives, bool b_lives)
{
	uint64_t end = memory_store_now(registry) + ms;
	while (memory_store_now(registry) < end) {
		uint64_t next = memory_store_now(registry) + 1;
		if (a_lives)
			nodes_turn(a.nodes);
		if (b_lives)
			nodes_turn(b.nodes);
		memory_store_run(registry, next);
		memory_store_run(reports, next);
	}
}

static void on_list(void *user, int error, const struct node *nodes, size_t count)
{
	struct member *m = user;
	size_t used = 0;
	m->error = error;
	m->list[0] = '\0';
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(m->list + used, sizeof m->list - used, "%s%s%s:%u ",
			nodes[i].name, nodes[i].lives ? "+" : "-",
			nodes[i].report.draining ? "d" : "", nodes[i].report.sessions);
}

static const char *list(struct member *m)
{
	m->error = 1;
	nodes_list(m->nodes, on_list, m);
	pass(6 * LATENCY_MS, false, false);
	cr_assert_neq(m->error, 1);
	return m->list;
}

TestSuite(nodes, .init = setup, .fini = teardown, .timeout = 20);

Test(nodes, a_node_joins_and_reports)
{
	a.report.sessions = 3;
	pass(100, true, true);
	cr_assert_eq(a.joined, 0);
	cr_assert_eq(b.joined, 0);
	cr_assert_str_eq(list(&a), "a+:3 b+:0 ");
	cr_assert_str_eq(memory_store_value(registry, "node.a"), "instance-a");
}

Test(nodes, a_node_that_stops_reporting_does_not_live)
{
	pass(100, true, true);
	pass(NODES_LIFE_MS + NODES_REPORT_MS, true, false);
	cr_assert_str_eq(list(&a), "a+:0 b-:0 ");
	pass(NODES_REPORT_MS + 100, true, true);
	cr_assert_str_eq(list(&a), "a+:0 b+:0 ");
}

Test(nodes, a_change_is_reported_at_once)
{
	pass(100, true, true);
	b.report.draining = true;
	nodes_report(b.nodes);
	pass(10, true, false);
	cr_assert_str_eq(list(&a), "a+:0 b+d:0 ");
}

Test(nodes, a_node_that_leaves_does_not_live)
{
	pass(100, true, true);
	nodes_leave(b.nodes);
	pass(10, true, true);
	cr_assert_str_eq(list(&a), "a+:0 b-:0 ");
}

Test(nodes, lists_are_kept_for_a_moment)
{
	pass(100, true, true);
	list(&a);
	uint64_t calls = memory_store_counts(reports).calls;
	list(&a);
	cr_assert_eq(memory_store_counts(reports).calls, calls);
}

Test(nodes, requests_for_the_list_share_one_call)
{
	pass(100, true, true);
	uint64_t calls = memory_store_counts(registry).calls;
	nodes_list(a.nodes, on_list, &a);
	nodes_list(a.nodes, on_list, &b);
	pass(10, false, false);
	cr_assert_str_eq(a.list, "a+:0 b+:0 ");
	cr_assert_str_eq(b.list, a.list);
	cr_assert_eq(memory_store_counts(registry).calls, calls + 1);
}

Test(nodes, the_last_list_is_given_while_the_store_is_away)
{
	pass(100, true, true);
	list(&a);
	pass(NODES_FRESH_MS, true, true);
	a.registry.link = LINK_AWAY;
	cr_assert_str_eq(list(&a), "a+:0 b+:0 ");
	cr_assert_eq(a.error, -ENOTCONN);
	a.registry.link = LINK_GOOD;
	a.reports.link = LINK_LOSES_CALL;
	cr_assert_str_eq(list(&a), "a+:0 b+:0 ");
	cr_assert_eq(a.error, -ENOTCONN);
}

Test(nodes, a_node_joins_when_the_store_comes)
{
	a.registry.link = LINK_LOSES_REPLY;
	pass(5000, true, false);
	cr_assert_eq(a.joined, 1);
	a.registry.link = LINK_GOOD;
	pass(5000, true, false);
	cr_assert_eq(a.joined, 0);
}

Test(nodes, a_second_node_with_the_name_is_refused)
{
	struct member other;
	pass(100, true, true);
	open_member(&other, "a", "another-instance");
	for (unsigned i = 0; i < 20; i++) {
		nodes_turn(other.nodes);
		pass(5, true, true);
	}
	cr_assert_eq(other.joined, -EADDRINUSE);
	cr_assert_str_eq(memory_store_value(registry, "node.a"), "instance-a");
	nodes_close(other.nodes);
	/* When the first one does not live any more, its name is free. */
	pass(NODES_LIFE_MS + NODES_REPORT_MS, false, true);
	open_member(&other, "a", "another-instance");
	for (unsigned i = 0; i < 20; i++) {
		nodes_turn(other.nodes);
		pass(5, false, true);
	}
	cr_assert_eq(other.joined, 0);
	cr_assert_str_eq(memory_store_value(registry, "node.a"), "another-instance");
	nodes_close(other.nodes);
}

Test(nodes, invalid_reports_are_no_sign_of_life)
{
	static const char *const bad[] = {"", "x", "[]", "{}", "{\"url\":1}",
		"{\"url\":\"http://x\",\"version\":\"0123456789012345678901234567890123456789\"}"};
	pass(100, true, true);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		pass(NODES_FRESH_MS, true, false);
		memory_store_set(reports, "b", bad[i]);
		memory_store_set(reports, "not=a=name", "{}");
		cr_assert_str_eq(list(&a), "a+:0 b-:0 ", "%s", bad[i]);
	}
}

Test(nodes, choose_the_least_loaded)
{
	struct node all[] = {
		{.name = "dead", .report = {.max_sessions = 10}},
		{.name = "draining", .lives = true, .report = {.max_sessions = 10, .draining = true}},
		{.name = "full", .lives = true, .report = {.sessions = 5, .max_sessions = 5}},
		{.name = "busy", .lives = true, .report = {.max_sessions = 10, .load = 350}},
		{.name = "good", .lives = true, .report = {.sessions = 2, .max_sessions = 10}},
		{.name = "same", .lives = true, .report = {.sessions = 2, .max_sessions = 10}},
	};
	unsigned good = 0, same = 0;
	for (unsigned chance = 0; chance < 100; chance++) {
		const char *name = nodes_choose(all, sizeof all / sizeof *all, "", chance)->name;
		good += strcmp(name, "good") == 0;
		same += strcmp(name, "same") == 0;
	}
	cr_assert_eq(good + same, 100);
	cr_assert(good > 30 && same > 30);
	cr_assert_null(nodes_choose(all, 3, "", 0));
}

/* Waiting for a pane whose output the test writes. */
#include "shell/wait/internal.h"
#include "tests/lib/memory_pane.h"

#include <string.h>

struct waiting {
	struct memory_pane memory;
	struct blocks blocks;
	struct typing typing;
	struct executor executor; /* closed, as of a shell without integration */
	struct waits_all shared;
	struct waits *waits;
	struct wait_waiter waiter;
	struct wait_result result;
	unsigned done, gone, looks;
};

static void on_done(void *user, const struct wait_result *result)
{
	struct waiting *w = user;
	w->result = *result;
	w->done++;
}

static void on_gone(void *user)
{
	((struct waiting *)user)->gone++;
}

static void on_look_soon(void *user)
{
	((struct waiting *)user)->looks++;
}

static struct waiting w;

static void set_up(void)
{
	w = (struct waiting){.done = 0};
	memory_pane_make(&w.memory);
	w.shared.loop = &w.memory.loop;
	w.blocks.pane = &w.memory.pane;
	w.executor = (struct executor){
		.pane = &w.memory.pane, .blocks = &w.blocks, .typing = &w.typing};
	const struct waits_options o = {.pane = &w.memory.pane,
		.executor = &w.executor,
		.shared = &w.shared,
		.look_soon = on_look_soon,
		.user = &w};
	cr_assert_eq(waits_create(&o, &w.waits), 0);
	w.waiter = (struct wait_waiter){.done = on_done, .gone = on_gone, .user = &w};
}

static void tear_down(void)
{
	waits_close(w.waits);
	workers_close(w.memory.pane.screening.workers);
	memory_pane_finish(&w.memory);
	cr_assert_eq(w.shared.patterns, 0);
}

static void restart(void)
{
	tear_down();
	set_up();
}

TestSuite(wait, .init = set_up, .fini = tear_down, .timeout = 60);

static void open_worker(void)
{
	w.memory.pane.screening.workers = workers_open(&w.memory.loop, 1);
}

static int wait_for(struct wait_condition condition, uint64_t timeout_ms)
{
	const struct wait_options o = {
		.conditions = &condition, .count = 1, .timeout_ms = timeout_ms};
	return wait_start(w.waits, &o, &w.waiter);
}

/* As the session does after new output. */
static void check(void)
{
	uv_update_time(&w.memory.loop);
	w.memory.pane.output_ms = uv_now(&w.memory.loop);
	waits_check_all(w.waits);
}

static struct pattern *compile(const char *text, unsigned flags)
{
	struct pattern *pattern;
	const char *problem;
	cr_assert_eq(pattern_create(&pattern, text, strlen(text), flags, &problem), 0);
	return pattern;
}

static struct pattern *make_pattern(const char *text)
{
	return compile(text, 0);
}

Test(wait, for_text_in_the_output)
{
	memory_pane_say(&w.memory, "ready\r\n");
	const struct wait_condition c = {.type = WAIT_MATCH, .pattern = make_pattern("ready")};
	cr_assert_eq(wait_for(c, 10000), 0);
	cr_assert_eq(w.shared.patterns, 1);
	check();
	cr_assert_eq(w.done, 0, "earlier output does not count");
	memory_pane_say(&w.memory, "not yet re");
	check();
	cr_assert_eq(w.done, 0);
	memory_pane_say(&w.memory, "ady\r\n");
	check();
	cr_assert_eq(w.done, 1);
	cr_assert_eq(w.result.fired, 0);
	cr_assert_eq(w.result.offset, strlen("ready\r\nnot yet "));
	cr_assert_eq(w.shared.patterns, 0);
}

Test(wait, for_bytes_and_for_the_exit)
{
	cr_assert_eq(wait_for((struct wait_condition){.type = WAIT_BYTES, .count = 3}, 10000), 0);
	memory_pane_say(&w.memory, "ab");
	check();
	cr_assert_eq(w.done, 0);
	memory_pane_say(&w.memory, "c");
	check();
	cr_assert_eq(w.done, 1);
	cr_assert_eq(wait_for((struct wait_condition){.type = WAIT_EXIT}, 10000), 0);
	cr_assert_eq(w.done, 1);
	w.memory.pane.life = (struct pane_life){.exited = true};
	check();
	cr_assert_eq(w.done, 2);
	cr_assert_eq(w.result.type, WAIT_EXIT);
}

Test(wait, impossible_conditions_end_with_the_exit)
{
	const struct wait_condition c = {.type = WAIT_MATCH, .pattern = make_pattern("never")};
	cr_assert_eq(wait_for(c, 10000), 0);
	w.memory.pane.life = (struct pane_life){.exited = true};
	check();
	cr_assert_eq(w.done, 1);
	cr_assert_eq(w.result.fired, -1);
	cr_assert_not(w.result.timed_out);
}

Test(wait, timer_ends_the_wait)
{
	cr_assert_eq(wait_for((struct wait_condition){.type = WAIT_BYTES, .count = 1}, 20), 0);
	cr_assert(LOOP_UNTIL(&w.memory.loop, w.done > 0));
	cr_assert(w.result.timed_out);
	cr_assert_geq(w.result.elapsed_ms, 20);
}

/* After a pause of the process, timers run first. */
Test(wait, unread_output_comes_before_the_timeout)
{
	cr_assert_eq(wait_for((struct wait_condition){.type = WAIT_BYTES, .count = 1}, 20), 0);
	memory_ring_say(&w.memory.pane.held.link.ring, "x");
	cr_assert(LOOP_UNTIL(&w.memory.loop, w.looks > 0));
	cr_assert_eq(w.done, 0);
	history_consume(&w.memory.pane.history, SIZE_MAX, false);
	check();
	cr_assert_eq(w.done, 1);
	cr_assert_not(w.result.timed_out);
}

Test(wait, refused_options_and_the_end_of_the_session)
{
	struct wait_condition c = {.type = WAIT_EXEC};
	snprintf(c.exec, sizeof c.exec, "exec_1");
	cr_assert_eq(wait_for(c, 1000), -ENOENT);
	c = (struct wait_condition){.type = WAIT_BYTES, .count = 1};
	const struct wait_options late = {
		.conditions = &c, .count = 1, .timeout_ms = 1000, .has_from = true, .from = 1};
	cr_assert_eq(wait_start(w.waits, &late, &w.waiter), -ERANGE);
	cr_assert_eq(wait_for(c, 10000), 0);
	waits_close(w.waits);
	w.waits = NULL;
	cr_assert_eq(w.done, 0);
	cr_assert_eq(w.gone, 1);
	waits_check_all(NULL);
	waits_check_soon(NULL);
	waits_close(NULL);
}

/* More than is matched on the loop, for any pattern. */
static void print_much(void)
{
	for (unsigned printed = 0; printed < 1000; printed++)
		memory_pane_say(&w.memory, "%062u\r\n", printed);
}

/* Endless output, and a pattern that never matches. */
Test(wait, match_is_reported_while_another_search_runs)
{
	static struct waiting other;
	open_worker();
	other.waiter = (struct wait_waiter){.done = on_done, .gone = on_gone, .user = &other};
	const struct wait_condition c = {.type = WAIT_MATCH, .pattern = make_pattern("ready")},
				    never = {.type = WAIT_MATCH, .pattern = make_pattern("never")};
	const struct wait_options o = {.conditions = &never, .count = 1, .timeout_ms = 60000};
	cr_assert_eq(wait_start(w.waits, &o, &other.waiter), 0);
	cr_assert_eq(wait_for(c, 60000), 0);
	memory_pane_say(&w.memory, "ready\r\n");
	print_much();
	check();
	cr_expect(w.waits->lent);
	uint64_t before = w.waits->feed_to;
	print_much(); /* printed during the search, so more is left afterwards */
	cr_assert(LOOP_UNTIL(&w.memory.loop, w.waits->feed_to != before));
	cr_expect_eq(w.done, 1);
	cr_expect_eq(other.done, 0);
	wait_leave(&other.waiter);
}

/* The line is incomplete, and costs more to search than the loop may spend. */
Test(wait, end_of_an_expensive_line)
{
	open_worker();
	const struct wait_condition c = {.type = WAIT_MATCH,
		.pattern = compile("(a?b?){120}[?] $", PATTERN_REGEX),
		.needs_line_end = true};
	cr_assert_eq(wait_for(c, 60000), 0);
	for (unsigned i = 0; i < 1000; i++)
		memory_pane_say(&w.memory, "%c", 'c' + i % 20);
	memory_pane_say(&w.memory, "? ");
	check();
	cr_expect_eq(w.done, 0, "more output may follow");
	cr_assert(LOOP_UNTIL(&w.memory.loop, w.done > 0));
	cr_expect_eq(w.result.fired, 0);
	cr_expect_geq(w.result.elapsed_ms, WAIT_SETTLE_MS);
}

/* A wait with a claim, of a link or of an owner (""). */
struct claimed {
	struct claim claim;
	struct wait_waiter waiter;
	unsigned done;
	int fired;
};

static void on_claimed_done(void *user, const struct wait_result *result)
{
	((struct claimed *)user)->done++;
	((struct claimed *)user)->fired = result->fired;
}

static void on_claimed_gone(void *user)
{
	(void)user;
}

static void ignore_release(struct claim *claim)
{
	(void)claim;
}

static void start_claimed_with(struct claimed *a, const char *link, const struct wait_condition *c)
{
	*a = (struct claimed){.claim = {.key = link, .by = "", .released = ignore_release},
		.waiter = {.done = on_claimed_done, .gone = on_claimed_gone, .user = a}};
	const struct wait_options o = {
		.conditions = c, .count = 1, .timeout_ms = 60000, .claim = &a->claim};
	cr_assert_eq(wait_start(w.waits, &o, &a->waiter), 0);
}

static void start_claimed(struct claimed *a, const char *link)
{
	const struct wait_condition c = {.type = WAIT_MATCH, .pattern = make_pattern("never")};
	start_claimed_with(a, link, &c);
}

/* First letter of the link whose patterns a worker searches ("o": owners). More output waits when it is done. */
static char next_searched(void)
{
	char link = w.waits->work_item.patient ? w.waits->fed[0] : 'o';
	print_much();
	uint64_t before = w.waits->feed_to;
	cr_assert(LOOP_UNTIL(&w.memory.loop, w.waits->feed_to != before));
	return link;
}

Test(wait, owners_are_searched_every_other_time_and_links_in_turn)
{
	static struct claimed owner, a[3], b;
	char order[9] = "";
	open_worker();
	for (int i = 0; i < 3; i++)
		start_claimed(&a[i], "a");
	start_claimed(&b, "b");
	start_claimed(&owner, "");
	print_much();
	check();
	for (int i = 0; i < 8; i++)
		order[i] = next_searched();
	cr_expect_str_eq(order, "oaoboaob");
}

Test(wait, links_wait_until_screens_may_be_searched_again)
{
	static struct claimed claimed;
	struct wait_condition c = {
		.type = WAIT_MATCH, .on_screen = true, .pattern = make_pattern("ready")};
	start_claimed_with(&claimed, "a", &c);
	c.pattern = make_pattern("ready");
	cr_assert_eq(wait_for(c, 60000), 0);
	w.shared.rested_ns = uv_hrtime() + 200000000;
	memory_pane_say(&w.memory, "ready\r\n");
	live_screen(&w.memory.pane.live);
	check();
	cr_expect_eq(w.done, 1, "owners do not wait");
	w.memory.pane.life = (struct pane_life){.exited = true};
	check();
	cr_expect_eq(claimed.done, 0, "it waits for its turn");
	cr_assert(LOOP_UNTIL(&w.memory.loop, claimed.done > 0));
	cr_expect_eq(claimed.fired, 0);
	cr_expect_null(w.shared.searches);
}

/* Old output is matched at once, and so is the last output after the exit. */
Test(wait, end_of_a_line_after_a_pause_or_the_exit)
{
	const struct wait_condition end = {.type = WAIT_MATCH, .needs_line_end = true};
	for (int exited = 0; exited < 2; exited++) {
		struct wait_condition c = end;
		const struct wait_options o = {
			.conditions = &c, .count = 1, .timeout_ms = 0, .has_from = true};
		restart();
		open_worker();
		memory_pane_say(&w.memory, "sure? ");
		if (exited)
			w.memory.pane.life = (struct pane_life){.exited = true};
		else
			w.memory.pane.output_ms = uv_now(&w.memory.loop) - 2 * WAIT_SETTLE_MS;
		c.pattern = compile("[?] $", PATTERN_REGEX);
		cr_assert_eq(wait_start(w.waits, &o, &w.waiter), 0);
		cr_expect_eq(w.done, 1);
		cr_expect_eq(w.result.fired, 0);
	}
}

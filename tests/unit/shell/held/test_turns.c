/* Turns: order, rounds, resting and removal. */
#include "shell/held/turns.h"

#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>

#define ONES 3u

struct one {
	struct turn turn;
	char name;
	unsigned left; /* turns until the work is done */
	enum turn_next then;
	struct one *removes; /* is removed in the turn */
	uint64_t works_ns;
};

static struct {
	uv_loop_t loop;
	uv_timer_t alive;
	struct turns turns;
	struct one ones[ONES];
	char order[64];
} t;

static struct one *one_of(struct turn *turn)
{
	return (struct one *)(void *)((char *)turn - offsetof(struct one, turn));
}

static enum turn_next take_turn(struct turn *turn)
{
	struct one *one = one_of(turn);
	size_t length = strlen(t.order);
	cr_assert_lt(length, sizeof t.order - 1, "turns never end: %s", t.order);
	t.order[length] = one->name;
	for (uint64_t until = uv_hrtime() + one->works_ns; uv_hrtime() < until;)
		;
	if (one->removes)
		turn_remove(&t.turns, &one->removes->turn);
	return --one->left > 0 ? TURN_MORE : one->then;
}

static void set_up(void)
{
	memset(&t, 0, sizeof t);
	until_open_loop(&t.loop, &t.alive, 1u << 30);
	turns_open(&t.turns, &t.loop, take_turn);
	for (unsigned i = 0; i < ONES; i++)
		t.ones[i] = (struct one){.name = (char)('a' + i), .left = 1, .then = TURN_SLEEP};
}

static void tear_down(void)
{
	for (unsigned i = 0; i < ONES; i++)
		turn_remove(&t.turns, &t.ones[i].turn);
	turns_close(&t.turns);
	until_close_loop(&t.loop, &t.alive);
}

static void make_busy(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		turn_schedule(&t.turns, &t.ones[i].turn);
}

static bool all_sleep(void)
{
	return !t.turns.scheduled && !t.turns.resting;
}

TestSuite(turns, .init = set_up, .fini = tear_down, .timeout = 30);

Test(turns, those_with_more_work_alternate)
{
	t.ones[0].left = 3;
	t.ones[1].left = 2;
	make_busy(3);
	cr_assert(LOOP_UNTIL(&t.loop, all_sleep()));
	cr_expect_str_eq(t.order, "abcaba");
}

Test(turns, the_loop_polls_after_each_round)
{
	t.ones[0].left = t.ones[1].left = 2;
	make_busy(2);
	uv_run(&t.loop, UV_RUN_NOWAIT);
	cr_expect_str_eq(t.order, "ab");
	uv_run(&t.loop, UV_RUN_ONCE); /* would block if busy ones did not keep the loop awake */
	cr_expect_str_eq(t.order, "abab");
}

Test(turns, long_work_delays_the_others_to_the_next_round)
{
	t.ones[0].works_ns = 20000000;
	make_busy(2);
	uv_run(&t.loop, UV_RUN_NOWAIT);
	cr_expect_str_eq(t.order, "a");
	uv_run(&t.loop, UV_RUN_NOWAIT);
	cr_expect_str_eq(t.order, "ab");
}

Test(turns, busy_twice_is_one_turn)
{
	make_busy(1);
	make_busy(1);
	cr_assert(LOOP_UNTIL(&t.loop, all_sleep()));
	cr_expect_str_eq(t.order, "a");
}

Test(turns, turn_can_remove_the_next_one)
{
	t.ones[0].removes = &t.ones[1];
	make_busy(3);
	cr_assert(LOOP_UNTIL(&t.loop, all_sleep()));
	cr_expect_str_eq(t.order, "ac");
}

Test(turns, turn_can_remove_itself)
{
	t.ones[0].removes = &t.ones[0];
	make_busy(2);
	cr_assert(LOOP_UNTIL(&t.loop, all_sleep()));
	cr_expect_str_eq(t.order, "ab");
}

Test(turns, resting_one_has_a_turn_a_moment_later)
{
	t.ones[0].then = TURN_REST;
	make_busy(1);
	uv_run(&t.loop, UV_RUN_NOWAIT);
	cr_expect_eq(t.ones[0].turn.state, TURN_RESTING);
	t.ones[0].left = 1;
	t.ones[0].then = TURN_SLEEP;
	cr_assert(LOOP_UNTIL(&t.loop, all_sleep()));
	cr_expect_str_eq(t.order, "aa");
}

Test(turns, resting_one_made_busy_has_one_turn)
{
	t.ones[0].then = TURN_REST;
	t.ones[1].then = TURN_REST;
	make_busy(2);
	uv_run(&t.loop, UV_RUN_NOWAIT);
	for (unsigned i = 0; i < 2; i++) {
		t.ones[i].left = 1;
		t.ones[i].then = TURN_SLEEP;
	}
	make_busy(1);
	cr_expect_eq(t.ones[0].turn.state, TURN_SCHEDULED);
	cr_assert(LOOP_UNTIL(&t.loop, all_sleep()));
	cr_expect_str_eq(t.order, "abab");
}

Test(turns, resting_one_can_be_removed)
{
	t.ones[0].then = TURN_REST;
	make_busy(1);
	uv_run(&t.loop, UV_RUN_NOWAIT);
	turn_remove(&t.turns, &t.ones[0].turn);
	cr_assert(LOOP_UNTIL(&t.loop, !uv_is_active((const uv_handle_t *)&t.turns.rest)));
	uv_run(&t.loop, UV_RUN_NOWAIT);
	cr_expect_str_eq(t.order, "a");
}

Test(turns, suspended_turns_wait)
{
	turns_suspend(&t.turns, true);
	make_busy(2);
	uv_run(&t.loop, UV_RUN_NOWAIT);
	cr_expect_str_eq(t.order, "");
	turns_suspend(&t.turns, false);
	cr_assert(LOOP_UNTIL(&t.loop, all_sleep()));
	cr_expect_str_eq(t.order, "ab");
}

Test(turns, running_it_at_once_uses_up_the_turn)
{
	t.ones[0].left = 2;
	make_busy(1);
	turn_run(&t.turns, &t.ones[0].turn);
	cr_expect_str_eq(t.order, "a");
	cr_expect_eq(t.ones[0].turn.state, TURN_SCHEDULED);
	cr_assert(LOOP_UNTIL(&t.loop, all_sleep()));
	cr_expect_str_eq(t.order, "aa");
}

/* No second turn comes before the loop has polled. */
Test(turns, slow_turn_is_the_last_before_the_loop_polls)
{
	for (unsigned i = 0; i < ONES; i++)
		t.ones[i] = (struct one){.name = (char)('a' + i), .left = 2, .works_ns = 2000000};
	make_busy(3);
	for (unsigned turns = 1; turns <= 6; turns++) {
		uv_run(&t.loop, UV_RUN_NOWAIT);
		cr_expect_eq(strlen(t.order), turns);
	}
	cr_expect_str_eq(t.order, "abcabc");
}

Test(turns, woken_one_has_its_turn_at_once)
{
	turn_wake(&t.turns, &t.ones[0].turn);
	cr_expect_str_eq(t.order, "a");
	cr_assert(all_sleep());
}

Test(turns, woken_one_with_much_work_waits_for_its_turn)
{
	t.ones[0].works_ns = 200000;
	t.ones[0].then = TURN_REST;
	turn_run(&t.turns, &t.ones[0].turn);
	t.ones[0] = (struct one){.turn = t.ones[0].turn, .name = 'a', .left = 1, .then = TURN_SLEEP};
	turn_wake(&t.turns, &t.ones[0].turn);
	turn_wake(&t.turns, &t.ones[1].turn);
	cr_expect_str_eq(t.order, "ab", "the short turn comes first");
	cr_assert(LOOP_UNTIL(&t.loop, all_sleep()));
	cr_expect_str_eq(t.order, "aba");
	t.ones[0].left = 1;
	turn_wake(&t.turns, &t.ones[0].turn);
	cr_expect_str_eq(t.order, "abaa", "its last turn was short");
}

/* The memory budget of all screens. */
#include "shell/held/table.h"
#include "tests/lib/memory_pane.h"

#include <criterion/criterion.h>

#define PANES 3u
#define MIB ((size_t)1 << 20)

static struct memory_pane m[PANES];
static struct held_table table;
static struct budget budget;
static unsigned turns;
static uv_timer_t alive;

static enum turn_next take_turn(struct turn *turn)
{
	turns++;
	for (unsigned i = 0; i < PANES; i++)
		if (turn == &m[i].pane.held.turn)
			return pane_follow(&m[i].pane, false, false) ? TURN_MORE : TURN_SLEEP;
	return TURN_SLEEP;
}

/* All panes use the loop of the first. */
static void set_up(void)
{
	budget = (struct budget){0};
	for (unsigned i = 0; i < PANES; i++) {
		memory_pane_make(&m[i]);
		live_finish(&m[i].pane.live);
		cr_assert_eq(live_init(&m[i].pane.live, &m[i].pane.history,
				     &(struct live_options){.scrollback = 10000}),
			0);
		m[i].pane.held.table = &table;
		m[i].pane.rows = 24;
		m[i].pane.cols = 80;
		m[i].pane.activity_ms = 1000 + i;
		budget_join(&budget, &m[i].pane);
	}
	turns_open(&table.turns, &m[0].loop, take_turn);
	until_keep_running(&m[0].loop, &alive, 1);
}

static void tear_down(void)
{
	struct workers *workers = m[0].pane.screening.workers;
	for (unsigned i = 0; i < PANES; i++) {
		pane_close_screen(&m[i].pane);
		turn_remove(&table.turns, &m[i].pane.held.turn);
	}
	cr_assert_eq(budget.used, 0);
	cr_assert_eq(budget.committed, 0);
	cr_assert_eq(budget.asked, 0);
	cr_assert_null(budget.first);
	workers_close(workers);
	turns_close(&table.turns);
	uv_close((uv_handle_t *)&alive, NULL);
	for (unsigned i = PANES; i-- > 0;)
		memory_pane_finish(&m[i]);
}

TestSuite(budget, .init = set_up, .fini = tear_down);

/* Print lines with a style each. */
static void print_lines(unsigned pane, unsigned lines, bool watched)
{
	for (unsigned i = 0; i < lines; i++) {
		memory_pane_say(
			&m[pane], "\033[38;2;%u;%u;%um%070u\r\n", i >> 8 & 255, i & 255, pane, i);
		if (i % 64 == 0)
			while (pane_follow(&m[pane].pane, false, watched))
				;
	}
	while (pane_follow(&m[pane].pane, false, watched))
		;
}

static const struct screen *screen(unsigned pane)
{
	return pane_unlent_screen(&m[pane].pane);
}

static bool all_are_trimmed(void)
{
	return budget.asked == 0;
}

Test(budget, used_is_the_sum_of_all_screens)
{
	print_lines(0, 500, false);
	print_lines(1, 50, false);
	cr_assert_eq(budget.used, screen_memory(screen(0)) + screen_memory(screen(1)));
	size_t rest = screen_memory(screen(0)) - screen_measure(screen(0)).lines;
	cr_assert_geq(budget.committed, rest + 2 * screen_size_bytes(24, 80));
	cr_assert_eq(budget.trims, 0);
}

Test(budget, quietest_screen_is_trimmed_first_and_alone)
{
	print_lines(0, 2000, false);
	print_lines(1, 2000, false);
	budget.limit = budget.used + 1000;
	print_lines(2, 100, false);
	cr_assert(LOOP_UNTIL(&m[0].loop, all_are_trimmed()));
	cr_assert_leq(budget.used, budget.limit);
	cr_assert_gt(screen_dropped(screen(0)), 0);
	cr_assert_gt(screen_scrollback(screen(0)), 0, "no more than needed");
	cr_assert_eq(budget.lines, screen_dropped(screen(0)), "the trimmed lines are counted");
	cr_assert_eq(screen_dropped(screen(1)), 0);
	cr_assert_eq(screen_dropped(screen(2)), 0);
	cr_assert_eq(budget.used,
		screen_memory(screen(0)) + screen_memory(screen(1)) + screen_memory(screen(2)));
}

Test(budget, watched_screen_is_trimmed_last)
{
	print_lines(0, 2000, true);
	print_lines(1, 2000, false);
	budget.limit = budget.used + 1000;
	print_lines(2, 100, true);
	cr_assert(LOOP_UNTIL(&m[0].loop, all_are_trimmed()));
	cr_assert_eq(screen_dropped(screen(0)), 0);
	cr_assert_gt(screen_dropped(screen(1)), 0);
}

Test(budget, single_large_screen_is_trimmed_down_to_its_visible_rows)
{
	budget.limit = MIB / 2;
	print_lines(0, 9000, true);
	cr_assert(LOOP_UNTIL(&m[0].loop, all_are_trimmed()));
	cr_assert_leq(budget.used, budget.limit);
	cr_assert_eq(screen_dropped(screen(0)) + screen_scrollback(screen(0)), 9000 - 23);
	unsigned row, col;
	screen_cursor(screen(0), &row, &col);
	cr_assert_eq(row, 23);
	cr_assert_geq(budget.lines, 1);
}

Test(budget, lines_are_trimmed_on_a_worker)
{
	print_lines(0, 2000, false);
	m[0].pane.screening.workers = m[1].pane.screening.workers = workers_open(&m[0].loop, 1);
	cr_assert_not_null(m[0].pane.screening.workers);
	budget.limit = budget.used - 1000;
	memory_pane_say(&m[1], "x");
	pane_follow(&m[1].pane, false, false);
	cr_assert_gt(budget.asked, 0);
	pane_follow(&m[0].pane, false, false);
	cr_assert(m[0].pane.live.lent);
	cr_assert(LOOP_UNTIL(&m[0].loop, all_are_trimmed() && !m[0].pane.live.lent));
	cr_assert_gt(screen_dropped(screen(0)), 0);
	cr_assert_leq(budget.used, budget.limit);
}

Test(budget, large_sizes_are_refused_without_memory_small_ones_never)
{
	budget.limit = 3 * screen_size_bytes(24, 80) + screen_size_bytes(1000, 1000);
	cr_assert(budget_allows(&budget, &m[0].pane, 1000, 1000));
	m[0].pane.rows = m[0].pane.cols = 1000;
	budget_resized(&m[0].pane);
	cr_assert_not(budget_allows(&budget, &m[1].pane, 1000, 1000));
	cr_assert_not(budget_allows(&budget, NULL, 500, 500), "nor a new screen");
	cr_assert_eq(budget.sizes_refused, 2);
	cr_assert(budget_allows(&budget, &m[1].pane, 100, 200));
	cr_assert(budget_allows(&budget, &m[0].pane, 999, 1000), "a smaller size is always allowed");
	m[0].pane.rows = 24;
	budget_resized(&m[0].pane);
	cr_assert(budget_allows(&budget, &m[1].pane, 900, 1000), "memory is available again");
}

Test(budget, without_a_limit_nothing_is_refused_or_trimmed)
{
	print_lines(0, 2000, false);
	cr_assert(budget_allows(&budget, &m[0].pane, 1000, 1000));
	cr_assert_eq(budget.trims, 0);
}

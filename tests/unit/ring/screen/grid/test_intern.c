#include "ring/screen/grid/intern.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define MANY ((size_t)1 << 24) /* bytes: more than the tests need */

static struct intern t;

static void set_up(void)
{
	intern_init(&t, 100, MANY);
}

static void tear_down(void)
{
	intern_finish(&t);
}

static void restart(uint32_t max, size_t max_bytes)
{
	tear_down();
	intern_init(&t, max, max_bytes);
}

#define SUITE .init = set_up, .fini = tear_down
TestSuite(intern_put, SUITE);
TestSuite(intern_oldest, SUITE);
TestSuite(intern_sweep, SUITE);
TestSuite(intern_use_like, SUITE);
TestSuite(intern_set_cells, SUITE);
TestSuite(intern_get, SUITE);
TestSuite(intern_mark, SUITE);
TestSuite(intern_needs_sweep, SUITE);

static uint32_t put(struct intern *to, const char *text)
{
	return intern_put(to, text, strlen(text));
}

/* Put count different strings, starting with number first. Returns the last one's id. */
static uint32_t put_many(unsigned first, unsigned count)
{
	uint32_t number = 0;
	char text[16];
	for (unsigned i = first; i < first + count; i++) {
		snprintf(text, sizeof text, "%u", i);
		number = put(&t, text);
	}
	return number;
}

Test(intern_put, ids_start_at_one)
{
	cr_expect_eq(put(&t, "a"), 1);
	cr_expect_eq(put(&t, "b"), 2);
}

Test(intern_put, same_bytes_get_the_same_id)
{
	uint32_t number = put(&t, "abc");
	put(&t, "ab");
	cr_expect_eq(put(&t, "abc"), number);
	cr_expect_eq(t.count, 2);
}

Test(intern_put, length_and_nul_count)
{
	uint32_t number = intern_put(&t, "a\0b", 3);
	cr_expect_neq(intern_put(&t, "a\0c", 3), number);
	cr_expect_neq(intern_put(&t, "a", 1), number);
	cr_expect_eq(intern_put(&t, "a\0b", 3), number);
}

Test(intern_put, count_is_limited)
{
	restart(20, MANY);
	cr_expect_neq(put_many(0, 20), 0);
	cr_expect_eq(put(&t, "one more"), 0);
	cr_expect_neq(put(&t, "7"), 0, "existing strings are found");
	cr_expect_eq(t.count, 20);
}

Test(intern_put, bytes_are_limited)
{
	static char text[1000];
	unsigned stored = 0;
	restart(100000, 10000);
	for (unsigned i = 0; i < 50; i++) {
		snprintf(text, sizeof text, "%0900u", i);
		stored += put(&t, text) != 0;
	}
	cr_expect_geq(stored, 8);
	cr_expect_leq(t.bytes, 10000);
	cr_expect_lt(intern_memory(&t), 12000);
	intern_sweep(&t, 0);
	cr_expect_eq(t.bytes, 0);
	cr_expect_neq(put(&t, text), 0);
}

/* One string each for lines 100 to 1099. */
static void put_lines(uint32_t max)
{
	restart(max, MANY);
	for (unsigned i = 0; i < 1000; i++)
		intern_use(&t, put_many(i, 1), 100 + i);
}

Test(intern_oldest, oldest_line_keeps_its_strings_while_there_is_space)
{
	put_lines(2000);
	cr_expect_eq(intern_oldest(&t, 100, 1100), 100);
	put_lines(1000);
	/* Strings of lines that have left the scrollback do not count. */
	cr_expect_eq(intern_oldest(&t, 300, 1100), 300);
}

Test(intern_oldest, newest_half_keeps_its_strings_when_full)
{
	put_lines(1000);
	uint64_t oldest = intern_oldest(&t, 100, 1100);
	cr_expect_geq(oldest, 600);
	cr_expect_lt(oldest, 640);
	intern_sweep(&t, oldest);
	cr_expect_eq(t.count, 1100 - oldest);
}

Test(intern_oldest, bytes_count_too)
{
	put_lines(10000);
	t.max_bytes = t.bytes;
	uint64_t oldest = intern_oldest(&t, 100, 1100);
	cr_expect(oldest >= 600 && oldest < 640);
}

Test(intern_oldest, no_line_keeps_its_strings_if_marked_ones_fill_the_table)
{
	put_lines(1000);
	for (uint32_t i = 1; i <= 950; i++)
		intern_mark(&t, i);
	cr_expect_eq(intern_oldest(&t, 100, 1100), 1100);
}

Test(intern_sweep, strings_stay_as_long_as_their_lines)
{
	uint32_t a = put(&t, "a"), b = put(&t, "b"), c = put(&t, "c");
	intern_use(&t, a, 5);
	intern_use(&t, b, 5);
	intern_use(&t, b, 6);
	intern_mark(&t, c);
	intern_sweep(&t, 6);
	cr_expect_null(intern_get(&t, a, NULL));
	cr_expect_not_null(intern_get(&t, b, NULL));
	cr_expect_not_null(intern_get(&t, c, NULL));
	intern_sweep(&t, 7);
	cr_expect_eq(t.count, 0);
}

Test(intern_use_like, string_stays_as_long_as_the_other)
{
	struct intern of;
	intern_init(&of, 100, MANY);
	uint32_t link = put(&t, "link"), old = put(&of, "old"), new = put(&of, "new");
	intern_use(&of, old, 5);
	intern_use(&of, new, 9);
	intern_use_like(&t, link, &of, new);
	intern_use_like(&t, link, &of, old);
	intern_sweep(&t, 9);
	cr_expect_eq(t.count, 1);
	intern_mark(&of, old);
	intern_use_like(&t, link, &of, old);
	intern_sweep(&t, 1000);
	cr_expect_eq(t.count, 1);
	intern_sweep(&t, 1000);
	cr_expect_eq(t.count, 0);
	intern_finish(&of);
}

Test(intern_set_cells, large_screens_are_swept_rarely)
{
	restart(100000, MANY);
	intern_set_cells(&t, 160000);
	put_many(0, 9999);
	cr_expect_not(intern_needs_sweep(&t));
	put_many(9999, 1);
	cr_expect(intern_needs_sweep(&t));
}

Test(intern_get, returns_the_same_bytes)
{
	size_t length;
	restart(100000, MANY);
	uint32_t number = put(&t, "hello");
	put_many(0, 5000);
	const char *text = intern_get(&t, number, &length);
	cr_assert_eq(length, 5);
	cr_expect_eq(memcmp(text, "hello", 5), 0);
}

Test(intern_get, unknown_ids_give_null)
{
	cr_expect_null(intern_get(&t, 1, NULL), "the table is empty");
	put(&t, "a");
	cr_expect_null(intern_get(&t, 0, NULL));
	cr_expect_null(intern_get(&t, 2, NULL));
	cr_expect_null(intern_get(&t, UINT32_MAX, NULL));
}

Test(intern_sweep, drops_unmarked_strings)
{
	uint32_t a = put(&t, "a"), b = put(&t, "b");
	intern_mark(&t, b);
	intern_sweep(&t, 0);
	cr_expect_null(intern_get(&t, a, NULL));
	cr_expect_not_null(intern_get(&t, b, NULL));
	cr_expect_eq(t.count, 1);
}

Test(intern_sweep, marks_last_for_one_sweep)
{
	uint32_t a = put(&t, "a");
	intern_mark(&t, a);
	intern_sweep(&t, 0);
	intern_sweep(&t, 0);
	cr_expect_eq(t.count, 0);
}

Test(intern_sweep, free_ids_are_used_again)
{
	restart(1000, MANY);
	put_many(0, 10);
	intern_mark(&t, 3);
	intern_sweep(&t, 0);
	put_many(100, 9);
	cr_expect_eq(put(&t, "next"), 11);
	size_t length;
	cr_expect_eq(memcmp(intern_get(&t, 3, &length), "2", 1), 0);
}

Test(intern_mark, invalid_ids_are_ignored)
{
	intern_mark(&t, 0);
	intern_mark(&t, 7);
	intern_mark(&t, UINT32_MAX);
	intern_sweep(&t, 0);
	cr_expect_eq(t.count, 0);
}

Test(intern_needs_sweep, few_strings_need_no_sweep)
{
	restart(100000, MANY);
	put_many(0, 100);
	cr_expect_not(intern_needs_sweep(&t));
	put_many(100, 10000);
	cr_expect(intern_needs_sweep(&t));
}

/* Otherwise a program could make each of its sequences cost as much as the whole screen. */
Test(intern_needs_sweep, useless_sweep_is_not_repeated_soon)
{
	restart(100000, MANY);
	put_many(0, 10000);
	for (uint32_t i = 0; i < t.capacity; i++)
		intern_mark(&t, i);
	intern_sweep(&t, 0);
	cr_expect_not(intern_needs_sweep(&t));
	put_many(20000, 5000);
	cr_expect_not(intern_needs_sweep(&t));
}

Test(intern_needs_sweep, sweeps_are_rare_when_full)
{
	unsigned sweeps = 0;
	restart(4000, MANY);
	put_many(0, 4000);
	for (unsigned n = 0; n < 10000; n++) {
		if (intern_needs_sweep(&t)) {
			for (uint32_t i = 0; i < t.capacity; i++)
				intern_mark(&t, i);
			intern_sweep(&t, 0);
			sweeps++;
		}
		put_many(10000 + n, 1);
	}
	cr_expect_lt(sweeps, 100);
}

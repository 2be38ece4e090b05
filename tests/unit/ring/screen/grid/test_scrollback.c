#include "ring/screen/grid/scrollback.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of text in one style, as wide as the text. */
static struct line *make(const char *text, uint32_t style)
{
	unsigned length = (unsigned)strlen(text);
	struct line *line = line_create(length);
	for (unsigned i = 0; i < length; i++)
		line_put(line, i, cell_make((uint8_t)text[i], 1, style));
	return line;
}

static struct scrollback b;

static void set_up(void)
{
	scrollback_init(&b, 10);
}

static void tear_down(void)
{
	scrollback_finish(&b);
}

static void restart(unsigned lines)
{
	tear_down();
	scrollback_init(&b, lines);
}

#define SUITE .init = set_up, .fini = tear_down
TestSuite(scrollback_push, SUITE);
TestSuite(scrollback_drop, SUITE);
TestSuite(scrollback_put, SUITE);
TestSuite(scrollback_push_many, SUITE);
TestSuite(scrollback_unwrap, SUITE);
TestSuite(scrollback_unpack, SUITE);

static void push(const char *text)
{
	struct line *line = make(text, 0);
	scrollback_push(&b, line);
	free(line);
}

static void expect(size_t i, const char *want)
{
	const struct packed *p = scrollback_get(&b, i);
	cr_assert_eq(p->bytes, strlen(want));
	cr_expect_eq(memcmp(packed_text(p), want, p->bytes), 0, "line %zu", i);
}

/* The line is unchanged after packing and unpacking. */
static void expect_same(const struct line *line)
{
	scrollback_push(&b, line);
	const struct packed *p = scrollback_get(&b, b.count - 1);
	cr_expect_eq(p->extent, line_extent(line));
	cr_expect_eq(p->trimmed, line_trimmed(line));
	struct line *again = packed_unpack(p, line->length);
	cr_assert_not_null(again);
	cr_expect_eq(again->length, line->length);
	cr_expect_eq(again->wrapped, line->wrapped);
	cr_expect_eq(again->offset, line->offset);
	cr_expect_eq(memcmp(again->cells, line->cells, line->length * sizeof *line->cells), 0);
	for (unsigned i = again->used; i < again->length; i++)
		cr_expect(cell_is_untouched(again->cells[i]));
	free(again);
}

Test(scrollback_push, oldest_first)
{
	push("one");
	push("two");
	cr_assert_eq(b.count, 2);
	expect(0, "one");
	expect(1, "two");
}

Test(scrollback_push, oldest_line_is_dropped)
{
	restart(3);
	for (char c = 'a'; c <= 'g'; c++)
		push((char[]){c, '\0'});
	cr_assert_eq(b.count, 3);
	cr_expect_eq(b.dropped, 4);
	expect(0, "e");
	expect(2, "g");
}

Test(scrollback_push, capacity_zero_keeps_nothing)
{
	restart(0);
	push("one");
	cr_expect_eq(b.count, 0);
	cr_expect_eq(b.dropped, 1);
	cr_expect_null(b.entries);
}

Test(scrollback_push, bytes_are_bounded)
{
	struct random r = {1};
	restart(100);
	/* A style for each cell, and the characters that need most bytes. */
	struct line *line = line_create(1000);
	for (unsigned i = 0; i < 1000; i++)
		line_put(line, i, cell_make(CELL_CLUSTER | (i + 1), 1, (uint32_t)random_next(&r)));
	for (unsigned i = 0; i < 200; i++) {
		scrollback_push(&b, line);
		cr_assert_leq(b.bytes, 100 * SCROLLBACK_LINE_BYTES);
	}
	free(line);
}

Test(scrollback_push, blank_lines_take_few_bytes)
{
	struct line *line = line_create(1000);
	restart(1000);
	for (unsigned i = 0; i < 1000; i++)
		scrollback_push(&b, line);
	cr_expect_leq(b.bytes, 1000 * sizeof(struct packed));
	free(line);
}

Test(scrollback_push, bytes_are_the_sum_of_the_lines)
{
	restart(5);
	for (unsigned i = 0; i < 100; i++)
		push("some text");
	scrollback_drop(&b, 3);
	cr_expect_eq(b.bytes, 2 * (sizeof(struct packed) + 9));
	scrollback_drop(&b, 100);
	cr_expect_eq(b.bytes, 0);
}

Test(scrollback_drop, counts_dropped_lines)
{
	push("one");
	push("two");
	scrollback_drop(&b, 1);
	expect(0, "two");
	scrollback_drop(&b, 5);
	cr_expect_eq(b.count, 0);
	cr_expect_eq(b.dropped, 2);
}

Test(scrollback_put, works_when_the_ring_of_lines_wraps)
{
	char text[16];
	restart(100);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(text, sizeof text, "%u", i);
		push(text);
		if (i % 7 == 0)
			scrollback_drop(&b, 3);
	}
	expect(b.count - 1, "999");
	expect(b.count - 2, "998");
}

/* Lines "one", `same` times "same", "last"; then the oldest `drop` lines are dropped. */
static void push_runs(unsigned same, unsigned drop)
{
	struct line *line = line_create(4);
	for (unsigned i = 0; i < 4; i++)
		line_put(line, i, cell_make((uint8_t) "same"[i], 1, 0));
	line->wrapped = true;
	restart(1000);
	push("one");
	cr_assert(scrollback_push_many(&b, line, same));
	push("last");
	scrollback_drop(&b, drop);
	free(line);
}

Test(scrollback_push_many, run_takes_the_memory_of_one_line)
{
	push_runs(900, 0);
	cr_expect_eq(b.count, 902);
	cr_expect_eq(b.used, 3);
	expect(0, "one");
	for (unsigned i = 1; i <= 900; i++)
		expect(i, "same");
	expect(901, "last");
}

Test(scrollback_push_many, lines_of_a_run_are_dropped_one_by_one)
{
	push_runs(10, 4);
	cr_expect_eq(b.count, 8);
	cr_expect_eq(b.dropped, 4);
	expect(0, "same");
	expect(6, "same");
	expect(7, "last");
	scrollback_drop(&b, 7);
	expect(0, "last");
	cr_expect_eq(b.used, 1);
}

Test(scrollback_push_many, run_longer_than_the_capacity)
{
	push_runs(5000, 0);
	cr_expect_eq(b.count, 1000);
	cr_expect_eq(b.dropped, 4002);
	expect(998, "same");
	expect(999, "last");
}

/* All lines of a run stay wrapped except those that were unwrapped, in any order. */
Test(scrollback_unwrap, lines_of_a_run)
{
	static const size_t orders[][4] = {{1, 2, 3, 4}, {10, 9, 8, 7}, {5, 1, 10, 6}, {3, 8, 2, 9},
		{4, 4, 4, 4}, {1, 3, 2, 9}, {10, 8, 9, 1}};
	for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
		bool want[12] = {0};
		push_runs(10, 0);
		for (size_t i = 1; i <= 10; i++)
			want[i] = true;
		for (size_t n = 0; n < 4; n++) {
			scrollback_unwrap(&b, orders[k][n]);
			want[orders[k][n]] = false;
			for (size_t i = 0; i < 12; i++)
				cr_expect_eq(
					scrollback_get(&b, i)->wrapped, want[i], "%zu, %zu", k, i);
		}
		expect(5, "same");
		expect(11, "last");
		push("more");
		expect(12, "more");
		scrollback_drop(&b, 13);
		cr_expect_eq(b.bytes, 0);
		push("again");
		expect(0, "again");
	}
}

Test(scrollback_unpack, plain_text)
{
	struct line *line = make("hello, world", 0);
	line->wrapped = true;
	line->offset = UINT64_C(1) << 40;
	expect_same(line);
	free(line);
}

Test(scrollback_unpack, styles)
{
	struct line *line = make("hello, world", 0);
	line->cells[0].style = line->cells[3].style = line->cells[4].style = 5;
	line->cells[11].style = UINT32_C(1) << 17;
	expect_same(line);
	cr_expect_eq(scrollback_get(&b, 0)->runs, 5);
	free(line);
}

Test(scrollback_unpack, cells_without_text)
{
	static const struct cell odd[] = {
		{0},                                     /* untouched in the middle */
		{.style = 3},                            /* erased */
		{.text = 0x301 | 1 << CELL_WIDTH_SHIFT}, /* a lone mark */
		{.text = CELL_CLUSTER | 77},
		{.text = 'x'},
	};
	struct line *line = line_create(8);
	for (unsigned i = 0; i < 5; i++)
		line_put(line, i, odd[i]);
	expect_same(line);
	free(line);
}

Test(scrollback_unpack, wide_characters_and_their_tails)
{
	const struct cell head = cell_make(0x4e00, 2, 1), tail = cell_make(0, 0, 1);
	const struct cell other_tail = cell_make(0, 0, 2), x = cell_make('x', 1, 1);
	const struct cell lines[][4] = {
		{head, tail, head, tail},
		{head, other_tail, x, x},
		{x, head, x, x},
		{tail, x, x, x},
		{x, x, x, head},
		{head, head, tail, tail},
	};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct line *line = line_create(4);
		for (unsigned x_at = 0; x_at < 4; x_at++)
			line_put(line, x_at, lines[i][x_at]);
		expect_same(line);
		free(line);
	}
}

Test(scrollback_unpack, random_cells)
{
	static const uint32_t codes[] = {
		0, ' ', 'a', '~', 0xe9, 0x20ac, 0x4e00, 0x1f600, 0x10ffff, 0x301};
	struct random r = {7};
	restart(5);
	for (unsigned n = 0; n < 2000; n++) {
		struct line *line = line_create(1 + (unsigned)random_below(&r, 1000));
		unsigned used = (unsigned)random_below(&r, line->length + 1);
		for (unsigned i = 0; i < used; i++) {
			uint32_t code = codes[random_below(&r, 10)];
			if (random_below(&r, 9) == 0)
				code = CELL_CLUSTER | (1 + (uint32_t)random_below(&r, 1000));
			line_put(line, i,
				cell_make(code, (unsigned)random_below(&r, 3),
					(uint32_t)random_below(&r, 3)));
		}
		line->wrapped = random_below(&r, 2) == 0;
		expect_same(line);
		free(line);
	}
}

Test(scrollback_unpack, into_fewer_cells)
{
	push("hello, world");
	struct line *line = packed_unpack(scrollback_get(&b, 0), 5);
	cr_assert_eq(line->length, 5);
	cr_expect_eq(line->cells[4].text, (uint32_t)'o');
	free(line);
}

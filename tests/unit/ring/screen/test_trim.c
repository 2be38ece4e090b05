/* Dropping old lines to free memory, and what must not change. */
#include "ring/screen/trim.h"

#include "ring/screen/view/snapshot.h"
#include "tests/bench/streams.h"
#include "tests/lib/drawn_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 5000u

/* Numbered lines, each with its own styles and combined character. */
static void print_lines(unsigned from, unsigned to)
{
	char line[160];
	for (unsigned i = from; i < to; i++) {
		snprintf(line, sizeof line,
			"\x1b[38;2;%u;%u;1mab\x1b[48;2;%u;%u;2mcd\x1b[m%u e\xcc%c\xcc%c\r\n",
			i >> 8, i & 255, i >> 8, i & 255, i, 0x80 + (int)(i & 31),
			0x80 + (int)(i >> 5 & 31));
		drawn_type(&d, line);
	}
}

static void set_up(void)
{
	drawn_restart(24, 80, 10000);
	print_lines(0, LINES);
}

TestSuite(screen_trim, .init = set_up, .fini = drawn_tear_down);
TestSuite(screen_freeze, .fini = drawn_tear_down);

static struct snapshot picture(unsigned lines)
{
	struct snapshot s;
	cr_assert_eq(screen_snapshot(d.screen, lines, &s), 0);
	return s;
}

static void expect_same(struct snapshot *a, struct snapshot *b)
{
	cr_expect(a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0);
	free(a->bytes);
	free(b->bytes);
}

Test(screen_trim, drops_about_as_much_as_requested_and_nothing_else)
{
	struct screen_weight before = screen_measure(d.screen);
	uint64_t version = screen_version(d.screen);
	struct snapshot was = picture(1000);
	uint64_t gone = screen_trim(d.screen, before.lines / 2);
	struct screen_weight after = screen_measure(d.screen);
	struct snapshot is = picture(1000);
	cr_expect(gone > LINES / 3 && gone < LINES * 2 / 3, "%u", (unsigned)gone);
	cr_expect_eq(screen_dropped(d.screen), gone);
	cr_expect_eq(screen_scrollback(d.screen), LINES - 23 - gone);
	cr_expect_lt(after.all, before.all * 3 / 4, "%zu of %zu", after.all, before.all);
	cr_expect_gt(screen_version(d.screen), version);
	expect_same(&was, &is);
}

Test(screen_trim, dropping_all_keeps_the_visible_rows)
{
	struct snapshot was = picture(0);
	cr_expect_eq(screen_trim(d.screen, SIZE_MAX), LINES - 23);
	struct snapshot is = picture(0);
	expect_same(&was, &is);
	cr_expect_eq(screen_measure(d.screen).lines, 0);
	cr_expect_lt(screen_memory(d.screen), 400 << 10, "%zu", screen_memory(d.screen));
	cr_expect_eq(screen_trim(d.screen, SIZE_MAX), 0, "no line is left");
}

Test(screen_trim, drops_at_least_one_line)
{
	cr_expect_geq(screen_trim(d.screen, 1), 1);
}

Test(screen_trim, later_output_gives_the_same_screen)
{
	screen_trim(d.screen, SIZE_MAX);
	print_lines(LINES, 2 * LINES);
	cr_expect_eq(screen_dropped(d.screen) + screen_scrollback(d.screen), 2 * LINES - 23);
	struct snapshot is = picture(LINES - 23);
	drawn_restart(24, 80, 10000);
	print_lines(0, 2 * LINES);
	struct snapshot was = picture(LINES - 23);
	expect_same(&was, &is);
}

Test(screen_trim, alternate_buffer_keeps_both_buffers)
{
	drawn_type(&d, "\x1b[?1049h\x1b[31mfull\x1b[5;5Hscreen");
	struct snapshot was = picture(0);
	screen_trim(d.screen, SIZE_MAX);
	struct snapshot is = picture(0);
	expect_same(&was, &is);
	drawn_type(&d, "\x1b[?1049l");
	cr_expect_eq(screen_scrollback(d.screen), 0);
}

/* The memory of a session with a long history: the figure in ring/README.md, with some margin. */
Test(screen_freeze, ten_thousand_coloured_lines_take_little_memory)
{
	static uint8_t log[2 << 20];
	size_t length = stream_without_links(log, stream_make(STREAM_COMPILER, log, sizeof log));
	drawn_restart(24, 80, 10000);
	drawn_feed(&d, log, length, SIZE_MAX);
	cr_assert_eq(screen_scrollback(d.screen), 10000);
	size_t plain = screen_memory(d.screen);
	while (screen_freeze(d.screen, 4))
		;
	cr_expect_leq(screen_memory(d.screen), 300000, "%zu of %zu", screen_memory(d.screen), plain);
	cr_expect_gt(plain, 3 * screen_memory(d.screen));
}

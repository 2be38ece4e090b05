/* The lines of the shell's marks, while lines are added, dropped and reflowed. */
#include "ring/screen/markers.h"

#include "ring/screen/view/snapshot.h"
#include "tests/lib/drawn_check.h"

#include <criterion/criterion.h>

#define INPUT "\x1b]133;B\a"
#define START "\x1b]133;C\a"
#define END "\x1b]133;D;0\a"

static struct drawn d, *now = &d;

static void set_up(void)
{
	drawn_init(&d, 5, 20, 10);
}

static void finish(void)
{
	drawn_finish(&d);
}

TestSuite(markers, .init = set_up, .fini = finish, .timeout = 30);

/* Returns the offset after it. */
static uint64_t print(const char *text)
{
	drawn_type(now, text);
	return screen_offset(now->screen);
}

static void expect_line(uint64_t offset, int want)
{
	uint64_t line = 0;
	bool left, found = screen_marked_line(now->screen, offset, &line, &left);
	cr_expect_eq(found ? (int)line : -1, want, "%d, not %d", found ? (int)line : -1, want);
}

static void print_lines(unsigned n)
{
	while (n-- > 0)
		print("x\r\n");
}

Test(markers, line_is_that_of_the_cursor)
{
	uint64_t line, prompt = print("one\r\n$ " INPUT);
	bool left = true;
	cr_assert(screen_marked_line(d.screen, prompt, &line, &left));
	cr_expect_eq(line, 1);
	cr_expect_not(left);
	uint64_t end = print("ls\r\n" START "file\r\n" END);
	cr_assert(screen_marked_line(d.screen, end, &line, &left));
	cr_expect_eq(line, 3);
	cr_expect(left);
	expect_line(end + 1, -1);
}

Test(markers, scroll_with_their_line_and_are_dropped_with_it)
{
	uint64_t prompt = print("one\r\n$ " INPUT);
	print("\r\n");
	print_lines(12);
	expect_line(prompt, 1);
	print_lines(3);
	expect_line(prompt, -1);
}

Test(markers, follow_their_line_when_it_is_reflowed)
{
	uint64_t first = print("aaaaaaaaaaaaaaa\r\n$ " INPUT);
	print("\r\n");
	uint64_t second = print("bbbbbbbbbbbbbbb\r\n$ " INPUT);
	print("\r\nend");
	screen_resize(d.screen, 5, 8);
	expect_line(first, 2);
	expect_line(second, 5);
	screen_resize(d.screen, 5, 20);
	expect_line(first, 1);
	expect_line(second, 3);
}

Test(markers, of_a_joined_line_are_where_its_text_is)
{
	screen_resize(d.screen, 5, 8);
	uint64_t prompt = print("aaaaaaaaaaa$ " INPUT);
	print("\r\n\r\n");
	expect_line(prompt, 1);
	screen_resize(d.screen, 5, 20);
	expect_line(prompt, 0);
}

Test(markers, are_erased_with_their_rows)
{
	uint64_t above = print("$ " INPUT);
	print("\r\n");
	uint64_t there = print("$ " INPUT);
	print("\r\n");
	print("\x1b[2;1H\x1b[J");
	expect_line(above, 0);
	expect_line(there, 1); /* the cursor's own row is erased, but its marker stays */
	print("\x1b[2J");
	expect_line(above, -1);
	expect_line(there, -1);
}

Test(markers, are_dropped_with_the_scrollback_and_by_a_reset)
{
	uint64_t old = print("$ " INPUT);
	print("\r\n");
	print_lines(6);
	uint64_t prompt = print("$ " INPUT);
	print("\x1b[3J");
	expect_line(old, -1);
	expect_line(prompt, 7);
	print("\033c");
	expect_line(prompt, -1);
}

Test(markers, of_a_redrawn_prompt_the_last_counts)
{
	uint64_t first = print("$ " INPUT), again = print("\r$ " INPUT);
	expect_line(first, -1);
	expect_line(again, 0);
}

Test(markers, of_several_ends_the_first_counts)
{
	uint64_t end = print("$ " INPUT "\r\n" START END), again = print(END "$ " INPUT);
	expect_line(end, 1);
	expect_line(again, 1);
	cr_expect_eq(d.screen->markers.count, 3, "two prompts, one end");
}

Test(markers, do_not_exist_in_the_alternate_buffer)
{
	uint64_t prompt = print("\x1b[?1049h$ " INPUT);
	expect_line(prompt, -1);
}

Test(markers, are_restored_from_a_checkpoint)
{
	struct snapshot snapshot;
	struct drawn other;
	uint64_t gone = print("$ " INPUT);
	print("\r\n");
	print_lines(8);
	uint64_t prompt = print("$ " INPUT);
	print("\r\n" START "out\r\n");
	cr_assert_eq(screen_checkpoint(d.screen, 2, &snapshot), 0);
	drawn_init(&other, 5, 20, 10);
	other.screen->parser.offset = screen_offset(d.screen);
	screen_restore(other.screen, snapshot.bytes, snapshot.length);
	free(snapshot.bytes);
	drawn_finish(&d);
	now = &other;
	expect_line(gone, -1);
	expect_line(prompt, 9);
	expect_line(print(END), 11);
	drawn_finish(&other);
}

Test(markers, are_bounded)
{
	drawn_finish(&d);
	drawn_init(&d, 5, 20, 100000);
	for (unsigned i = 0; i < MARKERS_MAX * 2; i++)
		print(INPUT "\r\n");
	uint64_t last = print(INPUT);
	cr_expect_leq(d.screen->markers.count, MARKERS_MAX);
	expect_line(last, MARKERS_MAX * 2);
}

Test(markers, without_the_secret_are_ignored)
{
	struct screen *s;
	uint64_t line;
	bool left;
	const struct screen_options o = {
		.rows = 5, .cols = 20, .scrollback = 10, .mark_secret = "secret"};
	static const char text[] = INPUT "\r\n\x1b]133;B;aid=secret\a";
	cr_assert_eq(screen_create(&s, &o), 0);
	screen_feed(s, text, sizeof text - 1, SIZE_MAX);
	cr_expect_not(screen_marked_line(s, sizeof INPUT - 1, &line, &left));
	cr_expect(screen_marked_line(s, sizeof text - 1, &line, &left));
	screen_destroy(s);
}

/* In which lines the shell's marks were, while lines come, go, and are laid out anew. */
#include "ring/screen/markers.h"

#include "ring/screen/view/snapshot.h"
#include "tests/lib/drawn_check.h"
#include "tests/lib/leak.h"

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
	ASSERT_NO_LEAKS();
}

TestSuite(markers, .init = set_up, .timeout = 30);

/* Returns the offset behind it. */
static uint64_t say(const char *text)
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

static void say_lines(unsigned n)
{
	while (n-- > 0)
		say("x\r\n");
}

Test(markers, are_where_the_cursor_was)
{
	uint64_t line, prompt = say("one\r\n$ " INPUT);
	bool left = true;
	cr_assert(screen_marked_line(d.screen, prompt, &line, &left));
	cr_expect_eq(line, 1);
	cr_expect_not(left);
	uint64_t end = say("ls\r\n" START "file\r\n" END);
	cr_assert(screen_marked_line(d.screen, end, &line, &left));
	cr_expect_eq(line, 3);
	cr_expect(left);
	expect_line(end + 1, -1);
	finish();
}

Test(markers, keep_their_line_as_it_scrolls_and_go_with_it)
{
	uint64_t prompt = say("one\r\n$ " INPUT);
	say("\r\n");
	say_lines(12);
	expect_line(prompt, 1);
	say_lines(3);
	expect_line(prompt, -1);
	finish();
}

Test(markers, follow_their_line_into_another_width_and_back)
{
	uint64_t first = say("aaaaaaaaaaaaaaa\r\n$ " INPUT);
	say("\r\n");
	uint64_t second = say("bbbbbbbbbbbbbbb\r\n$ " INPUT);
	say("\r\nend");
	screen_resize(d.screen, 5, 8);
	expect_line(first, 2);
	expect_line(second, 5);
	screen_resize(d.screen, 5, 20);
	expect_line(first, 1);
	expect_line(second, 3);
	finish();
}

Test(markers, of_a_line_that_is_joined_are_where_it_went)
{
	screen_resize(d.screen, 5, 8);
	uint64_t prompt = say("aaaaaaaaaaa$ " INPUT);
	say("\r\n\r\n");
	expect_line(prompt, 1);
	screen_resize(d.screen, 5, 20);
	expect_line(prompt, 0);
	finish();
}

Test(markers, are_erased_with_their_rows)
{
	uint64_t above = say("$ " INPUT);
	say("\r\n");
	uint64_t there = say("$ " INPUT);
	say("\r\n");
	say("\x1b[2;1H\x1b[J");
	expect_line(above, 0);
	expect_line(there, 1); /* the cursor's own row is erased, and stays */
	say("\x1b[2J");
	expect_line(above, -1);
	expect_line(there, -1);
	finish();
}

Test(markers, go_with_the_scrollback_and_with_a_reset)
{
	uint64_t old = say("$ " INPUT);
	say("\r\n");
	say_lines(6);
	uint64_t prompt = say("$ " INPUT);
	say("\x1b[3J");
	expect_line(old, -1);
	expect_line(prompt, 7);
	say("\x1b"
	    "c");
	expect_line(prompt, -1);
	finish();
}

Test(markers, of_a_prompt_that_is_drawn_again_the_last_counts)
{
	uint64_t first = say("$ " INPUT), again = say("\r$ " INPUT);
	expect_line(first, -1);
	expect_line(again, 0);
	finish();
}

Test(markers, of_ends_the_first_counts)
{
	uint64_t end = say("$ " INPUT "\r\n" START END), again = say(END "$ " INPUT);
	expect_line(end, 1);
	expect_line(again, 1);
	cr_expect_eq(d.screen->markers.count, 3, "two prompts, one end");
	finish();
}

Test(markers, are_none_of_the_alternate_buffer)
{
	uint64_t prompt = say("\x1b[?1049h$ " INPUT);
	expect_line(prompt, -1);
	finish();
}

Test(markers, come_back_with_a_checkpoint)
{
	struct snapshot snapshot;
	struct drawn other;
	uint64_t gone = say("$ " INPUT);
	say("\r\n");
	say_lines(8);
	uint64_t prompt = say("$ " INPUT);
	say("\r\n" START "out\r\n");
	cr_assert_eq(screen_checkpoint(d.screen, 2, &snapshot), 0);
	drawn_init(&other, 5, 20, 10);
	other.screen->parser.offset = screen_offset(d.screen);
	screen_restore(other.screen, snapshot.bytes, snapshot.length);
	free(snapshot.bytes);
	drawn_finish(&d);
	now = &other;
	expect_line(gone, -1);
	expect_line(prompt, 9);
	expect_line(say(END), 11);
	drawn_finish(&other);
	ASSERT_NO_LEAKS();
}

Test(markers, are_bounded)
{
	drawn_finish(&d);
	drawn_init(&d, 5, 20, 100000);
	for (unsigned i = 0; i < MARKERS_MAX * 2; i++)
		say(INPUT "\r\n");
	uint64_t last = say(INPUT);
	cr_expect_leq(d.screen->markers.count, MARKERS_MAX);
	expect_line(last, MARKERS_MAX * 2);
	finish();
}

Test(markers, without_the_secret_are_a_programs)
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
	finish();
}

/* Modes that a program has left on its terminal are found, and undone without moving the cursor. */
#include "ring/screen/leftover.h"

#include "ring/screen/screen.h"
#include "tests/lib/drawn_check.h"

#include <criterion/criterion.h>

static struct drawn d;

static void set_up(void)
{
	drawn_init(&d, 6, 20, 10);
}

static void finish(void)
{
	drawn_finish(&d);
}

TestSuite(leftover, .init = set_up, .fini = finish, .timeout = 30);

static void undo(unsigned leftovers)
{
	char bytes[LEFTOVER_UNDO_MAX + 1];
	unsigned row, col;
	drawn_type(&d, "\r");
	screen_cursor(d.screen, &row, &col);
	size_t length = leftover_undo(leftovers, row + 1, bytes);
	cr_assert_leq(length, LEFTOVER_UNDO_MAX);
	bytes[length] = '\0';
	drawn_type(&d, bytes);
}

Test(leftover, each_is_found_and_undone_and_the_cursor_stays)
{
	static const struct {
		const char *bytes;
		unsigned found;
	} cases[] = {{"", 0}, {"\033[?2004h", 0}, {"\033[?1003h\033[?1006h", LEFTOVER_MOUSE},
		{"\033[?9h", LEFTOVER_MOUSE}, {"\033[?1016h", LEFTOVER_MOUSE},
		{"\033[?1004h", LEFTOVER_REPORTS}, {"\033[?2031h", LEFTOVER_REPORTS},
		{"\033[?2026h", LEFTOVER_REPORTS}, {"\033[?1h", LEFTOVER_KEYS},
		{"\033=", LEFTOVER_KEYS}, {"\033[>4;2m", LEFTOVER_KEYS},
		{"\033[>1u\033[>5u", LEFTOVER_KEYS}, {"\033[=3u", LEFTOVER_KEYS},
		{"\033[1;31m", LEFTOVER_PEN}, {"\033(0", LEFTOVER_PEN},
		{"\033)0\016", LEFTOVER_PEN}, {"\033[4h", LEFTOVER_TEXT},
		{"\033[?7l", LEFTOVER_TEXT}, {"\033[?1049h\033[>5u\033[?1049l", LEFTOVER_OTHER_KEYS},
		{"\033[?1049h\033[=5u\033[?1049l", LEFTOVER_OTHER_KEYS},
		{"\033[?25l", LEFTOVER_TEXT}, {"\033[2;4r\033[3H", LEFTOVER_REGION},
		{"\033[2;5r\033[?6h\033[2H", LEFTOVER_REGION | LEFTOVER_ORIGIN}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		unsigned row, col, row_after, col_after;
		drawn_type(&d, "\033c\r\n\r\n\r\n");
		drawn_type(&d, cases[i].bytes);
		unsigned found = leftover_find(d.screen);
		cr_expect_eq(found, cases[i].found, "%zu: %x", i, found);
		screen_cursor(d.screen, &row, &col);
		undo(found);
		cr_expect_eq(leftover_find(d.screen), 0, "%zu: %x", i, leftover_find(d.screen));
		screen_cursor(d.screen, &row_after, &col_after);
		cr_expect_eq(row_after, row, "%zu: row %u, not %u", i, row_after, row);
		cr_expect_eq(col_after, 0, "%zu", i);
	}
}

Test(leftover, alternate_screen_is_left_with_all_its_modes)
{
	unsigned row, col;
	drawn_type(&d,
		"one\r\ntwo\r\n\033[>1u\033[?1049h\033[2;5r\033[?6h\033[31m\033[>5u\033[?25lfull");
	undo(leftover_find(d.screen));
	cr_expect_eq(leftover_find(d.screen), 0, "%x", leftover_find(d.screen));
	screen_cursor(d.screen, &row, &col);
	cr_expect_eq(row, 2);
	cr_expect_eq(col, 0);
	drawn_type(&d, "\033[?1049h");
	cr_expect_eq(screen_modes(d.screen)->kitty_flags, 0, "the next program gets usual keys");
}

Test(leftover, pen_at_the_end_of_the_prompt_is_no_leftover)
{
	drawn_type(&d, "\033[1;32m$ \033]133;B\a");
	cr_expect_eq(leftover_find(d.screen), 0);
	drawn_type(&d, "\033[34m");
	cr_expect_eq(leftover_find(d.screen), LEFTOVER_PEN);
}

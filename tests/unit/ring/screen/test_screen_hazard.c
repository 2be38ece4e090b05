/* Known bugs of other emulators, a test for each. */
#include "tests/lib/drawn_same.h"
#include "tests/lib/drawn_test.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>

TestSuite(screen_hazard, DRAWN_SUITE);

static const char *scrollback_text(unsigned i)
{
	static char text[SCREEN_SIDE_MAX * 4 + 1];
	const struct packed *p = scrollback_get(&d.screen->scrollback, i);
	cr_assert_not(p->odd);
	memcpy(text, packed_text(p), p->bytes);
	text[p->bytes] = '\0';
	return text;
}

static void type_params(unsigned count, char separator, const char *final)
{
	drawn_type(&d, "\x1b[1");
	for (unsigned i = 1; i < count; i++)
		drawn_type(&d, (char[]){separator, '1', '\0'});
	drawn_type(&d, final);
}

Test(screen_hazard, csi_with_many_parameters)
{
	static const unsigned counts[] = {16, 17, 31, 32, 33, 34, 500, 5000};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		type_params(counts[i], ';', "m");
		type_params(counts[i], ':', "m");
		type_params(counts[i], ';', "H");
		type_params(counts[i], ';', "h");
		type_params(counts[i], ';', "r");
	}
	drawn_type(&d, "\x1b[Hok");
	cr_expect_str_eq(drawn_row(&d, 0), "ok");
}

Test(screen_hazard, extended_colours_cut_short_by_the_limit)
{
	for (unsigned before = 20; before <= 32; before++) {
		drawn_restart(4, 8, 100);
		drawn_type(&d, "\x1b[1");
		drawn_type_many(&d, ";1", before - 1);
		drawn_type(&d, ";38;2;1;2;3;48;5;7;58;2;1;2;3mx");
		drawn_check(&d);
		cr_expect(drawn_style_at(&d, 0, 0)->flags & STYLE_BOLD);
	}
}

Test(screen_hazard, extended_colours_cut_short)
{
	static const char *const sequences[] = {"\x1b[38m", "\x1b[38;2m", "\x1b[38;2;1m",
		"\x1b[38;5m", "\x1b[38:2m", "\x1b[38:2:1m", "\x1b[38:5m", "\x1b[38:m",
		"\x1b[38:::::::::m", "\x1b[38;2:1:2:3m", "\x1b[38;5:7;1m", "\x1b[48;9;1;2m",
		"\x1b[58;2;1;2;3;4;5;6m", "\x1b[38;38;38;38m", "\x1b[38;48;58m", "\x1b[;38:2::m",
		"\x1b[38:2:99999:-1:3:4:5:6:7m"};
	for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
		drawn_type(&d, sequences[i]);
		drawn_type(&d, "x");
		drawn_check(&d);
	}
}

Test(screen_hazard, repeat_after_a_lone_mark)
{
	drawn_type(&d, "\xcc\x81\x1b[5b\x1b[2147483647b");
	drawn_type(&d, "\r\n\xe2\x80\x8d\x1b[5bx");
	drawn_check(&d);
}

Test(screen_hazard, repeat_only_after_a_character)
{
	static const char *const between[] = {"\r", "\x1b[C", "\x1b[m", "\0337", "\x1b]0;t\a", "\0"};
	for (size_t i = 0; i + 1 < sizeof between / sizeof *between; i++) {
		drawn_restart(4, 8, 100);
		drawn_type(&d, "ab");
		drawn_type(&d, between[i]);
		drawn_type(&d, "\x1b[3b");
		cr_expect_str_eq(drawn_row(&d, 0), "ab", "%zu", i);
	}
}

Test(screen_hazard, repeat_of_a_wide_character_at_the_edge)
{
	for (unsigned cols = 2; cols < 9; cols++) {
		drawn_restart(3, cols, 100);
		drawn_type(&d, "\xe4\xbd\xa0\x1b[5b");
		drawn_check(&d);
		drawn_type(&d, "\x1b[?7l\x1b[H\xe4\xbd\xa0\x1b[5b");
	}
}

Test(screen_hazard, endless_repeat)
{
	drawn_restart(24, 80, 100);
	for (unsigned i = 0; i < 50; i++)
		drawn_type(&d, "x\x1b[2147483647b");
	cr_expect_eq(strlen(drawn_row(&d, 0)), 80);
}

/* It prints as many characters as requested, across lines. */
Test(screen_hazard, repeat_equals_printing)
{
	static const char *const before[] = {"", "\x1b[2;3r\x1b[2H", "\x1b[2;3r\x1b[4H", "\x1b[4h",
		"\x1b[41m", "\x1b[?1049h\x1b[41m", "\x1b[4h\x1b[?1049h\x1b[42mabc\xe4\xbd\xa0",
		"\x1b[?7l", "\x1b[4h\x1b[?7l",
		"abc\xe4\xbd\xa0\r\n\xe4\xbd\xa0\xe4\xbd\xa0\x1b[4h\x1b[H\x1b[C"};
	static const char *const what[] = {
		"x", "\xe4\xbd\xa0", "e\xcc\x81", "\xe4\xbd\xa0\xcc\x81\xcc\x82"};
	static const unsigned sizes[][2] = {{1, 2}, {1, 5}, {4, 2}, {4, 5}, {4, 8}, {5, 11}};
	static const unsigned counts[] = {1, 2, 3, 7, 8, 9, 23, 24, 25, 60, 200, 1000};
	char sequence[32];
	for (unsigned n = 0; n < 10 * 4 * 6 * 12; n++) {
		struct drawn a, b;
		const unsigned *size = sizes[n / 40 % 6];
		unsigned count = counts[n / 240];
		drawn_init(&a, size[0], size[1], 100);
		drawn_init(&b, size[0], size[1], 100);
		drawn_type(&a, before[n % 10]);
		drawn_type(&b, before[n % 10]);
		drawn_type(&a, what[n / 10 % 4]);
		snprintf(sequence, sizeof sequence, "\x1b[%ub", count);
		drawn_type(&a, sequence);
		drawn_type(&b, what[n / 10 % 4]);
		drawn_type_many(&b, what[n / 10 % 4], count);
		DRAWN_CHECK(a.screen->scrollback.count == b.screen->scrollback.count);
		DRAWN_CHECK(a.screen->scrollback.dropped == b.screen->scrollback.dropped);
		drawn_same_scrollback(a.screen, b.screen, true);
		drawn_same_rows(a.screen, a.screen->active, b.screen, b.screen->active, true);
		DRAWN_CHECK(a.screen->active->x == b.screen->active->x);
		DRAWN_CHECK(a.screen->active->y == b.screen->active->y);
		drawn_check(&a);
		drawn_finish(&b);
		drawn_finish(&a);
	}
}

Test(screen_hazard, wide_character_in_two_columns)
{
	drawn_restart(2, 2, 100);
	drawn_type(&d, "\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xbd\xa0");
	cr_expect_str_eq(drawn_rows(&d), "\xe5\xa5\xbd|\xe4\xbd\xa0");
}

Test(screen_hazard, wide_characters_on_a_screen_of_one_column)
{
	drawn_restart(3, 4, 100);
	drawn_type(&d, "\xe4\xbd\xa0\xe5\xa5\xbd");
	cr_assert_eq(screen_resize(d.screen, 1, 1), 0);
	drawn_type(&d, "\xe4\xbd\xa0\xcc\x81\x1b[9b");
	drawn_check(&d);
	cr_assert_eq(screen_resize(d.screen, 0, 0), 0);
	cr_expect_eq(screen_rows(d.screen), 1);
	cr_expect_eq(screen_cols(d.screen), 2);
}

Test(screen_hazard, too_many_marks_are_dropped)
{
	drawn_restart(2, 8, 100);
	drawn_type(&d, "e");
	drawn_type_many(&d, "\xcc\x81", 1000);
	drawn_type(&d, "x");
	drawn_expect_cursor(0, 2);
	cr_expect_eq(strlen(drawn_row(&d, 0)), 1 + 2 * (SCREEN_CLUSTER_MAX - 1) + 1);
}

Test(screen_hazard, seven_marks_are_kept)
{
	drawn_restart(2, 8, 100);
	drawn_type(&d, "e");
	drawn_type_many(&d, "\xcc\x81", 7);
	cr_expect_eq(strlen(drawn_row(&d, 0)), 15);
}

Test(screen_hazard, joiners_and_selectors_join_their_cell)
{
	drawn_restart(2, 20, 100);
	/* A family, and a heart with VS16. The widths are those of the code points. */
	drawn_type(&d, "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9|\xe2\x9d\xa4\xef\xb8\x8f|");
	drawn_expect_cursor(0, 7);
}

/* From 24 rows to fewer, and back. */
Test(screen_hazard, places_outside_of_a_smaller_screen)
{
	static const struct {
		const char *name, *before;
		unsigned rows, cols;
		const char *smaller, *back;
	} cases[] = {
		{"margins", "\x1b[20;24r\x1b[24;1H", 5, 80,
			"\n\n\n\033D\x1bM\x1b[5L\x1b[5M\x1b[5S\x1b[5T", ""},
		{"margins of the alternate buffer", "\x1b[?1049h\x1b[20;24r\x1b[24;1H", 5, 80,
			"\n\n\n\033D\x1bM\x1b[5L\x1b[?1049l\n\n\n\n\n\n\n", ""},
		{"saved cursor", "\x1b[24;80H\0337\x1b[H", 3, 5, "\0338X", ""},
		{"saved cursor of the alternate buffer", "\x1b[?1049h\x1b[24;80H\0337\x1b[H", 3, 5,
			"\0338X\n\n\n", "\0338X\x1b[?1049lX"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		unsigned row, col;
		drawn_restart(24, 80, 100);
		drawn_type(&d, cases[i].before);
		cr_assert_eq(screen_resize(d.screen, cases[i].rows, cases[i].cols), 0);
		drawn_type(&d, cases[i].smaller);
		drawn_check(&d);
		screen_cursor(d.screen, &row, &col);
		cr_expect(row < cases[i].rows && col <= cases[i].cols, "%s", cases[i].name);
		cr_expect_eq(d.screen->primary.top, 0, "%s", cases[i].name);
		cr_expect_eq(d.screen->primary.bottom, cases[i].rows - 1, "%s", cases[i].name);
		cr_assert_eq(screen_resize(d.screen, 24, 80), 0);
		drawn_type(&d, cases[i].back);
	}
}

Test(screen_hazard, shrink_with_text_below_the_cursor)
{
	drawn_restart(40, 80, 100);
	for (unsigned i = 0; i < 40; i++)
		drawn_type(&d, i ? "\r\nline" : "line");
	drawn_type(&d, "\x1b[H");
	cr_assert_eq(screen_resize(d.screen, 10, 80), 0);
	unsigned row, col;
	screen_cursor(d.screen, &row, &col);
	cr_expect_lt(row, 10);
	drawn_type(&d, "x\n\n\n\x1bM\x1b[99A\x1b[99B");
}

Test(screen_hazard, any_resize_after_any_other)
{
	static const char *const between[] = {"0123456789abcdef\r\n", "\xe4\xbd\xa0\xe5\xa5\xbd",
		"\x1b[H", "\x1b[99;99H", "\x1b[?1049h", "\x1b[?1049l", "\0337", "\0338",
		"\x1b[2;3r", "\x1b[?6h", "\x1b[?6l", "\n\n\n\n\n", "\x1b[44m\x1b[2J", "\x1b#8",
		"x\x1b[500b", "\x1b[3J", "\tx\033H"};
	struct random r = {3};
	drawn_restart(24, 80, 100);
	for (unsigned i = 0; i < 400; i++) {
		drawn_type(&d, between[random_below(&r, sizeof between / sizeof *between)]);
		unsigned rows = 1 + (unsigned)random_below(&r, i % 9 ? 30 : SCREEN_SIDE_MAX);
		unsigned cols = 1 + (unsigned)random_below(&r, i % 7 ? 100 : SCREEN_SIDE_MAX);
		cr_assert_eq(screen_resize(d.screen, rows, cols), 0);
		drawn_check(&d);
	}
}

Test(screen_hazard, huge_writes)
{
	size_t length = (size_t)4 << 20;
	char *bytes = malloc(length);
	drawn_restart(24, 80, 100);
	memset(bytes, 'x', length);
	drawn_feed(&d, bytes, length, SIZE_MAX);
	cr_expect_eq(strlen(drawn_row(&d, 0)), 80);
	cr_expect_eq(screen_scrollback(d.screen), 100);
	free(bytes);
}

static void expect_title(size_t length, size_t want)
{
	drawn_set_up();
	char *title = malloc(length + 1);
	memset(title, 't', length);
	title[length] = '\0';
	drawn_type(&d, "\x1b]0;");
	drawn_type(&d, title);
	drawn_type(&d, "\a");
	cr_expect_eq(strlen(screen_title(d.screen)), want, "%zu", length);
	cr_expect_eq(strlen(screen_icon(d.screen)), want, "%zu", length);
	free(title);
}

Test(screen_hazard, titles_of_any_size)
{
	expect_title(0, 0);
	expect_title(1, 1);
	expect_title(63, 63);
	expect_title(64, 64);
	expect_title(SCREEN_TITLE_MAX - 1, SCREEN_TITLE_MAX - 1);
	expect_title(SCREEN_TITLE_MAX, SCREEN_TITLE_MAX);
	expect_title(SCREEN_TITLE_MAX + 1, SCREEN_TITLE_MAX);
	expect_title(100000, SCREEN_TITLE_MAX);
	expect_title(2 * PARSER_STRING_MAX, 0);
}

Test(screen_hazard, long_title_is_cut_between_characters)
{
	for (unsigned before = 0; before < 4; before++) {
		drawn_restart(4, 8, 100);
		drawn_type(&d, "\x1b]0;");
		drawn_type_many(&d, "x", before);
		drawn_type_many(&d, "\xf0\x9f\x98\x80", 2000);
		drawn_type(&d, "\a");
		size_t length = strlen(screen_title(d.screen));
		cr_expect_gt(length, SCREEN_TITLE_MAX - 4);
		cr_expect_eq(length % 4, before);
	}
}

Test(screen_hazard, several_modes_in_one_sequence)
{
	drawn_type(&d, "\x1b[?1;1003;1006;2004h\x1b[4;20h");
	const struct screen_modes *m = screen_modes(d.screen);
	cr_expect(m->application_cursor && m->bracketed_paste && m->insert && m->newline);
	cr_expect_eq(m->mouse, MOUSE_ANY);
	cr_expect_eq(m->mouse_encoding, MOUSE_SGR);
	drawn_type(&d, "\x1b[?1;1003;1006;2004l\x1b[4;20l");
	cr_expect_not(m->application_cursor || m->bracketed_paste || m->insert || m->newline);
	cr_expect_eq(m->mouse, MOUSE_NONE);
	cr_expect_eq(m->mouse_encoding, MOUSE_DEFAULT);
}

Test(screen_hazard, soft_reset)
{
	drawn_type(&d, "text\x1b[2;3r\x1b[?6;1h\x1b[4h\x1b[1;31m\x1b[?25l\x1b(0\x1b[!p");
	const struct screen_modes *m = screen_modes(d.screen);
	cr_expect_not(m->origin || m->application_cursor || m->insert || m->cursor_hidden);
	cr_expect(m->wraparound);
	cr_expect_eq(d.screen->primary.bottom, 3);
	cr_expect_str_eq(drawn_row(&d, 0), "text");
	drawn_type(&d, "\x1b[4;1Hq");
	cr_expect_str_eq(drawn_row(&d, 3), "q");
	cr_expect_eq(drawn_style_at(&d, 3, 0)->flags, 0);
}

Test(screen_hazard, ed_3_drops_the_scrollback)
{
	drawn_restart(2, 8, 100);
	drawn_type_many(&d, "x\r\n", 10);
	cr_assert_eq(screen_scrollback(d.screen), 9);
	drawn_type(&d, "\x1b[3J");
	cr_expect_eq(screen_scrollback(d.screen), 0);
	cr_expect_eq(screen_dropped(d.screen), 9);
	cr_expect_str_eq(drawn_rows(&d), "x");
}

Test(screen_hazard, old_modes_of_the_alternate_buffer)
{
	static const char *const ways[] = {"47", "1047", "1049"};
	for (size_t i = 0; i < 3; i++) {
		drawn_restart(2, 8, 100);
		char sequence[16];
		drawn_type(&d, "main");
		snprintf(sequence, sizeof sequence, "\x1b[?%sh", ways[i]);
		drawn_type(&d, sequence);
		cr_expect(screen_is_alternate(d.screen));
		cr_expect_str_eq(drawn_rows(&d), "");
		drawn_type(&d, "\r\nother");
		snprintf(sequence, sizeof sequence, "\x1b[?%sl", ways[i]);
		drawn_type(&d, sequence);
		cr_expect_not(screen_is_alternate(d.screen));
		cr_expect_str_eq(drawn_rows(&d), "main");
	}
}

Test(screen_hazard, mode_1049_restores_the_cursor)
{
	drawn_type(&d, "ab\x1b[31m\x1b[?1049h\x1b[3;3H\x1b[m\x1b[?1049lX");
	cr_expect_str_eq(drawn_rows(&d), "abX");
	cr_expect_eq(drawn_style_at(&d, 0, 2)->fg, COLOR_BASIC | 1);
}

Test(screen_hazard, leaving_the_alternate_buffer_without_entering_it)
{
	drawn_type(&d, "\x1b[31mab\x1b[?1049lX\x1b[?1048lY");
	cr_expect_eq(drawn_style_at(&d, 0, 0)->fg, COLOR_DEFAULT, "as DECRC without DECSC");
}

Test(screen_hazard, full_reset_in_the_alternate_buffer)
{
	drawn_restart(2, 8, 100);
	drawn_type(&d, "\x1b[?1049h\x1b[?1003h\x1b[?2004hother\033c");
	cr_expect_not(screen_is_alternate(d.screen));
	cr_expect_eq(screen_modes(d.screen)->mouse, MOUSE_NONE);
	cr_expect_not(screen_modes(d.screen)->bracketed_paste);
	cr_expect_str_eq(drawn_rows(&d), "");
	drawn_type_many(&d, "x\r\n", 78);
	cr_expect_eq(screen_scrollback(d.screen), 77);
}

Test(screen_hazard, full_reset_drops_the_scrollback)
{
	drawn_restart(2, 8, 100);
	drawn_type_many(&d, "x\r\n", 10);
	drawn_type(&d, "\033c");
	cr_expect_eq(screen_scrollback(d.screen), 0);
	cr_expect_eq(screen_dropped(d.screen), 9);
}

Test(screen_hazard, lines_are_reflowed)
{
	drawn_restart(6, 20, 100);
	drawn_type(&d, "0123456789abcdef\r\nshort\r\n$ ");
	cr_assert_eq(screen_resize(d.screen, 6, 10), 0);
	cr_expect_str_eq(drawn_rows(&d), "0123456789|abcdef|short|$ ");
	cr_assert_eq(screen_resize(d.screen, 6, 20), 0);
	cr_expect_str_eq(drawn_rows(&d), "0123456789abcdef|short|$ ");
}

Test(screen_hazard, lines_of_the_scrollback_are_reflowed)
{
	drawn_restart(2, 8, 100);
	drawn_type(&d, "0123456789abcdefgh\r\nshort\r\n$ ");
	cr_expect_eq(screen_scrollback(d.screen), 3);
	cr_assert_eq(screen_resize(d.screen, 2, 20), 0);
	cr_expect_eq(screen_scrollback(d.screen), 1);
	cr_expect_str_eq(scrollback_text(0), "0123456789abcdefgh");
}

Test(screen_hazard, wide_characters_are_reflowed)
{
	drawn_type(&d, "\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0\r\n$");
	for (unsigned cols = 7; cols >= 2; cols--) {
		cr_assert_eq(screen_resize(d.screen, 4, cols), 0);
		drawn_check(&d);
	}
	cr_assert_eq(screen_resize(d.screen, 4, 20), 0);
	cr_expect_eq(screen_scrollback(d.screen), 0);
	cr_expect_str_eq(
		drawn_row(&d, 0), "\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0");
}

Test(screen_hazard, alternate_buffer_is_not_reflowed)
{
	drawn_restart(2, 8, 100);
	drawn_type(&d, "\x1b[?1049h\x1b[H01234567");
	cr_assert_eq(screen_resize(d.screen, 2, 4), 0);
	cr_expect_str_eq(drawn_rows(&d), "0123");
	cr_assert_eq(screen_resize(d.screen, 2, 8), 0);
	cr_expect_str_eq(drawn_rows(&d), "01234567", "cells beyond the edge are restored once");
}

/* A line that continues a dropped line, and is empty. */
Test(screen_hazard, narrowing_an_empty_continuation)
{
	drawn_restart(3, 8, 0);
	drawn_type(&d, "0123456789\r\n\n\x1b[H\x1b[8X\x1b[3H");
	cr_assert_eq(screen_resize(d.screen, 3, 4), 0);
}

Test(screen_hazard, erased_cells_keep_the_background_only)
{
	drawn_restart(2, 8, 100);
	drawn_type(&d, "\x1b[1;4;7;31;44m\x1b[K");
	const struct style *style = drawn_style_at(&d, 0, 0);
	cr_expect_eq(style->bg, COLOR_BASIC | 4);
	cr_expect_eq(style->fg, COLOR_DEFAULT);
	cr_expect_eq(style->flags, 0);
}

#include "ring/screen/view/paint.h"
#include "ring/screen/view/snapshot.h"
#include "tests/lib/drawn_same.h"
#include "tests/lib/drawn_test.h"

#include <criterion/criterion.h>

/* The screens look alike, and have the same state for further output. */
static void expect_alike(const struct screen *a, const struct screen *b)
{
	unsigned row[2], col[2];
	cr_expect_eq(screen_is_alternate(a), screen_is_alternate(b));
	drawn_same_rows(a, &a->primary, b, &b->primary, false);
	drawn_same_rows(a, &a->alternate, b, &b->alternate, false);
	drawn_same_scrollback(a, b, false);
	screen_cursor(a, &row[0], &col[0]);
	screen_cursor(b, &row[1], &col[1]);
	cr_expect_eq(row[0], row[1]);
	cr_expect_eq(col[0], col[1]);
	cr_expect_eq(a->active->top, b->active->top);
	cr_expect_eq(a->active->bottom, b->active->bottom);
	drawn_same_tabs(&a->primary, &b->primary, a->cols);
	drawn_same_kitty(&a->primary.kitty, &b->primary.kitty);
	drawn_same_kitty(&a->alternate.kitty, &b->alternate.kitty);
	drawn_same_style(a, &a->pen, b, &b->pen, false);
	drawn_same_modes(&a->modes, &b->modes);
	drawn_same_palette(&a->palette, &b->palette);
	drawn_same_strings(a, b);
	cr_expect_eq(memcmp(&a->charsets, &b->charsets, sizeof a->charsets), 0);
}

static struct drawn other; /* gets the snapshot of d */

static void set_up(void)
{
	drawn_restart(4, 10, 100);
}

static void tear_down(void)
{
	drawn_tear_down();
	drawn_finish(&other);
}

TestSuite(screen_snapshot, .init = set_up, .fini = tear_down, .timeout = 60);

static void restore(unsigned lines)
{
	struct snapshot snapshot;
	drawn_finish(&other);
	cr_assert_eq(screen_snapshot(d.screen, lines, &snapshot), 0);
	drawn_init(&other, screen_rows(d.screen), screen_cols(d.screen), 100);
	drawn_feed(&other, snapshot.bytes, snapshot.length, SIZE_MAX);
	free(snapshot.bytes);
	cr_expect_eq(other.replies.length, 0, "a snapshot asks nothing");
	cr_expect(parser_is_ground(&other.screen->parser));
}

/* Output before the snapshot, and output after it, which makes invisible state visible. */
struct example {
	const char *name;
	const char *in, *after;
};

static const struct example examples[] = {
	{"nothing", "", "x"},
	{"text", "hello\r\nworld", "x"},
	{"wrapped text", "0123456789abcdefghijklmnopqrstuvwxyz\r\nshort", "\r\nx"},
	{"scrollback", "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9", "\r\nx"},
	{"wrapped scrollback",
		"0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijk\r\n1\r\n2\r\n3\r\n4", "x"},
	{"pending wrap", "0123456789", "x"},
	{"pending wrap after a wide character", "01234567\xe4\xbd\xa0", "x"},
	{"pending wrap in a style", "\x1b[1;44m0123456789\x1b[m", "x"},
	{"wide characters that wrap",
		"012345678\xe4\xbd\xa0\xe5\xa5\xbd\xe5\xa5\xbd\xe5\xa5\xbd\xe5\xa5\xbd\xe5\xa5\xbd",
		"x"},
	{"half of a wide character", "\xe4\xbd\xa0\xe5\xa5\xbd\x1b[2Gx\x1b[4Gy", "x"},
	{"clusters", "e\xcc\x81\xcc\x82 \xe4\xbd\xa0\xcc\x81", "\xcc\x81x"},
	{"lone mark",
		"\r\n\xcc\x81"
		"a",
		"x"},
	{"styles", "\x1b[1ma\x1b[2mb\x1b[22;3mc\x1b[4:3;58:5:9md\x1b[24;59;7;8;9;53me\x1b[mf", "x"},
	{"colours", "\x1b[31ma\x1b[97mb\x1b[38;5;200mc\x1b[38;2;1;2;3;48;2;4;5;6md", "x"},
	{"bold and dim", "\x1b[1ma\x1b[22;2mb\x1b[1mc", "x"},
	{"erased backgrounds", "\x1b[44m\x1b[2J\x1b[2;3Hx\x1b[m\x1b[3;2H\x1b[41m\x1b[3X", "x"},
	{"spaces are not blanks", "a   \r\n   ", "x"},
	{"links", "\x1b]8;;http://a\aab\x1b]8;id=q;http://b\acd\x1b]8;;\a e", "x"},
	{"pen with a link", "\x1b]8;;http://a\a\x1b[4;31m", "x\x1b[my"},
	{"pen with the colour of underlines", "\x1b[58:5:9m", "x\x1b[4my"},
	{"protected cells", "a\x1b[1\"qbc", "d\x1b[?2J"},
	{"saved cursor", "\x1b[2;3H\x1b[1;31m\0337\x1b[m\x1b[H", "a\0338b"},
	{"saved charset", "\x1b(0\0337\x1b(B", "q\0338q"},
	{"charsets", "\x1b)0\x0e", "q\x0fq"},
	{"charset of G2", "\x1b*0\x1bn", "q"},
	{"margins", "1\r\n2\r\n3\r\n4\x1b[2;3r", "\x1b[3H\nx\nx\nx"},
	{"origin mode", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[?6h\x1b[2;2H", "\x1b[Hx"},
	{"pending wrap in origin mode", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[?6h\x1b[2H0123456789",
		"x\x1b[H\x1b[3Gy"},
	{"pending wrap in origin mode, in the first row of the region",
		"\x1b[2;3r\x1b[?6h\x1b[1;10Hq", "\x1b[Gx\x1b[2;2Hy"},
	{"pending wrap after no text in origin mode",
		"\x1b[2;3r\x1b[?6h0123456789\x1b[?1047h\x1b[?1047l\x1b[1K", "x"},
	{"column and position in origin mode", "\x1b[2;3r\x1b[?6h\x1b[2;2Hab\x1b[7G", "x\x1b[Hy"},
	{"cursor above the region in origin mode",
		"1\r\n2\x1b[2;3r\x1b[?6h\x1b[?1047h\x1b[?1047l\x1b[?1047h\x1b[H\x1b[3C\x1b[?1047l",
		"x\x1b[Hy"},
	{"cursor below the region in origin mode",
		"\x1b[2;3r\x1b[?6h\x1b[?1047h\x1b[4;4H\x1b[?1047l", "x\x1b[2Gy\x1b[Hz"},
	{"character above the region in origin mode",
		"\x1b[2;3r\x1b[?6h\x1b[?1047h\x1b[H\x1b[?1047lab", "\xcc\x81x"},
	{"pending wrap above the region in origin mode",
		"\x1b[2;3r\x1b[?6h\x1b[?1047h\x1b[H0123456789\x1b[?1047l", "x"},
	{"pending wrap after a character that the charset lacks",
		"\x1b[1;10H`\x1b[?1047h\x1b(0\0337\x1b(B\0338qqqqqqqqqq\x1b[?1047l", "x`q"},
	{"tab stops", "\x1b[3g\x1b[4G\x1bH\r", "\tx\ty"},
	{"insert mode", "abc\r\x1b[4h", "x"},
	{"no wrap", "\x1b[?7l", "0123456789abc"},
	{"reverse wrap", "\x1b[?45h", "\r\n\b\bx"},
	{"newline mode", "\x1b[20h", "ab\ncd"},
	{"modes", "\x1b[?1h\x1b=\x1b[?2004h\x1b[?1003;1006h\x1b[?2031h\x1b[>4;2m\x1b[4 q", "x"},
	{"clusters", "\x1b[?2027hx\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa\xe2\x9d\xa4\xef\xb8\x8f",
		"\xcc\x81x"},
	{"half a cluster at the end", "\x1b[?2027h\xf0\x9f\x87\xa9", "\xf0\x9f\x87\xaax"},
	{"a mark apart among clusters",
		"\x1b[?2027h"
		"a\x1b[m\xcc\x81",
		"x"},
	{"a cluster that wraps",
		"\x1b[?2027h"
		"012345678\xe2\x9d\xa4\xef\xb8\x8f",
		"x"},
	{"without and with clusters",
		"e\xcc\x81\xe2\x9d\xa4\xef\xb8\x8f\x1b[?2027h\xe2\x9d\xa4\xef\xb8\x8f", "x"},
	{"clusters, then without", "\x1b[?2027h\xe2\x9d\xa4\xef\xb8\x8f\x1b[?2027l",
		"\xe2\x9d\xa4\xef\xb8\x8f"},
	{"hidden cursor", "\x1b[?25l\x1b[?12h", "x"},
	{"focus reports", "\x1b[?1004h", "x"},
	{"alternate buffer", "main\x1b[31m\x1b[?1049h\x1b[2;2Hother", "x\x1b[?1049ly"},
	{"alternate buffer, the old way", "main\x1b[?47h\r\nother", "x\x1b[?47ly"},
	{"alternate buffer with margins", "\x1b[2;3r\x1b[?1049h\x1b[1;2r\x1b[?6h",
		"x\n\n\ny\x1b[?1049l\n\n\n\nz"},
	{"kitty flags", "\x1b[=1;1u\x1b[>5u\x1b[?1049h\x1b[>3u", "\x1b[<u\x1b[?1049l\x1b[<u"},
	{"kitty flags of the buffer that is not in use",
		"\x1b[>1u\x1b[?1049h\x1b[>3u\x1b[>7u\x1b[?1049l",
		"\x1b[?1049h\x1b[<u\x1b[?1049l\x1b[<u"},
	{"palette", "\x1b]4;1;#123456\a\x1b]11;#fff\a", "\x1b]104\a"},
	{"titles", "\x1b]2;a\a\x1b[22;2t\x1b]2;b\a\x1b]1;c\a", "\x1b[23;2t"},
	{"folder", "\x1b]7;file:///tmp/a%20b%25\a", "x"},
};

Test(screen_snapshot, examples)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		/* A failed check aborts: this prints the case. */
		fprintf(stderr, "%s\n", examples[i].name);
		drawn_restart(4, 10, 100);
		drawn_type(&d, examples[i].in);
		restore(UINT32_MAX);
		expect_alike(d.screen, other.screen);
		drawn_type(&d, examples[i].after);
		drawn_type(&other, examples[i].after);
		expect_alike(d.screen, other.screen);
		drawn_check(&other);
	}
}

/* The same on a terminal that another program has used. */
Test(screen_snapshot, restores_a_used_terminal)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		struct snapshot snapshot;
		fprintf(stderr, "%s\n", examples[i].name);
		drawn_restart(4, 10, 100);
		drawn_finish(&other);
		drawn_init(&other, 4, 10, 100);
		for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
			drawn_type(&other, examples[k].in);
		drawn_type(&other, "\x1b]0;\a\x1b]0;open");
		drawn_type(&d, "\x1b]0;\a");
		drawn_type(&d, examples[i].in);
		cr_assert_eq(screen_snapshot(d.screen, UINT32_MAX, &snapshot), 0);
		drawn_feed(&other, snapshot.bytes, snapshot.length, SIZE_MAX);
		expect_alike(d.screen, other.screen);
		free(snapshot.bytes);
	}
}

Test(screen_snapshot, number_of_lines_is_limited)
{
	drawn_restart(2, 10, 100);
	drawn_type(&d, "1\r\n2\r\n3\r\n4\r\n5\r\n6");
	for (unsigned lines = 0; lines < 6; lines++) {
		restore(lines);
		cr_expect_eq(screen_scrollback(other.screen), lines < 4 ? lines : 4);
		expect_alike(d.screen, other.screen);
	}
}

Test(screen_snapshot, does_not_change_the_screen)
{
	struct snapshot snapshot;
	drawn_finish(&other);
	drawn_init(&other, 4, 10, 100);
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		drawn_type(&d, examples[i].in);
		drawn_type(&other, examples[i].in);
		cr_assert_eq(screen_snapshot(d.screen, 10, &snapshot), 0);
		free(snapshot.bytes);
	}
	drawn_expect_same(&d, &other);
}

Test(screen_snapshot, starts_with_can_and_a_full_reset)
{
	struct snapshot snapshot;
	cr_assert_eq(screen_snapshot(d.screen, 0, &snapshot), 0);
	cr_assert_gt(snapshot.length, 3);
	cr_expect_eq(memcmp(snapshot.bytes, "\x18\033c", 3), 0);
	free(snapshot.bytes);
}

/* Otherwise the browser would show nothing more. */
Test(screen_snapshot, never_leaves_synchronized_output_on)
{
	drawn_type(&d, "\x1b[?2026hx");
	restore(0);
	cr_expect_not(screen_modes(other.screen)->synchronized_output);
}

Test(screen_snapshot, of_the_smallest_and_largest_screen)
{
	static const unsigned sides[][2] = {{1, 2}, {1, 1000}, {1000, 2}, {2, 2}};
	for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
		drawn_restart(sides[i][0], sides[i][1], 100);
		drawn_type(&d, "0123456789\xe4\xbd\xa0\xe5\xa5\xbd\r\nab\x1b[44m\x1b[K");
		restore(UINT32_MAX);
		expect_alike(d.screen, other.screen);
	}
}

Test(screen_snapshot, in_the_middle_of_a_sequence)
{
	drawn_type(&d, "ab\x1b[1;3");
	restore(0);
	cr_expect_eq(screen_resume_offset(d.screen), 2);
	drawn_type(&d, "1mc");
	drawn_type(&other, "\x1b[1;31mc");
	expect_alike(d.screen, other.screen);
}

/* The cells alternate between two long links: each cell writes its link again. */
Test(screen_snapshot, size_of_links_is_bounded)
{
	static char text[SCREEN_LINK_MAX];
	struct snapshot snapshot;
	drawn_restart(40, 100, 100);
	for (unsigned i = 0; i < 4000; i++) {
		int length = snprintf(
			text, sizeof text, "\x1b]8;id=%u;http://a/%08000u\ax", i % 2, i % 2);
		screen_feed(d.screen, text, (size_t)length, SIZE_MAX);
	}
	cr_assert_eq(screen_snapshot(d.screen, 0, &snapshot), 0);
	cr_expect_lt(snapshot.length, PAINT_LINKS_MAX + 100000, "%zu", snapshot.length);
	drawn_finish(&other);
	drawn_init(&other, 40, 100, 100);
	drawn_feed(&other, snapshot.bytes, snapshot.length, SIZE_MAX);
	cr_expect_neq(drawn_style_at(&other, 0, 0)->link, 0);
	cr_expect_eq(drawn_style_at(&other, 39, 98)->link, 0);
	cr_expect_eq(drawn_row(&other, 39)[99], 'x');
	free(snapshot.bytes);
}

#include "tests/lib/drawn_same.h"
#include "tests/lib/drawn_test.h"

#include <criterion/criterion.h>
#include <errno.h>

TestSuite(screen_feed, DRAWN_SUITE);
TestSuite(screen_work, DRAWN_SUITE);
TestSuite(screen_create, DRAWN_SUITE);
TestSuite(screen_destroy, DRAWN_SUITE);
TestSuite(screen_memory, DRAWN_SUITE);
TestSuite(screen_sgr, DRAWN_SUITE);
TestSuite(screen_link, DRAWN_SUITE);
TestSuite(screen_title, DRAWN_SUITE);
TestSuite(screen_cwd, DRAWN_SUITE);
TestSuite(screen_resume_offset, DRAWN_SUITE);
TestSuite(screen_row_version, DRAWN_SUITE);

struct picture {
	const char *name;
	const char *in;
	const char *want;  /* rows, separated by bars */
	unsigned row, col; /* of the cursor */
};

static const struct picture pictures[] = {
	{"nothing", "", "", 0, 0},
	{"text", "hello", "hello", 0, 5},
	{"line feed keeps the column", "ab\ncd", "ab|  cd", 1, 4},
	{"CR LF", "ab\r\ncd", "ab|cd", 1, 2},
	{"wrap", "abcdefghij", "abcdefgh|ij", 1, 2},
	{"wrap is pending", "abcdefgh", "abcdefgh", 0, 8},
	{"CR cancels a pending wrap", "abcdefgh\rX", "Xbcdefgh", 0, 1},
	{"pending wrap and LF", "abcdefgh\nX", "abcdefgh|       X", 1, 8},
	{"EL while a wrap is pending erases nothing", "abcdefgh\x1b[KX", "abcdefgh|X", 1, 1},
	{"ED while a wrap is pending erases below only", "\r\nxy\x1b[Habcdefgh\x1b[J", "abcdefgh",
		0, 8},
	{"backspace while a wrap is pending", "abcdefgh\bX", "abcdefXh", 0, 7},
	{"no wrap", "\x1b[?7labcdefghij", "abcdefgj", 0, 8},
	{"scrolling", "a\r\nb\r\nc\r\nd\r\ne", "b|c|d|e", 3, 1},
	{"TAB", "a\tb", "a      b", 0, 8},
	{"TAB does not leave the line", "a\t\t\tb", "a      b", 0, 8},
	{"backspace", "abc\b\bX", "aXc", 0, 2},
	{"backspace stops at the edge", "ab\b\b\b\bX", "Xb", 0, 1},
	{"VT and FF are line feeds", "a\vb\fc", "a| b|  c", 2, 3},
	{"IND and NEL", "a\033Db\033Ec", "a| b|c", 2, 1},
	{"RI scrolls down at the top", "ab\x1bMcd", "  cd|ab", 0, 4},
	{"C1 as UTF-8",
		"a\xc2\x85"
		"b\xc2\x9b"
		"2;4HX",
		"a|b  X", 1, 4},
	{"raw C1 is dropped",
		"a\x85"
		"b\x9b"
		"2Hc",
		"ab2Hc", 0, 5},

	{"CUP", "\x1b[2;3HX\x1b[HY", "Y|  X", 0, 1},
	{"CUP beyond", "\x1b[99;99HX", "|||       X", 3, 8},
	{"CUP without parameters", "abc\x1b[;HX", "Xbc", 0, 1},
	{"CUU, CUD, CUF, CUB", "\x1b[B\x1b[2CX\x1b[A\x1b[DY", "  Y|  X", 0, 3},
	{"huge counts", "\x1b[2147483647B\x1b[99999999999CX\x1b[4294967295AY",
		"       Y|||       X", 0, 8},
	{"CNL and CPL", "ab\x1b[EX\x1b[FY", "Yb|X", 0, 1},
	{"CHA, HPA and VPA", "\x1b[3GX\x1b[5`Y\x1b[2dZ", "  X Y|     Z", 1, 6},
	{"HPR and VPR", "\x1b[2aX\x1b[eY", "  X|   Y", 1, 4},

	{"ED", "abc\r\ndef\r\nghi\x1b[2;2H\x1b[J", "abc|d", 1, 1},
	{"ED 1", "abc\r\ndef\r\nghi\x1b[2;2H\x1b[1J", "|  f|ghi", 1, 1},
	{"ED 2", "abc\r\ndef\x1b[2J", "", 1, 3},
	{"EL", "abcdef\x1b[3G\x1b[K", "ab", 0, 2},
	{"EL 1", "abcdef\x1b[3G\x1b[1K", "   def", 0, 2},
	{"EL 2", "abcdef\x1b[3G\x1b[2K", "", 0, 2},
	{"ECH", "abcdef\x1b[2G\x1b[3X", "a   ef", 0, 1},
	{"ICH", "abcdef\x1b[2G\x1b[2@", "a  bcdef", 0, 1},
	{"DCH", "abcdef\x1b[2G\x1b[2P", "adef", 0, 1},
	{"IL homes the column", "a\r\nb\r\nc\x1b[2;1Hxy\x1b[L", "a||xy|c", 1, 0},
	{"DL homes the column", "a\r\nb\r\nc\x1b[2;2H\x1b[M", "a|c", 1, 0},
	{"SU", "a\r\nb\r\nc\x1b[2S", "c", 2, 1},
	{"SD", "a\r\nb\r\nc\x1b[2T", "||a|b", 2, 1},
	{"SL and SR", "abcd\x1b[2 @", "cd", 0, 4},
	{"DECIC", "abcd\x1b[2G\x1b['}", "a bcd", 0, 1},
	{"DECDC", "abcd\x1b[2G\x1b['~", "acd", 0, 1},
	{"IRM", "abc\x1b[G\x1b[4hX\x1b[4lY", "XYbc", 0, 2},
	{"REP", "ab\x1b[3b", "abbbb", 0, 5},
	{"REP before any character", "\x1b[5b\x1b[2147483647b", "", 0, 0},
	{"REP of a cluster", "e\xcc\x81\x1b[2b",
		"e\xcc\x81"
		"e\xcc\x81"
		"e\xcc\x81",
		0, 3},
	{"DECALN", "\x1b[2;2H\x1b#8", "EEEEEEEE|EEEEEEEE|EEEEEEEE|EEEEEEEE", 0, 0},

	{"DECSTBM homes", "abc\x1b[2;3rX", "Xbc", 0, 1},
	{"DECSTBM scrolls", "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3H\n\nX", "a||X|d", 2, 1},
	{"DECSTBM of one line is ignored", "a\r\nb\x1b[2;2rX", "a|bX", 1, 2},
	{"DECSTBM upside down is ignored", "ab\x1b[3;2rX", "abX", 0, 3},
	{"CUU and CUD stop at the margins", "\x1b[2;3r\x1b[3H\x1b[9AX\x1b[9BY", "|X| Y", 2, 2},
	{"CUU and CUD beyond the margins", "\x1b[2;3r\x1b[4H\x1b[9AX\x1b[H\x1b[9BY", "|X|Y", 2, 1},
	{"DECOM", "\x1b[2;3r\x1b[?6hX\x1b[9HY", "|X|Y", 2, 1},

	{"DECSC and DECRC", "ab\0337\r\ncd\0338X", "abX|cd", 0, 3},
	{"DECRC without DECSC", "abc\r\nd\0338X", "Xbc|d", 0, 1},
	{"CSI s without margins saves", "ab\x1b[s\r\ncd\x1b[uX", "abX|cd", 0, 3},
	{"DECRC of a pending wrap", "01234567\0337\x1b[4;1H\0338X", "0123456X", 0, 8},
	{"charsets", "\x1b(0qx\x1b(Bq\x0e\x1b)0q\x0fq", "\xe2\x94\x80\xe2\x94\x82q\xe2\x94\x80q", 0,
		5},
	{"DECSC saves the charset", "\x1b(0\0337\x1b(Bq\0338q", "\xe2\x94\x80", 0, 1},

	{"wide characters", "\xe4\xbd\xa0\xe5\xa5\xbd!", "\xe4\xbd\xa0\xe5\xa5\xbd!", 0, 5},
	{"wide character does not fit", "abcdefg\xe4\xbd\xa0", "abcdefg|\xe4\xbd\xa0", 1, 2},
	{"wide character without wrap", "\x1b[?7labcdefg\xe4\xbd\xa0", "abcdefg", 0, 7},
	{"combining mark", "e\xcc\x81x", "e\xcc\x81x", 0, 2},
	{"combining mark on a wide character", "\xe4\xbd\xa0\xcc\x81x", "\xe4\xbd\xa0\xcc\x81x", 0,
		3},
	{"combining mark while a wrap is pending", "abcdefgh\xcc\x81x", "abcdefgh\xcc\x81|x", 1, 1},
	{"wide character whose head is overwritten", "\xe4\xbd\xa0\xe5\xa5\xbd\x1b[Gx",
		"x \xe5\xa5\xbd", 0, 1},
	{"wide character whose tail is overwritten", "\xe4\xbd\xa0\xe5\xa5\xbd\x1b[2Gx",
		" x\xe5\xa5\xbd", 0, 2},
	{"wide character over two others", "\xe4\xbd\xa0\xe5\xa5\xbd\x1b[2G\xe4\xb8\x80",
		" \xe4\xb8\x80", 0, 3},
	{"character interrupted by a control", "a\xf0\x9f\x98\nb\xe4\xbd\x1b[1mc", "a| bc", 1, 3},
	{"no-break space",
		"a\xc2\xa0"
		"b",
		"a\xc2\xa0"
		"b",
		0, 3},
	{"DECSED keeps protected cells", "a\x1b[1\"qb\x1b[0\"qc\x1b[?2J", " b", 0, 3},
	{"ED erases protected cells", "a\x1b[1\"qb\x1b[0\"qc\x1b[2J", "", 0, 3},
	{"APC, PM, SOS and DCS are swallowed",
		"a\x1b_Gf=24,s=1;AAAA\x1b\\b\x1b^tmux\x1b\\c\x1bXsos\x1b\\d\x1bPqsixel\x1b\\e",
		"abcde", 0, 5},
	{"DEL and NUL print nothing",
		"a\x7f"
		"b",
		"ab", 0, 2},
};

static void expect_picture(const struct picture *p, size_t cut)
{
	drawn_set_up();
	drawn_feed(&d, p->in, cut, SIZE_MAX);
	drawn_feed(&d, p->in + cut, strlen(p->in + cut), SIZE_MAX);
	unsigned row, col;
	screen_cursor(d.screen, &row, &col);
	cr_expect_str_eq(drawn_rows(&d), p->want, "%s, cut at %zu: %s instead of %s", p->name, cut,
		drawn_rows(&d), p->want);
	cr_expect(row == p->row && col == p->col, "%s, cut at %zu: cursor at %u, %u", p->name, cut,
		row, col);
}

/* One test per line of the table would be a hundred processes. A failure names its line. */
Test(screen_feed, pictures_at_every_cut, .timeout = 60)
{
	for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
		for (size_t cut = 0; cut <= strlen(pictures[i].in); cut++)
			expect_picture(&pictures[i], cut);
}

Test(screen_work, result_does_not_depend_on_it)
{
	struct drawn other;
	drawn_restart(6, 10, 100);
	drawn_init(&other, 6, 10, 100);
	for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
		drawn_feed(&d, pictures[i].in, strlen(pictures[i].in), SIZE_MAX);
		drawn_feed(&other, pictures[i].in, strlen(pictures[i].in), i % 5);
	}
	drawn_expect_same(&d, &other);
	drawn_finish(&other);
}

Test(screen_create, invalid_sizes_are_refused)
{
	struct screen *s;
	static const unsigned sides[][2] = {{0, 80}, {24, 0}, {SCREEN_SIDE_MAX + 1, 80},
		{24, SCREEN_SIDE_MAX + 1}, {UINT32_MAX, UINT32_MAX}};
	for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
		cr_expect_eq(
			screen_create(&s,
				&(struct screen_options){.rows = sides[i][0], .cols = sides[i][1]}),
			-EINVAL);
}

Test(screen_create, one_column_becomes_two)
{
	drawn_restart(1, 1, 100);
	cr_expect_eq(screen_cols(d.screen), SCREEN_COLS_MIN);
	cr_expect_eq(screen_rows(d.screen), 1);
}

Test(screen_create, largest_size)
{
	drawn_restart(SCREEN_SIDE_MAX, SCREEN_SIDE_MAX, 100);
	drawn_type(&d, "\x1b[1000;1000HX\x1b#8\x1b[?1049h\x1b#8");
	drawn_expect_cursor(0, 0);
}

Test(screen_destroy, null_is_allowed)
{
	screen_destroy(NULL);
}

Test(screen_destroy, unfinished_sequences_are_freed)
{
	static const char *const open[] = {"\x1b", "\x1b[1;2", "\x1b]0;title", "\x1bP$q", "\x1b_x",
		"\xe4\xbd", "\x1b[?1049h", "\x1b[22;0t\x1b]8;;http://a\a\x1b]4;1;#fff\ax\xcc\x81"};
	for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
		drawn_restart(4, 8, 100);
		drawn_type(&d, open[i]);
	}
}

Test(screen_memory, idle_screen_takes_little)
{
	struct screen *s;
	size_t before = drawn_heap_used();
	cr_assert_eq(screen_create(&s,
			     &(struct screen_options){.rows = 24, .cols = 80, .scrollback = 10000}),
		0);
	size_t used = drawn_heap_used() - before;
	cr_expect_lt(used, 100 << 10, "%zu", used);
	cr_expect_lt(screen_memory(s), 100 << 10, "%zu", screen_memory(s));
	screen_destroy(s);
}

Test(screen_memory, is_about_the_heap_used)
{
	drawn_tear_down();
	size_t before = drawn_heap_used();
	drawn_restart(24, 80, 10000);
	for (unsigned i = 0; i < 20000; i++) {
		char line[128];
		snprintf(line, sizeof line,
			"\x1b[38;5;%um%u some text of a line\x1b[m and more\r\n", i % 256, i);
		drawn_type(&d, line);
	}
	size_t used = drawn_heap_used() - before, reported = screen_memory(d.screen);
	cr_expect_gt(reported, used / 2, "%zu of %zu", reported, used);
	cr_expect_lt(reported, used * 2, "%zu of %zu", reported, used);
}

struct sgr {
	const char *in;
	struct style want;
};

static const struct sgr sgrs[] = {
	{"\x1b[1m", {.flags = STYLE_BOLD}},
	{"\x1b[2;3;5;7;8;9;53m",
		{.flags = STYLE_DIM | STYLE_ITALIC | STYLE_BLINK | STYLE_INVERSE | STYLE_CONCEAL |
				STYLE_STRIKE | STYLE_OVERLINE}},
	{"\x1b[1;2;22m", {0}},
	{"\x1b[31;42m", {.fg = COLOR_BASIC | 1, .bg = COLOR_BASIC | 2}},
	{"\x1b[97;107m", {.fg = COLOR_BASIC | 15, .bg = COLOR_BASIC | 15}},
	{"\x1b[31;42;39;49m", {0}},
	{"\x1b[38;5;200m", {.fg = COLOR_INDEXED | 200}},
	{"\x1b[38;2;1;2;3m", {.fg = COLOR_RGB | 0x010203}},
	{"\x1b[38:2::1:2:3m", {.fg = COLOR_RGB | 0x010203}},
	{"\x1b[38:2:1:2:3m", {.fg = COLOR_RGB | 0x020300}},
	{"\x1b[48:5:7m", {.bg = COLOR_INDEXED | 7}},
	{"\x1b[38;2;1;2;3;1m", {.fg = COLOR_RGB | 0x010203, .flags = STYLE_BOLD}},
	{"\x1b[4m", {.flags = STYLE_UNDERLINE | STYLE_EXTENDED, .underline = UNDERLINE_SINGLE}},
	{"\x1b[4:3;58:5:9m",
		{.flags = STYLE_UNDERLINE | STYLE_EXTENDED,
			.underline = UNDERLINE_CURLY,
			.underline_color = COLOR_INDEXED | 9}},
	{"\x1b[21m", {.flags = STYLE_UNDERLINE | STYLE_EXTENDED, .underline = UNDERLINE_DOUBLE}},
	{"\x1b[4:3;24m", {0}},
	{"\x1b[4:0m", {0}},
	{"\x1b[1;31;44;4;9m\x1b[m", {0}},
	{"\x1b[1;31m\x1b[0;32m", {.fg = COLOR_BASIC | 2}},
	{"\x1b[;1m", {.flags = STYLE_BOLD}},
	{"\x1b[?1m\x1b[>1m", {0}},
	{"\x1b[200;999;77m", {0}},
};

Test(screen_sgr, examples)
{
	for (size_t i = 0; i < sizeof sgrs / sizeof *sgrs; i++) {
		drawn_restart(2, 8, 100);
		drawn_type(&d, sgrs[i].in);
		drawn_type(&d, "x");
		cr_expect_eq(memcmp(drawn_style_at(&d, 0, 0), &sgrs[i].want, sizeof(struct style)),
			0, "%s", sgrs[i].in + 1);
		drawn_check(&d);
	}
}

static size_t link_at(unsigned x, const char **ret_uri)
{
	size_t length;
	*ret_uri = drawn_link(d.screen, drawn_style_at(&d, 0, x)->link, false, &length);
	return *ret_uri ? length : 0;
}

Test(screen_link, is_returned_for_its_cells)
{
	const char *uri;
	drawn_type(&d, "a\x1b]8;;http://a/;b\x1b\\bc\x1b]8;;\x1b\\d");
	cr_assert_eq(link_at(1, &uri), 11);
	cr_expect_eq(memcmp(uri, "http://a/;b", 11), 0);
	cr_expect_eq(drawn_style_at(&d, 0, 1)->link, drawn_style_at(&d, 0, 2)->link);
	cr_expect_eq(link_at(0, &uri) + link_at(3, &uri), 0);
}

Test(screen_link, same_id_and_address_give_the_same_link)
{
	drawn_type(&d,
		"\x1b]8;x=y:id=1;http://a\aa\x1b]8;;\a \x1b]8;id=1;http://a\ab\x1b]8;id=2;http://a\ac"
		"\x1b]8;;http://a\ad\x1b]8;;\a\x1b]8;;http://a\ae");
	uint32_t link[6];
	for (unsigned x = 0; x < 6; x++)
		link[x] = drawn_style_at(&d, 0, x)->link;
	cr_expect_eq(link[0], link[2]);
	cr_expect_neq(link[0], link[3]);
	cr_expect_neq(link[3], link[4]);
	cr_expect_neq(link[4], link[5], "links without an id differ");
}

Test(screen_link, too_long_ones_are_ignored)
{
	const char *uri;
	drawn_type(&d, "\x1b]8;;");
	drawn_type_many(&d, "x", SCREEN_LINK_MAX);
	drawn_type(&d, "\aa\x1b]8;;\a\x1b]8;;");
	drawn_type_many(&d, "x", SCREEN_LINK_MAX + 1);
	drawn_type(&d, "\ab");
	cr_expect_eq(link_at(0, &uri), SCREEN_LINK_MAX);
	cr_expect_eq(link_at(1, &uri), 0);
}

Test(screen_link, malformed_ones_do_no_harm)
{
	drawn_type(&d,
		"\x1b]8\a\x1b]8;\a\x1b]8;id=\a\x1b]8;id=;\a\x1b]8;:::;\a\x1b]8;id;http://a\ax\x1b]8;;\a");
	drawn_type(&d, "\x1b]8;id=:id=2;http://b\ay\x1b]8;=;http://c\az");
}

Test(screen_title, stack_is_limited)
{
	char title[32];
	for (unsigned i = 0; i < 100; i++) {
		snprintf(title, sizeof title, "\x1b]2;%u\a\x1b[22;2t", i);
		drawn_type(&d, title);
	}
	cr_expect_eq(d.screen->titles.count, SCREEN_TITLES_MAX);
	drawn_type_many(&d, "\x1b[23;2t", SCREEN_TITLES_MAX);
	cr_expect_str_eq(screen_title(d.screen), "90");
	drawn_type(&d, "\x1b[23;2t");
	cr_expect_str_eq(screen_title(d.screen), "90");
}

Test(screen_cwd, long_paths)
{
	drawn_type(&d, "\x1b]7;file:///");
	drawn_type_many(&d, "x", SCREEN_CWD_MAX - 1);
	drawn_type(&d, "\a");
	cr_expect_eq(strlen(screen_cwd(d.screen)), SCREEN_CWD_MAX);
	drawn_type(&d, "\x1b]7;file:///tmp\a\x1b]7;file:///");
	drawn_type_many(&d, "%41", SCREEN_CWD_MAX);
	drawn_type(&d, "\a");
	cr_expect_str_eq(screen_cwd(d.screen), "/tmp", "a path that is too long is ignored");
}

/* A path that is not UTF-8 cannot be sent to clients. */
Test(screen_cwd, paths_that_are_not_utf_8_are_ignored)
{
	static const char *const paths[] = {"%ff", "%c2", "%c2%9b", "%ed%a0%80", "%e4%bd", "%c0%af"};
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		drawn_restart(2, 8, 100);
		drawn_type(&d, "\x1b]7;file:///");
		drawn_type(&d, paths[i]);
		drawn_type(&d, "\a");
		cr_expect_str_eq(screen_cwd(d.screen), "", "%s", paths[i]);
	}
}

Test(screen_resume_offset, is_the_start_of_an_unfinished_sequence_or_character)
{
	static const struct {
		const char *in;
		uint64_t want;
	} cases[] = {{"ab", 2}, {"ab\x1b", 2}, {"ab\x1b[1;", 2}, {"ab\x1b[1m", 6},
		{"ab\xe4\xbd", 2}, {"ab\xe4\xbd\xa0", 5}, {"ab\x1b]0;title", 2},
		{"ab\x1b]0;t\x1b", 7}, {"ab\xc2\x9b", 2}, {"\x1bPq\xe4", 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		drawn_restart(2, 8, 100);
		drawn_type(&d, cases[i].in);
		cr_expect_eq(screen_resume_offset(d.screen), cases[i].want, "case %zu", i);
	}
}

Test(screen_row_version, changes_for_changed_rows)
{
	drawn_type(&d, "a\r\nb\r\nc");
	uint64_t before = screen_version(d.screen);
	drawn_type(&d, "\x1b[2Hx");
	cr_expect_gt(screen_version(d.screen), before);
	cr_expect_leq(screen_row_version(d.screen, 0), before);
	cr_expect_gt(screen_row_version(d.screen, 1), before);
	cr_expect_leq(screen_row_version(d.screen, 2), before);
}

Test(screen_row_version, changes_for_all_rows_when_they_move)
{
	static const char *const moves[] = {
		"\x1b[4H\n", "\x1b[H\x1bM", "\x1b[L", "\x1b[S", "\x1b[?1049h", "\033c"};
	for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
		drawn_restart(4, 8, 100);
		drawn_type(&d, "a\r\nb\r\nc");
		uint64_t before = screen_version(d.screen);
		drawn_type(&d, moves[i]);
		for (unsigned y = 0; y < 4; y++)
			cr_expect_gt(screen_row_version(d.screen, y), before, "%zu, row %u", i, y);
	}
}

#include "ring/search/search.h"
#include "tests/lib/drawn_test.h"
#include "tests/lib/memory_ring.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pattern *pattern;
static struct search found;
static struct ring r;

static void set_up(void)
{
	drawn_restart(3, 10, 100);
}

static void tear_down(void)
{
	drawn_tear_down();
	pattern_destroy(pattern);
	search_finish(&found);
	pattern = NULL;
}

TestSuite(search_screen, .init = set_up, .fini = tear_down);
TestSuite(search_border, .fini = tear_down);

static void set_up_ring(void)
{
	memory_ring_make(&r, RING_SIZE_MIN);
}

static void tear_down_ring(void)
{
	tear_down();
	ring_close(&r);
}

TestSuite(search_ring, .init = set_up_ring, .fini = tear_down_ring, .timeout = 60);

static void begin(const char *text, unsigned flags, unsigned limit, uint64_t work)
{
	const char *problem;
	search_finish(&found);
	pattern_destroy(pattern);
	pattern = NULL;
	cr_assert_eq(pattern_create(&pattern, text, strlen(text), flags, &problem), 0);
	found = (struct search){.pattern = pattern, .limit = limit, .work = work};
}

/* Matches as "line:column+columns=text" or "@offset:column+columns=text". */
static const char *format_results(void)
{
	static char text[4096];
	size_t at = 0;
	text[0] = '\0';
	for (size_t i = 0; i < found.count; i++) {
		const struct search_match *m = &found.matches[i];
		if (m->line == SEARCH_NO_LINE)
			at += (size_t)snprintf(text + at, sizeof text - at, "@%d", (int)m->offset);
		else
			at += (size_t)snprintf(text + at, sizeof text - at, "%d", (int)m->line);
		at += (size_t)snprintf(text + at, sizeof text - at, ":%u+%u=%.*s ", m->column,
			m->columns, (int)m->match_length, m->match);
	}
	return text;
}

static const char *search(const char *text, unsigned flags)
{
	begin(text, flags, 100, UINT64_MAX);
	cr_assert_eq(search_screen(&found, d.screen, SEARCH_NO_LINE), 0);
	cr_assert_eq(found.next_line, 0);
	return format_results();
}

Test(search_screen, newest_line_first_and_from_left_to_right)
{
	drawn_type(&d, "foo\r\nbar foo\r\nx\r\nfoo foo\r\nbaz");
	cr_expect_str_eq(search("foo", 0), "3:0+3=foo 3:4+3=foo 1:4+3=foo 0:0+3=foo ");
	cr_expect_str_eq(search("FOO", 0), "");
	cr_expect_str_eq(search("nothing", 0), "");
}

Test(search_screen, soft_wraps_are_joined)
{
	drawn_type(&d, "12345678foobar\r\nx");
	cr_expect_str_eq(search("foobar", 0), "0:8+6=foobar ");
	cr_expect_str_eq(search("bar", 0), "1:1+3=bar ");
	drawn_type(&d, "\r\n\n\n\n");
	cr_expect_str_eq(search("foobar", 0), "0:8+6=foobar ");
	cr_assert_eq(found.matches[0].text_length, 14);
	cr_assert_eq(memcmp(found.matches[0].text, "12345678foobar", 14), 0);
}

Test(search_screen, hard_line_ends_are_not_joined)
{
	drawn_type(&d, "1234567foo\r\nbar");
	cr_expect_str_eq(search("foobar", 0), "");
}

Test(search_screen, wide_and_combining_characters_count_as_columns)
{
	drawn_type(&d,
		"\xe7\x95\x8c\xe7\x95\x8cx e\xcc\x81"
		"z");
	cr_expect_str_eq(search("x", 0), "0:4+1=x ");
	cr_expect_str_eq(search("\xe7\x95\x8cx", 0), "0:2+3=\xe7\x95\x8cx ");
	cr_expect_str_eq(search("\xcc\x81z", 0), "0:6+2=\xcc\x81z ");
	/* A column left free before a wide character is no blank. */
	drawn_restart(3, 10, 0);
	drawn_type(&d, "123456789\xe7\x95\x8c");
	cr_expect_str_eq(search("9\xe7\x95\x8c", 0), "0:8+3=9\xe7\x95\x8c ");
}

Test(search_screen, case_and_expressions)
{
	drawn_type(&d, "Error: 17");
	cr_expect_str_eq(search("eRROR", PATTERN_ANY_CASE), "0:0+5=Error ");
	cr_expect_str_eq(search("[0-9]+$", PATTERN_REGEX), "0:7+2=17 ");
	cr_expect_str_eq(search("^\\w+:", PATTERN_REGEX), "0:0+6=Error: ");
	cr_expect_str_eq(search("x*", PATTERN_REGEX), "");
}

Test(search_screen, trailing_blanks_do_not_count)
{
	drawn_type(&d, "foo   \r\n   ");
	cr_expect_str_eq(search("o$", PATTERN_REGEX), "0:2+1=o ");
	cr_expect_str_eq(search("o ", 0), "");
}

Test(search_screen, line_numbers_are_absolute)
{
	drawn_restart(2, 10, 2);
	for (char c = 'a'; c <= 'j'; c++)
		drawn_type(&d, (char[]){'x', c, '\r', '\n', '\0'});
	cr_expect_str_eq(search("x[a-j]", PATTERN_REGEX), "9:0+2=xj 8:0+2=xi 7:0+2=xh ");
}

Test(search_screen, match_has_the_offset_of_its_line)
{
	drawn_type(&d, "one\r\ntwo\r\n\r\n\r\n\r\n");
	search("two", 0);
	cr_assert_eq(found.count, 1);
	cr_expect_geq(found.matches[0].offset, 3);
	cr_expect_leq(found.matches[0].offset, 5);
}

Test(search_screen, continues_after_the_limit_of_matches)
{
	for (char c = 'a'; c <= 'f'; c++)
		drawn_type(&d, (char[]){'x', c, '\r', '\n', '\0'});
	begin("x", 0, 2, UINT64_MAX);
	cr_assert_eq(search_screen(&found, d.screen, SEARCH_NO_LINE), 0);
	cr_expect_str_eq(format_results(), "5:0+1=x 4:0+1=x ");
	cr_assert_eq(found.next_line, 4);
	begin("x", 0, 100, UINT64_MAX);
	cr_assert_eq(search_screen(&found, d.screen, 4), 0);
	cr_expect_str_eq(format_results(), "3:0+1=x 2:0+1=x 1:0+1=x 0:0+1=x ");
	cr_assert_eq(found.next_line, 0);
}

Test(search_screen, continues_after_the_limit_of_work)
{
	uint64_t before = SEARCH_NO_LINE;
	unsigned requests = 0, matches = 0;
	for (unsigned i = 0; i < 50; i++)
		drawn_type(&d, "needle\r\n");
	do {
		begin("needle", 0, 100, 40);
		cr_assert_eq(search_screen(&found, d.screen, before), 0);
		cr_assert_lt(found.next_line, before);
		before = found.next_line;
		matches += (unsigned)found.count;
		requests++;
	} while (before > 0);
	cr_expect_eq(matches, 50);
	cr_expect_gt(requests, 10);
}

Test(search_screen, nothing_before_the_oldest_line)
{
	drawn_type(&d, "x");
	begin("x", 0, 10, UINT64_MAX);
	cr_assert_eq(search_screen(&found, d.screen, 0), 0);
	cr_assert(found.count == 0 && found.next_line == 0);
}

Test(search_screen, endless_line_is_searched_in_pieces)
{
	drawn_restart(3, 10, 2000);
	for (unsigned i = 0; i < 1000; i++)
		drawn_type(&d, "012345needle9");
	begin("needle", 0, 10000, UINT64_MAX);
	cr_assert_eq(search_screen(&found, d.screen, SEARCH_NO_LINE), 0);
	/* A match on the border of two pieces is not found. */
	cr_expect_geq(found.count, 996);
	for (size_t i = 0; i < found.count; i++)
		cr_expect_leq(found.matches[i].text_length, SEARCH_TEXT_MAX);
}

Test(search_screen, long_match_and_long_line_are_cut)
{
	drawn_restart(3, 1000, 0);
	for (unsigned i = 0; i < 100; i++)
		drawn_type(&d, "0123456789");
	begin(".*", PATTERN_REGEX, 10, UINT64_MAX);
	cr_assert_eq(search_screen(&found, d.screen, SEARCH_NO_LINE), 0);
	cr_assert_eq(found.count, 1);
	cr_expect(found.matches[0].columns == 1000);
	cr_expect(found.matches[0].match_length == SEARCH_MATCH_MAX);
	cr_expect(found.matches[0].text_length == SEARCH_TEXT_MAX);
}

Test(search_screen, hostile_patterns_end_in_time, .timeout = 30)
{
	drawn_restart(50, 1000, 1000);
	for (unsigned i = 0; i < 3000; i++)
		drawn_type(&d,
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	static const char *const evil[] = {
		"(a*)*b", "(a|aa)+$b", "(a?){150}a{150}b", "(.*)(.*)(.*)(.*)x", "a{0,255}b"};
	for (size_t i = 0; i < sizeof evil / sizeof *evil; i++) {
		begin(evil[i], PATTERN_REGEX, 1000, 100000);
		cr_assert_eq(search_screen(&found, d.screen, SEARCH_NO_LINE), 0);
		cr_expect_eq(found.count, 0);
		cr_expect_gt(found.next_line, 0, "%s", evil[i]);
	}
}

static const char *search_raw(const char *text, unsigned flags)
{
	begin(text, flags, 100, UINT64_MAX);
	cr_assert_eq(search_ring(&found, &r.bytes, UINT64_MAX), 0);
	cr_assert_eq(found.next_offset, 0);
	return format_results();
}

Test(search_ring, sequences_are_no_text)
{
	memory_ring_say(&r, "one \033[31mt\033]0;two\atwo\033[m\r\nthree\xe7\x95\x8c!\n");
	cr_expect_str_eq(search_raw("ttwo", 0), "@0:4+4=ttwo ");
	cr_expect_str_eq(search_raw("e\xe7\x95\x8c!", 0), "@26:4+4=e\xe7\x95\x8c! ");
	cr_expect_str_eq(search_raw("two", PATTERN_ANY_CASE), "@0:5+3=two ");
	cr_expect_str_eq(search_raw("31", 0), "");
}

Test(search_ring, cursor_moves)
{
	memory_ring_say(&r, "ab\b\b\bcd\ta\033[3Cb\r50%\r60%\033[5;5Hxy\033Ez  \n");
	cr_expect_str_eq(search_raw("^cd      a   b$", PATTERN_REGEX), "@5:0+13=cd      a   b ");
	cr_expect_str_eq(search_raw("^[0-9]+%$", PATTERN_REGEX), "@19:0+3=60% @15:0+3=50% ");
	cr_expect_str_eq(search_raw("^(xy|z)$", PATTERN_REGEX), "@32:0+1=z @28:0+2=xy ");
}

Test(search_ring, newest_first_over_many_pieces)
{
	char line[32];
	for (unsigned i = 0; i < 20000; i++)
		memory_ring_put(&r, line,
			(size_t)snprintf(line, sizeof line,
				i % 1000 == 7 ? "needle%u\r\n" : "hay%u\r\n", i));
	begin("needle[0-9]+", PATTERN_REGEX, 3, UINT64_MAX);
	cr_assert_eq(search_ring(&found, &r.bytes, UINT64_MAX), 0);
	cr_assert_eq(found.count, 3);
	cr_expect_eq(memcmp(found.matches[0].match, "needle19007", 11), 0);
	cr_expect_eq(memcmp(found.matches[2].match, "needle17007", 11), 0);
	char text[11];
	cr_expect(stream_copy(&r.bytes, found.matches[1].offset, text, sizeof text));
	cr_expect_arr_eq(text, "needle18007", sizeof text);
	uint64_t next = found.next_offset;
	cr_expect_eq(next, found.matches[2].offset);
	begin("needle[0-9]+", PATTERN_REGEX, 100, UINT64_MAX);
	cr_assert_eq(search_ring(&found, &r.bytes, next), 0);
	cr_assert_gt(found.count, 0);
	cr_expect_eq(memcmp(found.matches[0].match, "needle16007", 11), 0);
}

Test(search_ring, continues_after_the_limit_of_work)
{
	unsigned requests = 0, matches = 0;
	uint64_t before = UINT64_MAX;
	for (unsigned i = 0; i < 4000; i++)
		memory_ring_say(&r, "\033[1mneedle\033[m\r\n");
	do {
		begin("needle", 0, 10000, 3000);
		cr_assert_eq(search_ring(&found, &r.bytes, before), 0);
		cr_assert_lt(found.next_offset, before);
		before = found.next_offset;
		matches += (unsigned)found.count;
		requests++;
	} while (before > 0);
	/* The oldest line may have lost its beginning, so its rest may match or not. */
	cr_expect_geq(matches, RING_SIZE_MIN / 16 - 1 > 4000 ? 4000 : RING_SIZE_MIN / 16 - 1);
	cr_expect_gt(requests, 5);
}

Test(search_ring, output_without_any_line_end)
{
	for (unsigned i = 0; i < 3000; i++)
		memory_ring_say(&r, "needle..");
	begin("needle", 0, 10000, UINT64_MAX);
	cr_assert_eq(search_ring(&found, &r.bytes, UINT64_MAX), 0);
	/* A match on the border of two pieces is not found. */
	cr_expect_geq(found.count, 2990);
	cr_expect_eq(found.next_offset, 0);
}

Test(search_ring, random_bytes)
{
	uint64_t state = 99;
	for (unsigned i = 0; i < RING_SIZE_MIN * 2 / 8; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		memory_ring_put(&r, &(uint64_t){state ^ state >> 29}, 8);
	}
	begin("[a-z]+|.", PATTERN_REGEX, 4096, UINT64_MAX);
	cr_assert_eq(search_ring(&found, &r.bytes, UINT64_MAX), 0);
	cr_expect_gt(found.count, 1000);
}

Test(search_border, starts_with_the_oldest_line)
{
	drawn_restart(2, 10, 2);
	cr_expect_eq(search_border(d.screen), 0);
	drawn_type(&d, "a\r\nb\r\nc\r\nd\r\ne\r\nf");
	uint64_t border = search_border(d.screen);
	cr_expect(border >= 5 && border <= 6, "%d", (int)border);
}

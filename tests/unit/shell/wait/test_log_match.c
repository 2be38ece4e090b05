#include "shell/wait/log_match.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct log_match m;
static struct pattern *pattern;

static void begin(const char *text, unsigned flags)
{
	const char *problem;
	cr_assert_eq(pattern_create(&pattern, text, strlen(text), flags, &problem), 0);
	log_match_init(&m, pattern, (flags & PATTERN_REGEX) && log_match_needs_line_end(text));
}

static bool feed(const char *text)
{
	return log_match_feed(&m, text, strlen(text));
}

static void assert_text(const char *line, const char *match)
{
	char text[256];
	cr_assert_eq(log_match_text(&m, 0, m.count, text), strlen(line));
	cr_assert_eq(memcmp(text, line, strlen(line)), 0);
	cr_assert_eq(log_match_text(&m, m.match.start, m.match.end, text), strlen(match));
	cr_assert_eq(memcmp(text, match, strlen(match)), 0);
	pattern_destroy(pattern);
}

Test(log_match, match_across_pieces)
{
	begin("ready", 0);
	cr_assert_not(feed("nothing\nalmost rea"));
	cr_assert_not(feed(""));
	cr_assert(feed("dy, really\nnext"));
	assert_text("almost ready, really", "ready");
}

Test(log_match, incomplete_line_counts)
{
	begin("name?", 0);
	cr_assert(feed("name? "));
	assert_text("name? ", "name?");
}

Test(log_match, line_end_is_waited_for)
{
	begin("port [0-9]+$", PATTERN_REGEX);
	cr_assert_not(feed("port 80"));
	cr_assert(feed("80\r\n"));
	assert_text("port 8080", "port 8080");
	begin("x$", PATTERN_REGEX);
	cr_assert_not(feed("x"));
	cr_assert(log_match_end(&m));
	assert_text("x", "x");
}

Test(log_match, lines_are_separate)
{
	begin("ab", 0);
	cr_assert_not(feed("a\nb\na"));
	cr_assert_not(feed("\nb"));
	cr_assert_not(log_match_end(&m));
	pattern_destroy(pattern);
}

Test(log_match, columns_are_code_points)
{
	begin("d.r", PATTERN_REGEX);
	cr_assert(feed("f\xc3\xbcr d\xe2\x82\xacr\n"));
	assert_text("f\xc3\xbcr d\xe2\x82\xacr", "d\xe2\x82\xacr");
}

Test(log_match, end_of_a_very_long_line_is_searched)
{
	begin("needle", 0);
	for (unsigned i = 0; i < 3 * LOG_MATCH_LINE; i++)
		cr_assert_not(feed("x"));
	cr_assert(feed("needle"));
	cr_assert_leq(m.count, LOG_MATCH_LINE);
	pattern_destroy(pattern);
	begin("needle", 0);
	size_t size = 10 * LOG_MATCH_LINE;
	char *text = malloc(size);
	cr_assert_not_null(text);
	memset(text, 'x', size);
	memcpy(text + size / 2, "needle", 6);
	cr_assert(log_match_feed(&m, text, size));
	free(text);
	pattern_destroy(pattern);
}

Test(log_match, trailing_dollar_needs_the_line_end)
{
	cr_assert(log_match_needs_line_end("a$"));
	cr_assert(log_match_needs_line_end("$"));
	cr_assert(log_match_needs_line_end("a\\\\$"));
	cr_assert_not(log_match_needs_line_end("a\\$"));
	cr_assert_not(log_match_needs_line_end("a"));
	cr_assert_not(log_match_needs_line_end(""));
}

#include "ring/search/finder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct finder f;
static struct pattern *pattern;

static void finish(void)
{
	if (pattern)
		finder_finish(&f);
	pattern_destroy(pattern);
	pattern = NULL;
}

TestSuite(finder, .fini = finish, .timeout = 60);

/* Search for another pattern; the rest as finder_init(). */
static void begin(const char *text, uint64_t offset, uint64_t from, bool needs_line_end)
{
	const char *problem;
	finish();
	cr_assert_eq(pattern_create(&pattern, text, strlen(text), PATTERN_REGEX, &problem), 0, "%s",
		problem);
	finder_init(&f, pattern, offset, from, needs_line_end);
}

/* The output is fed as one byte and the rest, cut at every place. */
static const struct {
	const char *pattern, *output;
	const char *text;    /* of the match; NULL: no match */
	uint64_t start, end; /* its bytes */
	bool settled;        /* only after a flush */
} cases[] = {
	{"b+", "abbbc", "b", 1, 2}, /* settled without a flush; test with another order */
	{"^b", "a\r\nb\r\n", "b", 3, 4},
	{"^b", "ab\r\n", NULL, 0, 0},
	{"ready", "\033[1mre\033[0;31mad\033[my", "ready", 4, 19},
	{"ready", "\033]0;ready\area", NULL, 0, 0},
	{"ready", "\033Pready\033\\\033_ready\033\\x", NULL, 0, 0},
	{"\xc3\xa4\xe4\xb8\x96.", "x\xc3\xa4\xe4\xb8\x96\xf0\x9f\x98\x80z",
		"\xc3\xa4\xe4\xb8\x96\xf0\x9f\x98\x80", 1, 10},
	{"ac", "ab\bc", "ac", 0, 4},
	{"60%", "50%\r60%", "60%", 4, 7},
	{"50%.*60%", "50%\r60%", NULL, 0, 0},
	{"a b", "a\033[Cb", "a b", 0, 5},
	{"ab", "a\033[5;5Hb", NULL, 0, 0},
	{"a {7}b", "a\tb", "a       b", 0, 3},
	{"a$", "ab\na\n", "a", 3, 4},
	{"\\? $", "sure? ", "? ", 4, 6, true},
	{"\\?$", "sure?\r\n", "?", 4, 5},
	{"a+$", "aa\nb", "aa", 0, 2},
};

static bool ends_with_line(const char *text)
{
	return text[strlen(text) - 1] == '$';
}

/* Feed the output in two pieces, or byte by byte (cut 0). Returns whether the pattern was found. */
static bool feed(const char *output, size_t cut)
{
	size_t length = strlen(output);
	const uint8_t *bytes = (const uint8_t *)output;
	if (cut > 0) {
		finder_feed(&f, bytes, cut);
		return f.found || finder_feed(&f, bytes + cut, length - cut);
	}
	for (size_t i = 0; i < length && !f.found; i++)
		finder_feed(&f, bytes + i, 1);
	return f.found;
}

Test(finder, cases)
{
	char text[64];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (size_t cut = 0; cut <= strlen(cases[i].output); cut++) {
			begin(cases[i].pattern, 1000, 0, ends_with_line(cases[i].pattern));
			bool found = feed(cases[i].output, cut);
			if (cases[i].settled) {
				cr_expect_not(found, "%zu: cut at %zu", i, cut);
				found = finder_flush(&f);
			}
			cr_expect_eq(found, cases[i].text != NULL, "%zu: cut at %zu", i, cut);
			size_t length = found ? finder_text(&f, text, sizeof text) : 0;
			text[length] = '\0';
			/* How many there are depends on the pieces. */
			if (found && strcmp(cases[i].pattern, "b+") == 0)
				cr_expect(text[0] == 'b' && f.start == 1001 &&
					f.end == 1001 + length);
			else if (found && cases[i].text)
				cr_expect(strcmp(text, cases[i].text) == 0 &&
						f.start == 1000 + cases[i].start &&
						f.end == 1000 + cases[i].end,
					"%zu: cut at %zu: %s, %llu to %llu", i, cut, text,
					(unsigned long long)f.start, (unsigned long long)f.end);
		}
	}
}

Test(finder, text_before_the_start_does_not_count)
{
	begin("a+", 10, 13, false);
	cr_expect_not(finder_feed(&f, (const uint8_t *)"\033[0", 3));
	cr_expect_not(finder_feed(&f, (const uint8_t *)"m", 1), "m ends a sequence");
	cr_expect(finder_feed(&f, (const uint8_t *)"aa", 2));
	cr_expect_eq(f.start, 14);
	begin("a+", 10, 12, false);
	cr_expect_not(finder_feed(&f, (const uint8_t *)"aa", 2));
}

Test(finder, match_at_the_end_of_a_long_line)
{
	char many[FINDER_LINE * 3];
	memset(many, 'a', sizeof many);
	begin("x9+", 0, 0, false);
	cr_expect_not(finder_feed(&f, (const uint8_t *)many, sizeof many));
	cr_expect(finder_feed(&f, (const uint8_t *)"x99", 3));
	cr_expect_eq(f.start, sizeof many);
	cr_expect_eq(f.end, sizeof many + 3);
	/* A match in the middle is found too. */
	memcpy(many + FINDER_LINE - 1, "x9", 2);
	begin("x9+", 0, 0, false);
	cr_expect(finder_feed(&f, (const uint8_t *)many, sizeof many));
	cr_expect_eq(f.start, FINDER_LINE - 1);
}

Test(finder, lost_output_separates_text)
{
	begin("ab", 0, 0, false);
	cr_expect_not(finder_feed(&f, (const uint8_t *)"a\033[", 3));
	finder_skip(&f, 100);
	cr_expect_eq(finder_offset(&f), 100);
	cr_expect_not(finder_feed(&f, (const uint8_t *)"b", 1));
	cr_expect(finder_feed(&f, (const uint8_t *)"ab", 2));
	cr_expect_eq(f.start, 101);
}

/* Costly patterns in pieces: the work stays below the announced maximum. */
Test(finder, work_is_at_most_the_announced_maximum)
{
	static const struct {
		const char *pattern, *output;
	} costly[] = {{"(a?){100}b", "a"}, {"(a| )*c", "a\033[64C"}, {".*x", "\033[C"},
		{"(.?){100}x", "a\n"}, {" +x", "\t"}, {".[\\d\\s\\d\\s\\d\\s\\d]x", "ab\t"},
		{".{200}x", "a"}};
	for (size_t i = 0; i < sizeof costly / sizeof *costly; i++) {
		char many[4000];
		size_t size = strlen(costly[i].output);
		for (size_t at = 0; at < sizeof many; at++)
			many[at] = costly[i].output[at % size];
		begin(costly[i].pattern, 0, 0, false);
		for (size_t at = 0, piece = 1; at < sizeof many; at += piece, piece *= 2) {
			piece = piece < sizeof many - at ? piece : sizeof many - at;
			uint64_t most = f.done + finder_max_work(&f, piece);
			cr_assert_not(finder_feed(&f, (const uint8_t *)many + at, piece));
			cr_expect_leq(f.done, most, "%zu: %zu bytes", i, piece);
		}
		cr_expect_gt(f.done, sizeof many);
	}
}

/* The line was searched, then part of it was erased: it is searched again. */
Test(finder, changed_line_is_searched_again)
{
	begin("foo$", 0, 0, true);
	finder_feed(&f, (const uint8_t *)"foox", 4);
	cr_expect_not(finder_flush(&f));
	cr_expect_not(finder_has_unsearched(&f));
	finder_feed(&f, (const uint8_t *)"\b \b", 3);
	cr_expect(finder_has_unsearched(&f));
	cr_expect(finder_flush(&f));
}

Test(finder, cursor_move_counts_as_a_few_blanks)
{
	begin("a {64}b", 0, 0, false);
	cr_expect(finder_feed(&f, (const uint8_t *)"a\033[999Cb", 8));
}

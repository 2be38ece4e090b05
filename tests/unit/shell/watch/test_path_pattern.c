/* Patterns of paths: the wildcards, where they may stand, and that matching is fast. */
#include "shell/watch/path_pattern.h"

#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

static bool matches(const char *text, const char *path)
{
	struct path_pattern p;
	path_pattern_prepare(&p, text, strlen(text));
	return path_pattern_matches(&p, path, strlen(path));
}

Test(path_pattern_matches, table)
{
	static const struct {
		const char *pattern, *path;
		bool want;
	} cases[] = {
		{"*.ts", "/w/a.ts", true},
		{"*.ts", "/w/a.tsx", false},
		{"*.ts", "/w/a.ts/b", true},
		{"*.ts", "/w/.ts", true},
		{".git", "/w/.git", true},
		{".git", "/w/.git/index", true},
		{".git", "/w/.github", false},
		{".git", "/w/x.git", false},
		{"src/*.c", "/w/src/a.c", true},
		{"src/*.c", "/w/src/a/b.c", false},
		{"src/**.c", "/w/src/a/b.c", true},
		{"src/**/b.c", "/w/src/a/x/b.c", true},
		{"src/**/b.c", "/w/src/b.c", false},
		{"?", "/w/ab", true}, /* "w" */
		{"??", "/w/ab", true},
		{"???", "/w/ab", false},
		{"a?b", "/a/b", false},
		{"?x", "/\xc3\xa4x", true},
		{"??x", "/\xc3\xa4x", false},
		{"*", "/w", true},
		{"**", "/", true},
		{"/w/a", "/w/a", true},
		{"/a", "/w/a", false},
		{"build/", "/w/build/x", true},
		{"***", "/w/a/b", true},
		{"a*b*c", "/aXbYc", true},
		{"a*b*c", "/aXbY", false},
		{"a.b", "/axb", false},
		{"a", "", false},
		{"*", "", true},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(matches(cases[i].pattern, cases[i].path), cases[i].want, "%s in %s",
			cases[i].pattern, cases[i].path);
}

Test(path_pattern_is_valid, table)
{
	static const char *const wrong[] = {"", " ", "\t\n", "[a]", "a{b", "}", "]"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		cr_expect_not(path_pattern_is_valid(wrong[i], strlen(wrong[i])), "%s", wrong[i]);
	cr_expect_not(path_pattern_is_valid("a\0b", 3));
	cr_expect(path_pattern_is_valid("a b*", 4));
	char longest[PATH_PATTERN_MAX + 1];
	memset(longest, '*', sizeof longest);
	cr_expect(path_pattern_is_valid(longest, PATH_PATTERN_MAX));
	cr_expect_not(path_pattern_is_valid(longest, PATH_PATTERN_MAX + 1));
}

Test(path_pattern_matches, longest_pattern_of_each_kind)
{
	char text[PATH_PATTERN_MAX], path[PATH_PATTERN_MAX + 1];
	static const char kinds[] = {'a', '?'};
	for (size_t k = 0; k < sizeof kinds; k++) {
		struct path_pattern p;
		memset(text, kinds[k], sizeof text);
		memset(path, 'a', sizeof path);
		path_pattern_prepare(&p, text, sizeof text);
		cr_expect(path_pattern_matches(&p, path, PATH_PATTERN_MAX));
		cr_expect_not(path_pattern_matches(&p, path, PATH_PATTERN_MAX + 1));
		cr_expect_not(path_pattern_matches(&p, path, PATH_PATTERN_MAX - 1));
	}
}

/* Patterns that take exponential time with backtracking. */
Test(path_pattern_matches, time_is_linear, .timeout = 30)
{
	char text[PATH_PATTERN_MAX], path[4096];
	struct path_pattern p;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = i % 2 ? '*' : 'a';
	text[sizeof text - 1] = 'b';
	memset(path, 'a', sizeof path);
	path_pattern_prepare(&p, text, sizeof text);
	for (int n = 0; n < 100; n++)
		cr_assert_not(path_pattern_matches(&p, path, sizeof path));
}

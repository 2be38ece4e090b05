/* Exclude patterns: which are valid, and the lines that mksquashfs reads. */
#include "shell/backup/exclude_pattern.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(exclude_pattern_is_valid, table)
{
	static const struct {
		const char *pattern;
		bool want;
	} cases[] = {{"a", true}, {"*.log", true}, {"**/a/**", true}, {"...", true}, {"# x", true},
		{"", false}, {"/", false}, {"**", false}, {"**/**", false}, {"./.", false},
		{"..", false}, {"... *", false}, {"a/../b", false}, {"a\n... *", false},
		{"a\x7f", false}, {"a\\", false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(exclude_pattern_is_valid(cases[i].pattern), cases[i].want, "%s",
			cases[i].pattern);
}

Test(exclude_pattern_is_valid, length)
{
	char text[EXCLUDE_PATTERN_MAX + 2];
	memset(text, 'x', sizeof text);
	text[EXCLUDE_PATTERN_MAX] = '\0';
	cr_expect(exclude_pattern_is_valid(text));
	text[EXCLUDE_PATTERN_MAX] = 'x';
	text[EXCLUDE_PATTERN_MAX + 1] = '\0';
	cr_expect_not(exclude_pattern_is_valid(text));
}

Test(exclude_pattern_write, table)
{
	static const char *const cases[][2] = {{"a", "a\n... a\n"}, {"**/a", "a\n... a\n"},
		{"a/**", "a\n... a\n"}, {"a/**/b", "a/b\n"}, {"a//./b/", "a/b\n"}, {"/a", "a\n"},
		{"#a", "\\#a\n... \\#a\n"}, {" a", "\\ a\n... \\ a\n"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);
		exclude_pattern_write(out, cases[i][0]);
		fclose(out);
		cr_expect_str_eq(text, cases[i][1], "%s", cases[i][0]);
		free(text);
	}
}

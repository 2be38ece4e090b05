/* How much words are alike: who is told "did you mean". */
#include "ws/client/likeness.h"

#include <criterion/criterion.h>
#include <string.h>

Test(likeness, distances)
{
	static const struct {
		const char *a, *b;
		unsigned want;
	} cases[] = {
		{"attach", "attach", 0},
		{"ttach", "attach", 1},
		{"attahc", "attach", 1},
		{"attahcc", "attach", 2},
		{"lst", "ls", 1},
		{"l", "ls", LIKENESS_FAR},
		{"sc", "screen", 1},
		{"kil", "kill", 1},
		{"xyz", "run", LIKENESS_FAR},
		{"", "ls", LIKENESS_FAR},
		{"", "", LIKENESS_FAR},
		{"exce", "exec", 1},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_expect_eq(likeness_distance(cases[i].a, cases[i].b), cases[i].want, "%s %s",
			cases[i].a, cases[i].b);
		cr_expect_eq(likeness_distance(cases[i].b, cases[i].a), cases[i].want, "%s %s",
			cases[i].b, cases[i].a);
	}
}

Test(likeness, words_of_any_length)
{
	char longest[LIKENESS_WORD_MAX + 1], longer[LIKENESS_WORD_MAX + 2];
	memset(longest, 'a', sizeof longest);
	longest[LIKENESS_WORD_MAX] = '\0';
	memset(longer, 'a', sizeof longer);
	longer[LIKENESS_WORD_MAX + 1] = '\0';
	cr_assert_eq(likeness_distance(longest, longest), 0);
	cr_assert_eq(likeness_distance(longer, longest), LIKENESS_FAR);
}

/* Similarity of words, for "did you mean". */
#include "ws/client/edit_distance.h"

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
		{"l", "ls", EDIT_DISTANCE_FAR},
		{"sc", "screen", 1},
		{"xyz", "run", EDIT_DISTANCE_FAR},
		{"", "ls", EDIT_DISTANCE_FAR},
		{"", "", EDIT_DISTANCE_FAR},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_expect_eq(edit_distance(cases[i].a, cases[i].b), cases[i].want, "%s %s",
			cases[i].a, cases[i].b);
		cr_expect_eq(edit_distance(cases[i].b, cases[i].a), cases[i].want, "%s %s",
			cases[i].b, cases[i].a);
	}
}

Test(likeness, words_of_any_length)
{
	char longest[EDIT_DISTANCE_WORD_MAX + 1], longer[EDIT_DISTANCE_WORD_MAX + 2];
	memset(longest, 'a', sizeof longest);
	longest[EDIT_DISTANCE_WORD_MAX] = '\0';
	memset(longer, 'a', sizeof longer);
	longer[EDIT_DISTANCE_WORD_MAX + 1] = '\0';
	cr_assert_eq(edit_distance(longest, longest), 0);
	cr_assert_eq(edit_distance(longer, longest), EDIT_DISTANCE_FAR);
}

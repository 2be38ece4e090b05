#include "shell/name.h"

#include <criterion/criterion.h>
#include <string.h>

Test(name_is_id, accepts)
{
	char longest[NAME_ID_MAX + 1];
	static const char *const cases[] = {
		"a", "0", "main", "A-b_c.d:e@f", "-", "a..b", "session-1", "@", ":"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect(name_is_id(cases[i]), "%s", cases[i]);
	memset(longest, 'x', NAME_ID_MAX);
	longest[NAME_ID_MAX] = '\0';
	cr_expect(name_is_id(longest));
}

Test(name_is_id, refuses)
{
	char longer[NAME_ID_MAX + 2];
	static const char *const cases[] = {"", ".", "..", ".hidden", "a/b", "../x", "a b", "a\n",
		"a\x7f", "\xc3\xa9", "a+b", "a%2f", "a\\b", "a*", "a;b", "a\"", "a'", "a~"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_not(name_is_id(cases[i]), "%s", cases[i]);
	memset(longer, 'x', NAME_ID_MAX + 1);
	longer[NAME_ID_MAX + 1] = '\0';
	cr_expect_not(name_is_id(longer));
}

Test(name_is_text, accepts)
{
	static const char *const cases[] = {"a", "My session", "/?#&", "\xc3\xa9t\xc3\xa9",
		"\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
		"\xf4\x8f\xbf\xbf", "<b>", "  "};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect(name_is_text(cases[i]), "%s", cases[i]);
}

Test(name_is_text, refuses)
{
	static const struct {
		const char *what, *text;
	} cases[] = {
		{"nothing", ""},
		{"newline", "a\nb"},
		{"ESC", "\x1b[31m"},
		{"DEL", "a\x7f"},
		{"C1",
			"\xc2\x9b"
			"31m"},
		{"raw C1", "\x9b"},
		{"line separator", "a\xe2\x80\xa8"},
		{"paragraph separator", "a\xe2\x80\xa9"},
		{"override of direction",
			"a\xe2\x80\xae"
			"b"},
		{"isolate",
			"\xe2\x81\xa6"
			"b"},
		{"overlong slash", "\xc0\xaf"},
		{"overlong of three bytes", "\xe0\x80\xaf"},
		{"overlong of four bytes", "\xf0\x80\x80\xaf"},
		{"surrogate", "\xed\xa0\x80"},
		{"beyond Unicode", "\xf4\x90\x80\x80"},
		{"five bytes", "\xf8\x88\x80\x80\x80"},
		{"cut short", "a\xe2\x82"},
		{"stray continuation", "a\x80"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_not(name_is_text(cases[i].text), "%s", cases[i].what);
}

Test(name_is_text, characters_are_counted_not_bytes)
{
	char text[NAME_BYTES_MAX + 8] = "";
	for (unsigned i = 0; i < NAME_TEXT_MAX; i++)
		strcat(text, "\xf0\x9f\x98\x80");
	cr_assert_eq(strlen(text), NAME_BYTES_MAX);
	cr_assert(name_is_text(text));
	strcat(text, "x");
	cr_assert_not(name_is_text(text));
}

/* Addresses with a token or a link. */
#include "ws/client/connect/link.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(link_parse, addresses)
{
	static const struct {
		const char *text, *base, *session, *token;
		bool owner;
	} cases[] = {
		{"http://h:1/#link=abc", "http://h:1/", "", "abc", false},
		{"https://h/#token=a.b-c", "https://h/", "", "a.b-c", true},
		{"https://[::1]:7070/?s=box#link=x%3D", "https://[::1]:7070/", "box", "x=", false},
		{"http://h?x=1&s=a%3Ab&y#y=1&link=z", "http://h", "a:b", "z", false},
		{"http://h/?ss=a&s=b#link=z", "http://h/", "b", "z", false},
		{"http://h/?sx#link=z?s=q", "http://h/", "", "z?s=q", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct link l;
		cr_assert_eq(link_parse(cases[i].text, &l), 0, "case %zu", i);
		cr_expect_str_eq(l.base, cases[i].base, "case %zu: %s", i, l.base);
		cr_expect_str_eq(l.session, cases[i].session, "case %zu: %s", i, l.session);
		cr_expect_str_eq(l.token, cases[i].token, "case %zu: %s", i, l.token);
		cr_expect_eq(l.owner, cases[i].owner, "case %zu", i);
		cr_expect_null(strchr(l.base, '#'));
	}
}

Test(link_parse, invalid_addresses)
{
	static const char *const cases[] = {"", "box", "ftp://h/#link=a", "http://h/", "http://h/#",
		"http://h/#link", "http://h/#link=", "http://h/#other=a", "http://h/?link=a",
		"http://h/#link=a%0ab", "http://h/#link=a b", "http://h/#link=%",
		"http://h/#link=a%4", "http://h/#link=%zz", "http://h/#link=a%00",
		"http://h/?s=#link=a", "http://h/?s=%20#link=a", "http://h/#link=\xc3\xa9"};
	struct link l;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_lt(link_parse(cases[i], &l), 0, "case %zu", i);
}

Test(link_parse, lengths)
{
	struct link l;
	char text[4096];
	for (size_t n = 1; n < 3000; n++) {
		int at = snprintf(text, sizeof text, "http://h/#link=");
		memset(text + at, 'a', n);
		text[at + (int)n] = '\0';
		cr_assert_eq(link_parse(text, &l) == 0, n < CLI_TOKEN_MAX, "token of %zu", n);
		snprintf(text, sizeof text, "http://%0*d/?s=%0*d#link=a", (int)n, 0, (int)n, 0);
		cr_assert_eq(link_parse(text, &l) == 0, n <= LINK_SESSION_MAX, "%zu", n);
	}
}

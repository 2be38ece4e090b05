/* Files that arguments of a command name. */
#include "ws/client/files/place.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(place_parse, words)
{
	static const struct {
		const char *text, *option;
		int kind;
		const char *session, *path;
	} cases[] = {
		{"a", NULL, PLACE_HERE, "", "a"},
		{"", NULL, PLACE_HERE, "", ""},
		{"-", NULL, PLACE_STANDARD, "", "-"},
		{"./-", NULL, PLACE_HERE, "", "./-"},
		{"./a:b", NULL, PLACE_HERE, "", "./a:b"},
		{"/a:b", "s", PLACE_HERE, "", "/a:b"},
		{"s:a", NULL, PLACE_SESSION, "s", "a"},
		{"s:a:b/c:d", "t", PLACE_SESSION, "s", "a:b/c:d"},
		{"s:/a", NULL, PLACE_SESSION, "s", "/a"},
		{"s:", NULL, PLACE_SESSION, "s", ""},
		{":a", NULL, PLACE_SESSION, "", "a"},
		{":a", "t:u", PLACE_SESSION, "t:u", "a"},
		{":-", NULL, PLACE_SESSION, "", "-"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct place p;
		cr_assert(place_parse(cases[i].text, cases[i].option, &p));
		cr_assert_eq((int)p.kind, cases[i].kind, "%s", cases[i].text);
		cr_assert_str_eq(p.session, cases[i].session);
		cr_assert_str_eq(p.path, cases[i].path);
	}
}

Test(place_parse, too_long_ids)
{
	char text[PLACE_SESSION_MAX + 3] = "";
	struct place p;
	memset(text, 'x', PLACE_SESSION_MAX);
	strcat(text, ":");
	cr_assert(place_parse(text, NULL, &p));
	cr_assert_eq(strlen(p.session), PLACE_SESSION_MAX);
	memset(text, 'x', PLACE_SESSION_MAX + 1);
	cr_assert_not(place_parse(":a", text, &p));
	strcat(text, ":");
	cr_assert_not(place_parse(text, NULL, &p));
}

Test(place_name, name_of_a_path)
{
	static const char *const cases[][2] = {{"a", "a"}, {"/a/b.c", "b.c"}, {"a/", ""}, {"", ""},
		{".", ""}, {"..", ""}, {"a/..", ""}, {"/", ""}, {"a/...", "..."}, {".a", ".a"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_assert_str_eq(place_name(cases[i][0]), cases[i][1], "%s", cases[i][0]);
}

Test(place_url, url_of_a_place)
{
	static const struct {
		const char *text;
		bool parents;
		const char *url;
	} cases[] = {
		{":a", false, "/api/file/a"},
		{":/a b", false, "/api/file//a%20b"},
		{"s:a/%?#\n", false, "/api/file/a/%25%3F%23%0A?sessionId=s"},
		{"a&b=c:d", true, "/api/file/d?parents=1&sessionId=a%26b%3Dc"},
		{":d", true, "/api/file/d?parents=1"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct place p;
		cr_assert(place_parse(cases[i].text, NULL, &p));
		char *url = place_url(&p, cases[i].parents);
		cr_assert_str_eq(url, cases[i].url);
		free(url);
	}
}

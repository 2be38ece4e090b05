#include "ws/api/bridge/sandbox.h"

#include <criterion/criterion.h>
#include <string.h>

Test(sandbox, ids)
{
	char text[140];
	cr_expect(sandbox_is_id("a"));
	cr_expect(sandbox_is_id("abcdefghijklmnopqrstuvwxyz234567"));
	static const char *const wrong[] = {
		"", "A", "0", "1", "8", "a.b", "..", "a/b", "a ", "\xc3\xa4"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		cr_expect(!sandbox_is_id(wrong[i]), "%s", wrong[i]);
	memset(text, 'a', sizeof text);
	text[128] = '\0';
	cr_expect(sandbox_is_id(text) && sandbox_is_session(text));
	text[128] = 'a';
	text[129] = '\0';
	cr_expect(!sandbox_is_id(text) && !sandbox_is_session(text));
}

Test(sandbox, session_ids)
{
	static const char *const good[] = {"a", ".", "-", "A.b_c-9"};
	static const char *const wrong[] = {"", "..", "a..", "a/b", "a b", "\n"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		cr_expect(sandbox_is_session(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		cr_expect(!sandbox_is_session(wrong[i]), "%s", wrong[i]);
}

Test(sandbox, paths)
{
	static const struct {
		const char *path, *want;
	} cases[] = {
		{"/workspace", "."},
		{"/workspace/", "."},
		{"/workspace/a//b/./c", "a/b/c"},
		{"a", "a"},
		{"", "."},
		{"/workspace/a/../b", "b"},
		{"/x/../workspace/a", "a"},
		{"..", NULL},
		{"../workspace/a", "a"},
		{"/", NULL},
		{"/workspacex", NULL},
		{"/workspace/../etc", NULL},
		{"/workspace/../../../../etc/passwd", NULL},
		{"/etc/passwd", NULL},
	};
	char path[PLACE_PATH_MAX], text[PLACE_PATH_MAX + 2];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool good = sandbox_path(cases[i].path, path);
		cr_expect_eq(good, cases[i].want != NULL, "%s", cases[i].path);
		if (good && cases[i].want)
			cr_expect_str_eq(path, cases[i].want, "%s", cases[i].path);
	}
	memset(text, 'a', sizeof text);
	text[sizeof text - 1] = '\0';
	cr_expect(!sandbox_path(text, path), "too long");
}

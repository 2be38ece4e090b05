/* Addresses for git: which are valid, the directory of a clone, and what is masked. */
#include "shell/git/clone.h"

#include <criterion/criterion.h>
#include <string.h>

Test(git_url_is_valid, table)
{
	static const struct {
		const char *url;
		bool want;
	} cases[] = {{"https://a/b.git", true}, {"git@a:b/c.git", true}, {"/a/b", true},
		{"./a", true}, {"file:///a", true}, {"ssh://a/b", true}, {"", false}, {"-x", false},
		{"--upload-pack=x", false}, {"ext::sh", false}, {"a::b", false}, {"ftp://a", false},
		{"ext://a", false}, {"https://a\n", false}, {"http", true}};
	const char *why;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(
			git_url_is_valid(cases[i].url, &why), cases[i].want, "%s", cases[i].url);
}

Test(git_url_name, table)
{
	static const char *const cases[][2] = {{"https://a/b.git", "b"}, {"https://a/b/", "b"},
		{"git@a:b.git", "b"}, {"/a/.git", ".git"}, {"a/..", NULL}, {"/", NULL},
		{"x/.", NULL}, {"c", "c"}};
	char name[GIT_NAME_MAX + 1];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool good = git_url_name(cases[i][0], name);
		cr_expect_eq(good, cases[i][1] != NULL, "%s", cases[i][0]);
		if (good && cases[i][1])
			cr_expect_str_eq(name, cases[i][1]);
	}
}

Test(git_url_login, table)
{
	static const struct {
		const char *url, *plain, *user, *password;
	} cases[] = {{"https://u:p@h/r", "https://h/r", "u", "p"},
		{"http://tok3n@h/r", "http://h/r", "tok3n", ""},
		{"https://u%40x:a%3Ab%25@h:8/r@s", "https://h:8/r@s", "u@x", "a:b%"},
		{"https://a@b:c@h/r", "https://h/r", "a@b", "c"}, {"https://h/r@x", NULL, "", ""},
		{"https://u%0a:p@h/r", NULL, "", ""}, {"https://u:p%00@h/r", NULL, "", ""},
		{"ssh://u@h/r", NULL, "", ""}, {"u@h:r", NULL, "", ""}};
	struct git_login login;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool good = git_url_login(cases[i].url, &login);
		cr_expect_eq(good, cases[i].plain != NULL, "%s", cases[i].url);
		if (!good || !cases[i].plain)
			continue;
		cr_expect_str_eq(login.plain, cases[i].plain);
		cr_expect_str_eq(login.user, cases[i].user);
		cr_expect_str_eq(login.password, cases[i].password);
	}
}

Test(git_mask, table)
{
	static const char *const cases[][2] = {
		{"https://u:p@h/r", "https://***@h/r"},
		{"fatal: 'https://tok3n@h/r': no", "fatal: 'https://***@h/r': no"},
		{"https://u:p@q@h/r https://h/a@b", "https://***@h/r https://h/a@b"},
		{"'https://u:se/cr@t@h/r'", "'https://***@h/r'"},
		{"https://h:80/@a/b@c https://[::1]:80/@a",
			"https://h:80/@a/b@c https://[::1]:80/@a"},
		{"https://u@h:8/r?token=secret x?y", "https://*@h:8/r?*** x?y"},
		{"https://h/r?'", "https://h/r?'"},
		{"x://a@", "x://a@"},
		{"://", "://"},
		{"", ""},
	};
	char text[128];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		strcpy(text, cases[i][0]);
		git_mask(text);
		if (strcmp(cases[i][0], "x://a@") == 0)
			cr_expect_str_eq(text, "x://*@");
		else
			cr_expect_str_eq(text, cases[i][1]);
	}
}

Test(clone_classify, table)
{
	static const struct {
		int code;
		const char *stderr_text;
		enum clone_end want;
	} cases[] = {{0, "not found", CLONE_DONE}, {124, "", CLONE_NETWORK},
		{128, "remote: Repository not found.", CLONE_NO_REPOSITORY},
		{128, "fatal: Authentication failed", CLONE_REFUSED},
		{1, "Permission denied (publickey)", CLONE_NOT_ALLOWED},
		{1, "it does not exist", CLONE_NO_REPOSITORY}, {1, "already exists", CLONE_FAILED},
		{1, "pathspec 'x'", CLONE_NO_BRANCH}, {1, "", CLONE_FAILED},
		{127, "git: command not found", CLONE_NO_GIT}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(clone_classify(cases[i].code, cases[i].stderr_text), cases[i].want,
			"%d %s", cases[i].code, cases[i].stderr_text);
}

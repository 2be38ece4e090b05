#include "shell/environment.h"
#include "tests/lib/leak.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

static const char *value_of(char **list, const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; list[i]; i++)
		if (strncmp(list[i], name, length) == 0 && list[i][length] == '=')
			return list[i] + length + 1;
	return NULL;
}

static char **create(
	const char *const *base, const char *const *names, const char *const *values, size_t count)
{
	return environment_create((char *const *)(uintptr_t)base, names, values, count);
}

static size_t count(char **list)
{
	size_t n = 0;
	while (list[n])
		n++;
	return n;
}

Test(environment_create, keeps_ordinary_variables)
{
	const char *base[] = {
		"PATH=/bin:/usr/bin", "HOME=/root", "EMPTY=", "EQUALS=a=b=c", "LANG=C.UTF-8", NULL};
	char **list = create(base, NULL, NULL, 0);
	cr_assert_str_eq(value_of(list, "PATH"), "/bin:/usr/bin");
	cr_assert_str_eq(value_of(list, "HOME"), "/root");
	cr_assert_str_eq(value_of(list, "EMPTY"), "");
	cr_assert_str_eq(value_of(list, "EQUALS"), "a=b=c");
	cr_assert_eq(count(list), 7);
	environment_destroy(list);
	ASSERT_NO_LEAKS();
}

Test(environment_create, says_which_terminal_it_is)
{
	const char *base[] = {"TERM=dumb", "COLORTERM=no", NULL};
	char **list = create(base, NULL, NULL, 0);
	cr_assert_str_eq(value_of(list, "TERM"), "xterm-256color");
	cr_assert_str_eq(value_of(list, "COLORTERM"), "truecolor");
	cr_assert_eq(count(list), 2);
	environment_destroy(list);
}

Test(environment_create, scrubs_the_terminal_and_the_server)
{
	const char *base[] = {"TERM_PROGRAM=tmux", "TMUX=/tmp/x", "TMUX_PANE=%1", "STY=1",
		"COLUMNS=80", "LINES=24", "RINGSIDE_TOKEN=secret", "RINGSIDE_ANYTHING=1",
		"KITTY_WINDOW_ID=1", "VTE_VERSION=6800", "TERMINFO=/x", "TERMINFO_DIRS=/y",
		"TERMCAP=x", "WINDOWID=5", "SHLVL=3", "OLDPWD=/", "_=/bin/x", "INSIDE_EMACS=1",
		"SSH_TTY=/dev/pts/1", "LC_TERMINAL_VERSION=1", "COLORFGBG=0;15", NULL};
	char **list = create(base, NULL, NULL, 0);
	cr_assert_eq(count(list), 2, "%s is left", list[0]);
	environment_destroy(list);
}

Test(environment_create, does_not_scrub_what_only_looks_alike)
{
	const char *base[] = {"TERMX=1", "LINES_PER_PAGE=1", "WINDOW_MANAGER=x", "MY_TMUX=1",
		"LC_TIME=C", "__=x", NULL};
	char **list = create(base, NULL, NULL, 0);
	cr_assert_eq(count(list), 8);
	environment_destroy(list);
}

Test(environment_create, given_values_win)
{
	const char *base[] = {"PATH=/bin", "A=1", NULL};
	const char *const names[] = {"A", "TERM", "B", "B"}, *const values[] = {"2", "vt100", "x", "y"};
	char **list = create(base, names, values, 4);
	cr_assert_str_eq(value_of(list, "A"), "2");
	cr_assert_str_eq(value_of(list, "TERM"), "vt100");
	cr_assert_str_eq(value_of(list, "B"), "y");
	cr_assert_eq(count(list), 5);
	environment_destroy(list);
	ASSERT_NO_LEAKS();
}

Test(environment_create, a_name_is_not_the_beginning_of_another)
{
	const char *base[] = {"AB=1", "A=2", NULL};
	const char *const names[] = {"A"}, *const values[] = {"3"};
	char **list = create(base, names, values, 1);
	cr_assert_str_eq(value_of(list, "AB"), "1");
	cr_assert_str_eq(value_of(list, "A"), "3");
	environment_destroy(list);
}

Test(environment_create, strange_entries_are_left_out)
{
	const char *base[] = {"NOEQUALS", "=x", "", "A=1", "A=2", NULL};
	char **list = create(base, NULL, NULL, 0);
	cr_assert_eq(count(list), 3);
	cr_assert_str_eq(value_of(list, "A"), "2");
	environment_destroy(list);
}

Test(environment_create, empty_base)
{
	const char *base[] = {NULL};
	char **list = create(base, NULL, NULL, 0);
	cr_assert_eq(count(list), 2);
	environment_destroy(list);
}

Test(environment_destroy, null_is_fine)
{
	environment_destroy(NULL);
}

Test(environment_name_is_valid, table)
{
	static const char *const good[] = {"A", "_", "PATH", "a1_2", "_9"};
	static const char *const bad[] = {
		"", "9A", "A-B", "A=B", "A B", "\xc3\x84", "A\n", "BASH_FUNC_x%%"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		cr_expect(environment_name_is_valid(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_expect_not(environment_name_is_valid(bad[i]), "%s", bad[i]);
}

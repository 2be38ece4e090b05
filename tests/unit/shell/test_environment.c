#include "shell/environment.h"
#include "shell/words.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

static char **list; /* the environment that was made last */

static void finish(void)
{
	words_free(list);
}

TestSuite(environment_inherit, .fini = finish);
TestSuite(environment_create, .fini = finish);
TestSuite(environment_with, .fini = finish);

static const char *value_of(const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; list[i]; i++)
		if (strncmp(list[i], name, length) == 0 && list[i][length] == '=')
			return list[i] + length + 1;
	return NULL;
}

static void create(
	const char *const *base, const char *const *names, const char *const *values, size_t n)
{
	words_free(list);
	list = environment_create((char *const *)(uintptr_t)base, names, values, n);
}

static size_t count(void)
{
	size_t n = 0;
	while (list[n])
		n++;
	return n;
}

static void pass(const char *const *base, const char *const *asked, size_t n)
{
	list = environment_inherit((char *const *)(uintptr_t)base, asked, n);
}

Test(environment_inherit, login_variables_are_inherited)
{
	const char *base[] = {"PATH=/bin:/usr/bin", "HOME=/root", "USER=root", "LOGNAME=root",
		"SHELL=/bin/bash", "LANG=C.UTF-8", "LC_TIME=C", "LC_ALL=", "TZ=:UTC", "TMPDIR=/tmp",
		"XDG_RUNTIME_DIR=/run/user/0", "PWD=/a=b", NULL};
	pass(base, NULL, 0);
	cr_assert_eq(count(), 12);
	cr_assert_str_eq(value_of("PATH"), "/bin:/usr/bin");
	cr_assert_str_eq(value_of("LC_ALL"), "");
	cr_assert_str_eq(value_of("PWD"), "/a=b");
}

Test(environment_inherit, other_variables_are_dropped)
{
	const char *base[] = {"AWS_SECRET_ACCESS_KEY=x", "GITHUB_TOKEN=x", "RINGSIDE_TOKEN=x",
		"RINGSIDE_ANYTHING=x", "NOTIFY_SOCKET=/x", "LISTEN_FDS=1", "SSH_AUTH_SOCK=/x",
		"DISPLAY=:0", "XAUTHORITY=/x", "DBUS_SESSION_BUS_ADDRESS=x", "https_proxy=u:p@h",
		"LD_PRELOAD=/x", "BASH_ENV=/x", "BASH_FUNC_f%%=() { :; }", "PYTHONPATH=/x",
		"TERM=dumb", "TERM_PROGRAM=tmux", "TMUX=/x", "COLUMNS=80", "LC_TERMINAL=iTerm2",
		"LC_TERMINAL_VERSION=1", "SHLVL=3", "OLDPWD=/", "_=/x", "PATHS=x", "HOM=x", "=x",
		"PATH", "", "XDG_SESSION_ID=1", "XDG_SEAT=seat0", NULL};
	pass(base, NULL, 0);
	cr_assert_eq(count(), 0, "%s is there", list[0]);
}

Test(environment_inherit, requested_variables_are_inherited)
{
	const char *base[] = {
		"AWS_PROFILE=work", "HOME=/root", "SSH_AUTH_SOCK=/a", "SSH_AUTH=b", NULL};
	const char *const asked[] = {"SSH_AUTH_SOCK", "NOT_THERE", "HOME=/elsewhere", "NEW=a=b",
		"EMPTY=", "NEW=c", "AWS_PROFILE"};
	pass(base, asked, sizeof asked / sizeof *asked);
	cr_assert_eq(count(), 5);
	cr_assert_str_eq(value_of("SSH_AUTH_SOCK"), "/a");
	cr_assert_str_eq(value_of("HOME"), "/elsewhere");
	cr_assert_str_eq(value_of("NEW"), "c");
	cr_assert_str_eq(value_of("EMPTY"), "");
	cr_assert_str_eq(value_of("AWS_PROFILE"), "work");
}

Test(environment_may_request, table)
{
	static const char *const good[] = {"A", "A=", "A=b=c\n", "SSH_AUTH_SOCK", "AWS_PROFILE",
		"LISTEN_PORT=1", "RINGSIDE_SOCKET"};
	static const char *const bad[] = {"", "=", "=x", "A-B", "9=x", "A B=x", "RINGSIDE_TOKEN",
		"RINGSIDE_TOKEN=x", "NOTIFY_SOCKET", "LISTEN_FDS=1", "LISTEN_PID", "LISTEN_FDNAMES",
		"WATCHDOG_USEC"};
	char long_name[ENVIRONMENT_NAME_MAX + 2] = "";
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		cr_expect(environment_may_request(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_expect_not(environment_may_request(bad[i]), "%s", bad[i]);
	memset(long_name, 'A', sizeof long_name - 1);
	cr_expect_not(environment_may_request(long_name));
	long_name[sizeof long_name - 2] = '\0';
	cr_expect(environment_may_request(long_name));
}

Test(environment_create, sets_the_type_of_the_terminal)
{
	const char *base[] = {"HOME=/root", NULL}, *terminal_given[] = {"TERM=vt100", NULL};
	create(base, NULL, NULL, 0);
	cr_assert_str_eq(value_of("TERM"), "xterm-256color");
	cr_assert_str_eq(value_of("COLORTERM"), "truecolor");
	cr_assert_str_eq(value_of("HOME"), "/root");
	cr_assert_eq(count(), 4);
	create(terminal_given, NULL, NULL, 0);
	cr_assert_str_eq(value_of("TERM"), "vt100", "--env TERM=vt100");
	cr_assert_eq(count(), 3);
}

Test(environment_create, sets_utf_8_unless_given)
{
	static const char *const settings[] = {"LC_ALL=C", "LC_CTYPE=de_DE.UTF-8", "LANG="};
	const char *base[] = {"LC_TIME=C", NULL}, *const names[] = {"LANG"}, *const values[] = {"C"};
	create(base, NULL, NULL, 0);
	cr_assert_str_eq(value_of("LANG"), "C.UTF-8");
	create(base, names, values, 1);
	cr_assert_str_eq(value_of("LANG"), "C");
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		base[0] = settings[i];
		create(base, NULL, NULL, 0);
		cr_assert_eq(count(), 3, "%s", settings[i]);
	}
}

Test(environment_create, given_values_win)
{
	const char *base[] = {"PATH=/bin", "A=1", NULL};
	const char *const names[] = {"A", "TERM", "B", "B"}, *const values[] = {"2", "vt100", "x", "y"};
	create(base, names, values, 4);
	cr_assert_str_eq(value_of("A"), "2");
	cr_assert_str_eq(value_of("TERM"), "vt100");
	cr_assert_str_eq(value_of("B"), "y");
	cr_assert_eq(count(), 6);
}

Test(environment_create, prefix_of_a_name_is_another_name)
{
	const char *base[] = {"AB=1", "A=2", NULL};
	const char *const names[] = {"A"}, *const values[] = {"3"};
	create(base, names, values, 1);
	cr_assert_str_eq(value_of("AB"), "1");
	cr_assert_str_eq(value_of("A"), "3");
}

Test(environment_create, invalid_entries_are_left_out)
{
	const char *base[] = {"NOEQUALS", "=x", "", "A=1", "A=2", NULL};
	create(base, NULL, NULL, 0);
	cr_assert_eq(count(), 4);
	cr_assert_str_eq(value_of("A"), "2");
}

Test(environment_create, empty_base_is_allowed)
{
	const char *base[] = {NULL};
	create(base, NULL, NULL, 0);
	cr_assert_eq(count(), 3);
}

Test(environment_with, adds_a_variable_which_wins)
{
	char a[] = "A=1", b[] = "AB=2", *base[] = {a, b, NULL};
	list = environment_with(base, "A", "3");
	cr_assert_str_eq(value_of("A"), "3");
	cr_assert_str_eq(value_of("AB"), "2");
	cr_assert_eq(count(), 2);
	words_free(list);
	list = environment_with(base, "C", "");
	cr_assert_str_eq(value_of("C"), "");
	cr_assert_eq(count(), 3);
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

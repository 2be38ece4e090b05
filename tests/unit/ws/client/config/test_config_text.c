#include "ws/client/config/config_text.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[2 * CONFIG_TEXT_MAX];
static struct config_text t;

static int parse(const char *from)
{
	snprintf(text, sizeof text, "%s", from);
	return config_text_parse(text, strlen(text), &t);
}

static void is(size_t i, unsigned line, const char *section, const char *name, const char *value)
{
	const struct config_setting *s = &t.settings[i];
	cr_assert_lt(i, t.count);
	cr_assert_eq(s->line, line, "%u", s->line);
	cr_assert_str_eq(s->section, section);
	cr_assert_str_eq(s->name, name);
	cr_assert_eq(s->value != NULL, value != NULL);
	cr_assert(!value || strcmp(s->value, value) == 0, "'%s'", s->value);
}

Test(config_text, settings_in_sections)
{
	cr_assert_eq(parse("# words\n\n  url=http://x:1/\r\n[exec]\n\tqueue\n timeout = 5 # s \n"
			   "[ serve ]\nenv = A=b c\n[exec]\ncwd = /a = b"),
		0);
	cr_assert_eq(t.count, 5);
	is(0, 3, "", "url", "http://x:1/");
	is(1, 5, "exec", "queue", NULL);
	is(2, 6, "exec", "timeout", "5 # s");
	is(3, 8, "serve", "env", "A=b c");
	is(4, 10, "exec", "cwd", "/a = b");
}

Test(config_text, empty_files)
{
	static const char *const empty[] = {
		"", "\n\n", "#", "   \t \r\n", "[ls]", "# a = b\n[x-1]\n"};
	for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
		cr_assert_eq(parse(empty[i]), 0, "%s", empty[i]);
		cr_assert_eq(t.count, 0);
	}
}

Test(config_text, errors_have_their_line)
{
	static const struct {
		const char *text;
		unsigned line;
		const char *why;
	} cases[] = {
		{"=", 1, "NAME = VALUE"},
		{"a =", 1, "no value"},
		{"a\n\n a b = c\n", 3, "NAME = VALUE"},
		{"Json = yes", 1, "NAME = VALUE"},
		{"a\n[", 2, "[section]"},
		{"[]", 1, "[section]"},
		{"[a] b", 1, "[section]"},
		{"[a b]", 1, "[section]"},
		{"a = \033[31m", 1, "control"},
		{"a = b\x7f", 1, "control"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_assert_eq(parse(cases[i].text), -EINVAL, "%s", cases[i].text);
		cr_assert_eq(t.line, cases[i].line, "%s: %u", cases[i].text, t.line);
		cr_assert_not_null(strstr(t.why, cases[i].why), "%s: %s", cases[i].text, t.why);
		cr_assert_eq(t.count, 0);
	}
}

Test(config_text, nul_does_not_end_the_text)
{
	memcpy(text, "a = b\nc\0d = e\n", 15);
	cr_assert_eq(config_text_parse(text, 14, &t), -EINVAL);
	cr_assert_eq(t.line, 2);
	cr_assert_not_null(strstr(t.why, "NUL"));
}

Test(config_text, sizes_are_limited)
{
	size_t at = 0;
	for (unsigned i = 0; i < CONFIG_SETTINGS_MAX; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "a = %u\n", i);
	cr_assert_eq(config_text_parse(text, at, &t), 0);
	cr_assert_eq(t.count, CONFIG_SETTINGS_MAX);
	at = 0;
	for (unsigned i = 0; i <= CONFIG_SETTINGS_MAX; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "a = %u\n", i);
	cr_assert_eq(config_text_parse(text, at, &t), -EINVAL);
	cr_assert_eq(t.line, CONFIG_SETTINGS_MAX + 1);
	memset(text, '#', CONFIG_TEXT_MAX + 1);
	text[CONFIG_TEXT_MAX] = '\0';
	cr_assert_eq(config_text_parse(text, CONFIG_TEXT_MAX, &t), 0);
	memset(text, '#', CONFIG_TEXT_MAX + 1);
	text[CONFIG_TEXT_MAX + 1] = '\0';
	cr_assert_eq(config_text_parse(text, CONFIG_TEXT_MAX + 1, &t), -EINVAL);
}

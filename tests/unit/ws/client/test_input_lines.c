#include "ws/client/input_lines.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(input_lines, .timeout = 60);

static void on_line(void *user, const char *text, size_t length)
{
	char *all = user;
	strncat(all, text ? text : "(too long)", text ? length : 10);
	strcat(all, "|");
}

static const struct {
	const char *text, *want;
} cases[] = {
	{"", ""},
	{"not over", ""},
	{"one\ntwo\n", "one|two|"},
	{"\n\r\n \t\r\n", "|||"},
	{"one \t\r\n", "one|"},
	{"12345678\n", "12345678|"},
	{"123456789\n", "(too long)|"},
	{"1234567890123456789\nnext\n", "(too long)|next|"},
};

Test(input_lines, result_is_the_same_at_every_cut)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t length = strlen(cases[i].text);
		for (size_t at = 0; at <= length; at++) {
			struct input_lines r = {.max = 8};
			char all[128] = "";
			input_lines_feed(&r, cases[i].text, at, on_line, all);
			input_lines_feed(&r, cases[i].text + at, length - at, on_line, all);
			cr_expect_str_eq(all, cases[i].want, "\"%s\" at %zu", cases[i].text, at);
			input_lines_finish(&r);
		}
	}
}

/* Styles, and the sequences between captured cells. */
#include "tests/lib/json_text.h"
#include "ws/client/tmux/capture_style.h"
#include "ws/client/tmux/style.h"

#include <criterion/criterion.h>
#include <string.h>

Test(tmux_style, words)
{
	static const char *const good[] = {"", " ,\n", "fg=red", "FG=Red,bold", "nobold|dim",
		"bg=#a0B1c2", "fill=colour255", "fg=color0", "none default", "range=window|7",
		"align=absolute-centre", "fg=grey50", "#{?a,b,c}"};
	static const char *const bad[] = {"red", "fg=", "fg", "bold|", "|bold", "bold dims",
		"bg=#a0b1c", "bg=#a0b1cg", "fg=colour256", "fg=colour", "fg=colour-1", "fg=8",
		"range=window|", "range=window|-1", "align=", "no", "fg=red\t", "fg=r\xc3\xb6t"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		cr_expect(style_is_valid(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_expect(!style_is_valid(bad[i]), "%s", bad[i]);
}

Test(tmux_style, endless_word)
{
	char text[70000];
	memset(text, 'b', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	cr_expect(!style_is_valid(text));
}

static void expect_after(
	struct arena *a, struct capture_style *s, const char *run, const char *expected)
{
	struct text out = {.arena = a};
	json_t *value = json_of(run);
	capture_style_change(&out, s, value);
	cr_expect_str_eq(text_get(&out), expected, "%s", run);
	json_decref(value);
}

Test(tmux_style, sequences)
{
	struct arena a = {0};
	struct capture_style s;
	capture_style_begin(&s);
	expect_after(&a, &s, "{}", "");
	expect_after(&a, &s, "{'fg':1,'bold':true}", "\033[1m\033[31m");
	expect_after(&a, &s, "{'fg':9,'bold':true}", "\033[91m");
	expect_after(&a, &s, "{'fg':16,'italic':true}", "\033[0;3m\033[38;5;16m\033[49m");
	expect_after(&a, &s, "{'bg':'#0102ff','underline':'curly','underlineColor':3}",
		"\033[0;4:3m\033[39m\033[48;2;1;2;255m\033[58;5;3m");
	expect_after(&a, &s, "{'underline':'curly'}", "\033[0;4:3m\033[39m\033[49m");
	expect_after(&a, &s, "{'underline':[],'fg':-5,'bg':'red'}",
		"\033[0m\033[38;5;4294967291m\033[48;2;0;0;0m");
	arena_finish(&a);
}

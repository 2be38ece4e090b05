/* Command text: words, quotes, variables, blocks, comments; and words that are quoted and parsed again. */
#include "tests/lib/tmux_test.h"
#include "ws/client/tmux/quote.h"
#include "ws/client/tmux/script.h"

TestSuite(tmux_script, TMUX_SUITE);

/* Each command in brackets, with bars between its words; or the error. */
static char *show(const char *text)
{
	struct script_line *line;
	struct text out = {.arena = &t.arena};
	const char *wrong = script_parse(&t, text, &line);
	if (wrong)
		return arena_copy(&t.arena, wrong);
	for (; line; line = line->next) {
		text_puts(&out, "[");
		for (unsigned i = 0; i < line->count; i++)
			text_print(&out, "%s%s", i > 0 ? "|" : "", line->words[i]);
		text_puts(&out, "]");
	}
	return text_get(&out);
}

struct expected {
	const char *text, *want;
};

static void check(const struct expected *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cr_expect_str_eq(show(cases[i].text), cases[i].want, "%s: %s", cases[i].text,
			show(cases[i].text));
}

Test(tmux_script, commands)
{
	static const struct expected cases[] = {
		{"", ""},
		{" \n\n ; ;\n", ""},
		{"a b\tc", "[a|b|c]"},
		{"a;b;;c", "[a][b][c]"},
		{"a ; b\nc", "[a][b][c]"},
		{"a \\; b", "[a|;|b]"},
		{"a \"x y\" 'z \\n'", "[a|x y|z \\n]"},
		{"a x\"y\"'z'", "[a|xyz]"},
		{"a ''", "[a|]"},
		{"a \"\\n\\t\\033\\101\\e\\\\\\\"\"", "[a|\n\t\033A\033\\\"]"},
		{"a \\x", "[a|x]"},
		{"a \\\n b", "[a|b]"},
		{"# all of it\na # the rest\nb#c", "[a][b#c]"},
		{"a \"#c\"", "[a|#c]"},
		{"a $HOME ${HOME}x '$HOME' $NOSUCH", "[a|/root|/rootx|$HOME|]"},
		{"a $1 \"$0x\" ${1}", "[a|$1|$0x|]"},
		{"a \"$HOME\" $ \\$HOME", "[a|/root|$|$HOME]"},
		{"if 1 { set x \"}\"\n y }", "[if|1| set x \"}\"\n y ]"},
		{"a {b {c} d} e", "[a|b {c} d|e]"},
		{"a \"b", "line 1: syntax error"},
		{"x\na 'b", "line 2: syntax error"},
		{"a {b", "line 1: syntax error"},
		{"a \\", "line 1: syntax error"},
		{"a ${HOME", "line 1: invalid environment variable"},
		{"a \\400", "line 1: invalid octal escape"},
		{"a \\000", "line 1: invalid octal escape"},
		{"a \\12", "line 1: invalid octal escape"},
		{"a \\u263a\"\\U0001f600\"\\u00E9x '\\u0041'", "[a|☺😀éx|\\u0041]"},
		{"a \\u41", "line 1: invalid \\u argument"},
		{"a \\ud800", "line 1: invalid \\u argument"},
		{"a \\u+123", "line 1: invalid \\u argument"},
		{"a \\u", "line 1: invalid \\u argument"},
		{"a \\U00110000", "line 1: invalid \\U argument"},
		{"a \\U00000000", "line 1: invalid \\U argument"},
	};
	check(cases, sizeof cases / sizeof *cases);
}

Test(tmux_script, conditions)
{
	static const struct expected cases[] = {
		{"%if 1\na\n%endif\nb", "[a][b]"},
		{"%if 0\na\n%else\nb\n%endif\nc", "[b][c]"},
		{"%if #{==:x,y}\na\n%elif 1\nb\n%elif 1\nc\n%else\nd\n%endif", "[b]"},
		{"%if \"#{==:x y,x y}\"\n a \"x\n y\"\n%endif", "[a|x\n y]"},
		{"%if 0\n%if 1\na\n%else\nb\n%endif\n%else\nc\n%endif", "[c]"},
		{"%if 1\n %if 0\na\n %endif\nb\n%endif", "[b]"},
		{"%if 1\na", "line 2: syntax error"},
		{"%endif", "line 1: syntax error"},
		{"%else\n%endif", "line 1: syntax error"},
		{"%if 1\n%else\n%else\n%endif", "line 3: syntax error"},
		{"%nosuch", "line 1: syntax error"},
		{"a %1", "[a|%1]"},
	};
	check(cases, sizeof cases / sizeof *cases);
	struct text deep = {.arena = &t.arena};
	for (int i = 0; i < 100; i++)
		text_puts(&deep, "%if 1\n");
	cr_expect_str_eq(show(text_get(&deep)), "line 65: too many nested conditions");
}

Test(tmux_script, lines_are_counted)
{
	struct script_line *line;
	cr_assert_null(script_parse(&t, "a \\\n b\n'c\nd'\ne", &line));
	cr_expect_eq(line->number, 1);
	cr_expect_eq(line->next->next->number, 5);
}

Test(tmux_script, too_many_words)
{
	struct script_line *line;
	struct text text = {.arena = &t.arena};
	for (unsigned i = 0; i <= SCRIPT_WORDS_MAX; i++)
		text_puts(&text, "a ");
	cr_expect_str_eq(script_parse(&t, text_get(&text), &line), "line 1: too many words");
}

Test(tmux_script, quoted_word_is_parsed_back)
{
	static const char *const words[] = {"", " ", "a b", "it's", "\"", "\\", "$HOME", "$", "~",
		"~/x", "#x", ";", "a;", "{", "}", "{x", "%1", "%if", "\n\t\033\177", "ü€😀", "'\"'",
		"a\\nb", "${x}", "x=\"y z\"", "#{pane_id}"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct script_line *line;
		const char *quoted = quote_word(&t.arena, words[i]);
		cr_assert_null(script_parse(&t, arena_print(&t.arena, "set %s", quoted), &line),
			"%s", quoted);
		cr_assert(line && !line->next && line->count == 2, "%s", quoted);
		cr_expect_str_eq(line->words[1], words[i], "%s", quoted);
	}
}

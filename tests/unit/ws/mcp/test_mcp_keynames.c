#include "ws/mcp/keynames.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(mcp_keynames, .timeout = 60);

static const struct {
	const char *in, *want; /* want: a list, or a part of the error */
} cases[] = {
	{"\"Ctrl-C\"", "[\"C-c\"]"},
	{"\"ctrl+c C-c ^C\"", "[\"C-c\",\"C-c\",\"^C\"]"},
	{"\"Control+Shift+Up Alt-x M-x Meta+F5\"", "[\"C-S-Up\",\"M-x\",\"M-x\",\"M-F5\"]"},
	{"[\"hello\",\"Enter\"]", "[\"h\",\"e\",\"l\",\"l\",\"o\",\"Enter\"]"},
	{"[\"a b\",\"\xc3\xa9t\"]", "[\"a\",\"Space\",\"b\",\"\xc3\xa9\",\"t\"]"},
	{"[\"ArrowUp\",\"<Enter>\",\"del\",\"-\",\"+\",\"<\"]",
		"[\"Up\",\"Enter\",\"Delete\",\"-\",\"+\",\"<\"]"},
	{"\"C--\"", "[\"C--\"]"},
	{"[\":wq\",\"Enter\"]", "[\":\",\"w\",\"q\",\"Enter\"]"},
	{"\"\"", "[]"},
	{"\"Entr\"", "\"Entr\" is no key; nearest: Enter"},
	{"[\"PageDwn\"]", "nearest: PageDown"},
	{"\"hello\"", "\"hello\" is no key"},
	{"[\"Ctrl-foo\"]", "\"Ctrl-foo\" is no key"},
	{"[\"\"]", "\"\" is no key"},
	{"\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
		"is no key"},
};

Test(mcp_keynames, common_names_are_accepted)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char problem[MCP_KEYS_PROBLEM] = "";
		json_t *keys = json_loads(cases[i].in, JSON_DECODE_ANY, NULL);
		cr_assert_not_null(keys, "%zu", i);
		json_t *list = mcp_keynames(keys, problem);
		char *text = list ? json_dumps(list, JSON_COMPACT) : NULL;
		if (text)
			cr_expect_str_eq(text, cases[i].want, "%zu: %s", i, text);
		else
			cr_expect_not_null(strstr(problem, cases[i].want), "%zu: %s", i, problem);
		free(text);
		json_decref(list);
		json_decref(keys);
	}
}

Test(mcp_keynames, number_is_limited)
{
	char problem[MCP_KEYS_PROBLEM];
	char *word = malloc(MCP_KEYS_MAX + 2);
	memset(word, 'x', MCP_KEYS_MAX + 1);
	word[MCP_KEYS_MAX + 1] = '\0';
	json_t *keys = json_pack("[s]", word), *list = mcp_keynames(keys, problem);
	cr_expect_null(list);
	json_decref(keys);
	free(word);
}

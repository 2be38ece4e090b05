#include "tests/lib/json_text.h"
#include "ws/mcp/text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

TestSuite(mcp_text, .timeout = 60);

static const struct {
	const char *in, *want;
} cases[] = {
	{"", ""},
	{"a\r\nb\r\n", "a\nb\n"},
	{"a\nb", "a\nb"},
	{"no newline", "no newline"},
	{"\ttab\n", "\ttab\n"},
	{"\xc3\xa9\xff\n", "\xc3\xa9\xef\xbf\xbd\n"},
	{"\033[31mred\033[m\r\n", "red\n"},
	{"10%\r50%\r100%\r\n", "100%\n"},
	{"abc\b\bX\r\n", "aXc\n"},
	{"\033]133;C\007out\r\n", "out\n"},
	{"\033]8;;http://x\033\\link\033]8;;\033\\", "link"},
	{"one\033[1m\ntwo\033[m\nthree\n", "one\ntwo\nthree\n"}, /* written to a pipe */
	{"a\r\n\r\nb\r\n\033[m", "a\n\nb"},
	{"\007bell\n", "bell\n"},
	{"\033[", ""},
};

Test(mcp_text, output_is_drawn_as_on_a_terminal)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t length;
		char *text = mcp_plain(cases[i].in, strlen(cases[i].in), &length);
		cr_assert_str_eq(text, cases[i].want, "%zu: %s", i, text);
		cr_assert_eq(length, strlen(text));
		free(text);
	}
}

Test(mcp_text, wide_lines_and_more_lines_than_a_screen)
{
	size_t size = (size_t)300 << 10, length;
	char *in = malloc(size + 16);
	for (size_t i = 0; i < size; i++)
		in[i] = i % 3000 == 2999 ? '\n' : 'x';
	memcpy(in + size, "\033[1mend\033[m\n", 11);
	char *text = mcp_plain(in, size + 11, &length);
	cr_assert_eq(length, size + 4);
	cr_assert_eq(memcmp(text, in, size), 0);
	cr_assert_str_eq(text + size, "end\n");
	free(text);
	free(in);
}

Test(mcp_text, drawing_is_limited)
{
	static const char again[] = "\033[2J\033[H\033[1000@x\033[60L";
	size_t size = MCP_PLAIN_MAX, length, n = sizeof again - 1;
	char *in = malloc(size);
	for (size_t i = 0; i < size; i++)
		in[i] = again[i % n];
	clock_t begun = clock();
	char *text = mcp_plain(in, size, &length);
	cr_assert_not_null(text);
	cr_assert_lt((double)(clock() - begun) / CLOCKS_PER_SEC, 2.0);
	free(text);
	free(in);
}

Test(mcp_text, few_bytes_get_little_work)
{
	/* Each line scrolls all others but the first. */
	static const char first[] = "\033[2;60r\033[60H", again[] = "\033[31m\n";
	char in[sizeof first + 600 * sizeof again], *end = stpcpy(in, first);
	size_t length;
	for (unsigned i = 0; i < 600; i++)
		end = stpcpy(end, again);
	char *text = mcp_plain(in, strlen(in), &length);
	cr_assert_not_null(text);
	cr_expect(strstr(text, "[31m"), "the output is drawn to its end");
	free(text);
}

Test(mcp_text, clipping_keeps_head_tail_and_whole_characters)
{
	uint64_t omitted;
	char *text = mcp_clip(strdup("short"), 5, &omitted);
	cr_assert_str_eq(text, "short");
	cr_assert_eq(omitted, 0);
	free(text);
	text = mcp_clip(strdup("abcdefghij"), 4, &omitted);
	cr_assert_str_eq(text, "ab\n… 6 bytes omitted …\nij");
	cr_assert_eq(omitted, 6);
	free(text);
	text = mcp_clip(strdup("äöüäöüäöü"), 7, &omitted);
	cr_assert_str_eq(text, "ä\n… 12 bytes omitted …\nöü");
	cr_assert_eq(omitted, 12);
	free(text);
	cr_assert_null(mcp_clip(NULL, 7, &omitted));
	text = mcp_join("a\r\n\033[1mb", 8, "\xa4y\033[m", 5, 99);
	cr_assert_str_eq(text, "a\nb\n… 99 bytes omitted …\ny");
	free(text);
}

Test(mcp_text, invisible_characters_are_escaped)
{
	size_t length;
	char *text = mcp_plain("a\xe2\x80\xae\033[31mb", 10, &length);
	cr_expect_str_eq(text, "a\\u{202E}b");
	cr_expect_eq(length, strlen(text));
	free(text);
	json_t *lines = json_pack("[{s:s}]", "text", "x\U000e0041"), *shown = mcp_lines_text(lines);
	cr_expect_str_eq(json_string_value(shown), "x\\u{E0041}\n");
	json_decref(shown);
	json_decref(lines);
}

Test(mcp_text, invisible_characters_in_values_are_escaped)
{
	json_t *value = json_of("{'title':'a\u202eb','terminal':{'blocks':['plain',1,"
				"{'command':'\u2066x\u2069'}]},'cwd':'caf\u00e9'}");
	mcp_escape_texts(value);
	json_expect(value,
		"{'title':'a\\\\u{202E}b','terminal':{'blocks':['plain',1,"
		"{'command':'\\\\u{2066}x\\\\u{2069}'}]},'cwd':'caf\u00e9'}");
	mcp_escape_texts(NULL);
}

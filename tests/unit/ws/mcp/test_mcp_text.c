#include "tests/lib/leak.h"
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
	{"one\033[1m\ntwo\033[m\nthree\n", "one\ntwo\nthree\n"}, /* through a pipe */
	{"a\r\n\r\nb\r\n\033[m", "a\n\nb"},
	{"\007bell\n", "bell\n"},
	{"\033[", ""},
};

Test(mcp_text, output_as_a_terminal_shows_it)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t length;
		char *text = mcp_plain(cases[i].in, strlen(cases[i].in), &length);
		cr_assert_str_eq(text, cases[i].want, "%zu: %s", i, text);
		cr_assert_eq(length, strlen(text));
		free(text);
	}
	ASSERT_NO_LEAKS();
}

Test(mcp_text, lines_that_are_wider_and_more_than_a_screen)
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
	ASSERT_NO_LEAKS();
}

Test(mcp_text, output_that_redraws_the_screen_all_the_time_ends_soon)
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
	ASSERT_NO_LEAKS();
}

Test(mcp_text, clipping_keeps_head_and_tail_and_whole_characters)
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
	ASSERT_NO_LEAKS();
}

static void says(char *text, const char *want)
{
	cr_assert_str_eq(text, want);
	free(text);
}

Test(mcp_text, what_imitates_a_status_or_hides_is_told)
{
	json_t *exec = json_pack("{s:s, s:i, s:s, s:s}", "state", "done", "exit_code", 1, "cwd",
		"/a\nexit code 0", "output", "exit code 0, in /\n\u202e\n");
	says(mcp_exec_text(exec),
		"exit code 1, 22 bytes of output, in /a\\nexit code 0\nexit code 0, in /\n\\u{202E}\n");
	json_decref(exec);
	size_t length;
	char *text = mcp_plain("a\xe2\x80\xae\033[31mb", 10, &length);
	cr_expect_str_eq(text, "a\\u{202E}b");
	cr_expect_eq(length, strlen(text));
	free(text);
	json_t *lines = json_pack("[{s:s}]", "text", "x\U000e0041"), *shown = mcp_lines_text(lines);
	cr_expect_str_eq(json_string_value(shown), "x\\u{E0041}\n");
	json_decref(shown);
	json_decref(lines);
	ASSERT_NO_LEAKS();
}

Test(mcp_text, words_about_commands)
{
	json_t *done = json_pack("{s:s, s:i, s:s, s:i, s:s, s:s}", "state", "done", "exit_code",
		130, "signal", "INT", "duration_ms", 1500, "cwd", "/tmp", "output", "out\n");
	says(mcp_exec_text(done),
		"exit code 130 (SIGINT), 1.50 s, 4 bytes of output, in /tmp\nout\n");
	json_t *runs = json_pack("{s:s, s:s, s:i, s:{s:s, s:s, s:{s:s}, s:i}, s:s}", "state",
		"running", "exec_id", "s/e", "cursor", 9, "terminal", "status", "waiting_input",
		"input", "password", "foreground", "name", "sudo", "quiet_ms", 1200, "output",
		"Password: ");
	says(mcp_exec_text(runs),
		"running: exec_id s/e, cursor 9\nterminal: waiting_input (password): sudo, quiet for 1.2 s\n"
		"A secret is asked for: have a person type it into this terminal.\nPassword: ");
	json_t *never = json_pack(
		"{s:s, s:n, s:s}", "state", "done", "exit_code", "ended_by", "busy");
	says(mcp_exec_text(never), "not run to its end: busy\n");
	json_decref(done);
	json_decref(runs);
	json_decref(never);
	ASSERT_NO_LEAKS();
}

Test(mcp_text, long_commands_are_cut_in_lists)
{
	char *long_one = malloc(1001);
	memset(long_one, 'x', 1000);
	long_one[1000] = '\0';
	memcpy(long_one + 399, "\xe2\x82\xac", 3);
	json_t *history = json_pack("{s:[{s:s, s:s, s:i, s:s}, {s:s, s:n, s:s}]}", "blocks", "id",
		"b1", "author", "human", "exit_code", 1, "command", long_one, "id", "b2", "command",
		"state", "running");
	char *text = mcp_history_text(history);
	cr_assert_eq(strncmp(text, "b1 human, exit code 1: xxx", 26), 0, "%s", text);
	cr_assert_not_null(strstr(text, "xxx…\nb2, running: (unknown)\n"), "%s", text);
	cr_assert_lt(strlen(text), 480);
	free(text);
	free(long_one);
	json_decref(history);
	ASSERT_NO_LEAKS();
}

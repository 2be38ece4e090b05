#include "ws/log.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char text[16384];
static int saved = -1, fds[2];

/* Redirect standard error to a pipe. */
static void capture(void)
{
	cr_assert_eq(pipe2(fds, O_NONBLOCK), 0);
	saved = dup(2);
	dup2(fds[1], 2);
}

/* The output without its time. */
static const char *captured(void)
{
	dup2(saved, 2);
	ssize_t n = read(fds[0], text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	const char *rest = strchr(text, ' ');
	return rest ? rest + 1 : text;
}

Test(log_write, plain_line)
{
	capture();
	log_write(LOG_WARN, "auth", "refused", "peer", "127.0.0.1", NULL);
	cr_assert_str_eq(captured(), "level=warn module=auth msg=refused peer=127.0.0.1\n");
	cr_assert_eq(strncmp(text, "ts=20", 5), 0);
	cr_assert_eq(strcspn(text, " "), strlen("ts=2026-11-21T05:17:00.000Z"));
}

Test(log_write, values_are_quoted_and_escaped_where_needed)
{
	static const struct {
		const char *value, *shown;
	} cases[] = {{"", "\"\""}, {"x=y", "\"x=y\""}, {"say \"hi\"", "\"say \\\"hi\\\"\""},
		{"back\\slash", "\"back\\\\slash\""}, {"caf\u00e9", "caf\u00e9"},
		{"new\nline", "\"new\\x0aline\""}, {"\x1b[31m", "\\x1b[31m"},
		{"\x7f\x01", "\\x7f\\x01"}, {"t\tay", "\"t\\x09ay\""},
		/* Terminals interpret U+009B as CSI. */
		{"\xc2\x9b[", "\\xc2\\x9b["}, {"\x9b[", "\\x9b["},
		/* As in an Origin header, which any client can send. */
		{"http://\u202egpj.exe", "http://\\xe2\\x80\\xaegpj.exe"},
		{"\u2066x\u2069", "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9"},
		/* No client can forge a line. */
		{"1\nts=2026 level=error", "\"1\\x0ats=2026 level=error\""},
		{"\" level=error", "\"\\\" level=error\""}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char want[256];
		snprintf(want, sizeof want, "level=error module=m msg=\"two words\" a=%s\n",
			cases[i].shown);
		capture();
		log_write(LOG_ERROR, "m", "two words", "a", cases[i].value, NULL);
		cr_expect_str_eq(captured(), want);
	}
}

Test(log_write, long_line_is_cut_and_terminated)
{
	char value[10000];
	memset(value, '\n', sizeof value - 1);
	value[sizeof value - 1] = '\0';
	capture();
	log_write(LOG_INFO, "m", "x", "a", value, "b", value, NULL);
	captured();
	cr_assert_leq(strlen(text), 2048);
	cr_assert_eq(text[strlen(text) - 1], '\n');
}

Test(log_write, levels_below_the_limit_are_dropped)
{
	capture();
	log_write(LOG_DEBUG, "m", "x", NULL);
	cr_assert_str_eq(captured(), "");
	log_set_level(LOG_ERROR);
	capture();
	log_write(LOG_WARN, "m", "x", NULL);
	cr_assert_str_eq(captured(), "");
	log_set_level(LOG_DEBUG);
	capture();
	log_write(LOG_DEBUG, "m", "x", NULL);
	cr_assert_str_eq(captured(), "level=debug module=m msg=x\n");
}

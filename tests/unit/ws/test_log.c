#include "ws/log.h"

#include <criterion/criterion.h>
#include <fcntl.h>
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

Test(log_write, values_are_quoted_where_needed)
{
	capture();
	log_write(LOG_ERROR, "m", "two words", "a", "", "b", "x=y", "c", "say \"hi\"", "d",
		"back\\slash", "e", "caf\xc3\xa9", NULL);
	cr_assert_str_eq(captured(),
		"level=error module=m msg=\"two words\" a=\"\" b=\"x=y\" c=\"say \\\"hi\\\"\" d=\"back\\\\slash\" "
		"e=caf\xc3\xa9\n");
}

Test(log_write, controls_are_escaped)
{
	capture();
	log_write(LOG_INFO, "m", "x", "a", "new\nline", "b", "\x1b[31m", "c", "\x7f\x01", "d",
		"t\tab", NULL);
	cr_assert_str_eq(captured(),
		"level=info module=m msg=x a=\"new\\x0aline\" b=\\x1b[31m c=\\x7f\\x01 d=\"t\\x09"
		"ab\"\n");
}

Test(log_write, c1_controls_are_escaped_too)
{
	capture();
	log_write(LOG_INFO, "m", "x", "a",
		"\xc2\x9b"
		"31m",
		"b",
		"\x9b"
		"31m",
		NULL);
	const char *line = captured();
	cr_assert_null(strstr(line, "\xc2\x9b"), "terminals interpret U+009B as CSI");
}

/* As in an Origin header, which any client can send. */
Test(log_write, direction_marks_are_escaped_too)
{
	capture();
	log_write(LOG_WARN, "m", "x", "a", "http://\u202egpj.exe", "b", "\u2066caf\u00e9\u2069",
		NULL);
	cr_assert_str_eq(captured(),
		"level=warn module=m msg=x a=http://\\xe2\\x80\\xaegpj.exe "
		"b=\\xe2\\x81\\xa6caf\u00e9\\xe2\\x81\\xa9\n");
}

Test(log_write, no_client_can_forge_a_line)
{
	capture();
	log_write(LOG_INFO, "m", "x", "a", "1\nts=2026 level=error msg=forged", "b",
		"\" level=error", NULL);
	const char *line = captured();
	cr_assert_eq(strchr(line, '\n'), line + strlen(line) - 1);
	cr_assert_not_null(strstr(line, "b=\"\\\" level=error\""));
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

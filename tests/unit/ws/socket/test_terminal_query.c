#include "ws/socket/terminal_query.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Split "a=1&b=2" as the transport does, without decoding. */
static struct refusal parse(const char *query, struct terminal_query *q)
{
	static char text[2048];
	char *params[32];
	size_t n = 0;
	snprintf(text, sizeof text, "%s", query);
	for (char *p = strtok(text, "&"); p; p = strtok(NULL, "&"))
		params[n++] = p;
	return terminal_query_parse(params, n, q);
}

Test(terminal_query_parse, session_only)
{
	struct terminal_query q;
	cr_assert_eq(parse("sessionId=main", &q).status, 0);
	cr_assert_str_eq(q.session, "main");
	cr_assert_str_eq(q.name, "");
	cr_assert_str_eq(q.shell, "");
	cr_assert_eq(q.rows + q.cols, 0);
	cr_assert_not(q.resume);
}

Test(terminal_query_parse, all_parameters)
{
	struct terminal_query q;
	cr_assert_eq(parse("sessionId=a.b&cols=132&rows=43&name=Zo\xc3\xab&shell=/bin/bash&"
			   "epoch=0123456789abcdef&offset=9223372036854775807&scrollback=7&lag=9",
			     &q)
			     .status,
		0);
	cr_assert_eq(q.cols, 132);
	cr_assert_eq(q.rows, 43);
	cr_assert_str_eq(q.name, "Zo\xc3\xab");
	cr_assert_str_eq(q.shell, "/bin/bash");
	cr_assert(q.resume);
	cr_assert_eq(q.epoch, UINT64_C(0x0123456789abcdef));
	cr_assert_eq(q.offset, INT64_MAX);
	cr_assert_eq(q.lines, 7);
	cr_assert_eq(q.lag, 9);
}

Test(terminal_query_parse, invalid_parameters_are_refused)
{
	static const char *const cases[] = {"", "cols=80", "sessionId=", "sessionId=../x",
		"sessionId=.x", "sessionId=a b", "sessionId=a&name=\x1b[m", "sessionId=a&name=\xff",
		"sessionId=a&epoch=0123456789abcdef", "sessionId=a&epoch=0123456789abcde&offset=1",
		"sessionId=a&epoch=0123456789ABCDEF&offset=1",
		"sessionId=a&epoch=0123456789abcdef0&offset=1", "sessionId=a&epoch=&offset=1",
		"sessionId=a&epoch=0123456789abcdef&offset=",
		"sessionId=a&epoch=0123456789abcdef&offset=-1",
		"sessionId=a&epoch=0123456789abcdef&offset=9223372036854775808",
		"sessionId=a&epoch=0123456789abcdef&offset=1x", "sessionId=a&client=a b",
		"sessionId=a&client=c&typed=-1", "sessionId=a&scrollback=x",
		"sessionId=a&scrollback=-1", "sessionId=a&lag=1.5", "sessionId=a&lag="};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct terminal_query q = {.session = "untouched"};
		struct refusal r = parse(cases[i], &q);
		cr_expect_eq(r.status, 400, "%s", cases[i]);
		cr_expect_str_eq(r.code, "VALIDATION_FAILED");
		cr_expect_str_eq(q.session, "untouched");
	}
}

Test(terminal_query_parse, invalid_window_is_ignored)
{
	static const char *const cases[] = {"cols=80", "cols=0&rows=24", "cols=1001&rows=24",
		"cols=-1&rows=24", "cols=x&rows=24", "cols=80&rows=", "cols=80.5&rows=24"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct terminal_query q;
		char text[100];
		snprintf(text, sizeof text, "sessionId=a&%s", cases[i]);
		cr_expect_eq(parse(text, &q).status, 0, "%s", cases[i]);
		cr_expect_eq(q.rows + q.cols, 0, "%s", cases[i]);
	}
}

Test(terminal_query_parse, offset_without_an_epoch_is_ignored)
{
	struct terminal_query q;
	cr_assert_eq(parse("sessionId=a&offset=7", &q).status, 0);
	cr_assert_not(q.resume);
}

Test(terminal_query_parse, shell_that_is_too_long)
{
	struct terminal_query q;
	char text[400] = "sessionId=a&shell=";
	size_t before = strlen(text);
	memset(text + before, 'x', sizeof q.shell - 1);
	text[before + sizeof q.shell - 1] = '\0';
	cr_assert_eq(parse(text, &q).status, 0);
	strcat(text, "x");
	cr_assert_eq(parse(text, &q).status, 400);
}

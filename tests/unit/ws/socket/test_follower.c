/* The query of /ws/terminal, whatever it says. */
#include "ws/socket/follower.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define RUNTIME "01234567-89ab-8def-8123-456789abcdef"
#define MINE "terminalId=t&runtimeIncarnationID=" RUNTIME

/* Split "a=1&b=2" as the transport does, but for the decoding. */
static struct refusal parse(const char *query, struct follower_query *q)
{
	static char text[2048];
	char *params[32];
	size_t n = 0;
	snprintf(text, sizeof text, "%s", query);
	for (char *p = strtok(text, "&"); p; p = strtok(NULL, "&"))
		params[n++] = p;
	return follower_parse(params, n, RUNTIME, q);
}

Test(follower_parse, terminal_alone)
{
	struct follower_query q;
	cr_assert_eq(parse(MINE, &q).status, 0);
	cr_assert_str_eq(q.id, "t");
	cr_assert_eq(q.rows + q.cols, 0);
	cr_assert_not(q.resumes);
	cr_assert_not(q.strange);
}

Test(follower_parse, everything)
{
	char query[600], cursor[CURSOR_SIZE];
	struct follower_query q;
	cursor_format("t", INT64_MAX, cursor);
	snprintf(query, sizeof query, MINE "&cols=132&rows=43&cursor=%s", cursor);
	cr_assert_eq(parse(query, &q).status, 0);
	cr_assert_eq(q.cols, 132);
	cr_assert_eq(q.rows, 43);
	cr_assert(q.resumes);
	cr_assert_not(q.strange);
	cr_assert_eq(q.offset, INT64_MAX);
}

Test(follower_parse, refuses)
{
	static const struct {
		const char *query;
		int status;
	} cases[] = {
		{"", 400},
		{"terminalId=", 400},
		{"runtimeIncarnationID=" RUNTIME, 400},
		{"terminalId=&runtimeIncarnationID=" RUNTIME, 400},
		{"terminalId=t", 409},
		{"terminalId=t&runtimeIncarnationID=", 409},
		{"terminalId=t&runtimeIncarnationID=" RUNTIME "0", 409},
		{"terminalId=t&runtimeIncarnationID=01234567-89AB-8DEF-8123-456789ABCDEF", 409},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct follower_query q = {.id = "untouched"};
		cr_expect_eq(
			parse(cases[i].query, &q).status, cases[i].status, "%s", cases[i].query);
		cr_expect_str_eq(q.id, "untouched");
	}
}

/* It is on the socket that it is told: browsers do not see why an upgrade is refused. */
Test(follower_parse, no_terminal_can_have_such_an_id)
{
	static const char *const ids[] = {"../t", ".", "..", "a/b", "a b", "\xff", "\x1b[m", "-\n"};
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		char query[200];
		struct follower_query q = {.id = "x"};
		snprintf(query, sizeof query, "terminalId=%s&runtimeIncarnationID=" RUNTIME, ids[i]);
		cr_expect_eq(parse(query, &q).status, 0, "%s", ids[i]);
		cr_expect_str_eq(q.id, "");
	}
	char long_id[NAME_ID_MAX + 2], query[sizeof long_id + 100];
	struct follower_query q;
	memset(long_id, 'x', sizeof long_id - 1);
	long_id[sizeof long_id - 1] = '\0';
	snprintf(query, sizeof query, "terminalId=%s&runtimeIncarnationID=" RUNTIME, long_id);
	cr_assert_eq(parse(query, &q).status, 0);
	cr_assert_str_eq(q.id, "");
}

Test(follower_parse, cursors_of_nothing_or_of_others)
{
	char other[CURSOR_SIZE], query[600];
	cursor_format("other", 5, other);
	const char *const cursors[] = {other, "x", "%%", "djEudC4tMQ", "djEudC4wMQ", "\xff"};
	for (size_t i = 0; i < sizeof cursors / sizeof *cursors; i++) {
		struct follower_query q;
		snprintf(query, sizeof query, MINE "&cursor=%s", cursors[i]);
		cr_expect_eq(parse(query, &q).status, 0);
		cr_expect(q.resumes && q.strange, "%s", cursors[i]);
		cr_expect_eq(q.offset, 0);
	}
	struct follower_query q;
	cr_assert_eq(parse(MINE "&cursor=", &q).status, 0);
	cr_assert_not(q.resumes);
}

Test(follower_parse, sizes_that_are_none_are_not_given)
{
	static const char *const sizes[] = {"cols=80", "rows=24", "cols=0&rows=24", "cols=80&rows=0",
		"cols=-1&rows=24", "cols=80&rows=+24", "cols=80&rows=24x", "cols=4294967376&rows=24",
		"cols=99999999999999999999&rows=24", "cols=&rows=", "cols=1e2&rows=24"};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char query[200];
		struct follower_query q;
		snprintf(query, sizeof query, MINE "&%s", sizes[i]);
		cr_expect_eq(parse(query, &q).status, 0);
		cr_expect_eq(q.rows + q.cols, 0, "%s", sizes[i]);
	}
}

#include "tests/lib/json_text.h"
#include "ws/json/run.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

TestSuite(run_json, .timeout = 30);

static struct excerpt_parts parts(const char *head, const char *tail, uint64_t omitted)
{
	size_t h = strlen(head), t = strlen(tail);
	return (struct excerpt_parts){
		(const uint8_t *)head, h, (const uint8_t *)tail, t, omitted, h + t + omitted};
}

/* The output of a result as JSON. */
static json_t *output(const struct run_result *result, bool base64)
{
	json_t *body = json_object();
	cr_assert(run_output_json(body, result, base64));
	return body;
}

Test(run_json, complete_output)
{
	struct run_result result = {.output = {parts("out\n", "", 0), parts("caf\xc3\xa9", "", 0)}};
	json_expect(output(&result, false), "{'stdout':'out\\n','stderr':'caf\xc3\xa9'}");
	json_expect(output(&result, true), "{'stdout':'b3V0Cg==','stderr':'Y2Fmw6k='}");
}

Test(run_json, text_is_cut_between_characters)
{
	/* A character before the gap lacks its last byte, one after the gap its first two. */
	struct run_result result = {.output = {parts("ab\xc3",
						       "\x82\xac"
						       "cd",
						       100),
					    parts("", "", 0)}};
	json_expect(output(&result, false),
		"{'stdout':'abcd','stderr':'','truncated':{'stdout':"
		"{'omittedBytes':103,'totalBytes':107,'headBytes':2}}}");
	json_expect(output(&result, true),
		"{'stdout':'YWLDgqxjZA==','stderr':'','truncated':{'stdout':"
		"{'omittedBytes':100,'totalBytes':107,'headBytes':3}}}");
}

Test(run_json, replaced_bytes_are_reported)
{
	struct run_result result = {.output = {parts("", "", 0), parts("\xff", "", 0)}};
	json_expect(output(&result, false), "{'stdout':'','stderr':'\xef\xbf\xbd','lossy':true}");
}

Test(run_json, limit_zero)
{
	struct run_result result = {.output = {{.omitted = 9, .total = 9}, parts("", "", 0)}};
	for (int base64 = 0; base64 < 2; base64++)
		json_expect(output(&result, base64),
			"{'stdout':'','stderr':'','truncated':{'stdout':"
			"{'omittedBytes':9,'totalBytes':9,'headBytes':0}}}");
}

static void expect_end(const struct run_result *result, const char *want)
{
	json_t *body = json_object();
	run_end_json(body, result);
	json_expect(body, want);
}

Test(run_json, ends)
{
	struct run_result result = {.status = SIGKILL,
		.started_ms = 1000,
		.ended_ms = 2000,
		.duration_us = 1234567,
		.survivors = 2,
		.cancelled = true};
	expect_end(&result,
		"{'exitCode':137,'signal':'KILL','timedOut':false,'cancelled':true,'durationMs':1234,"
		"'startedAt':'1970-01-01T00:00:01.000Z','endedAt':'1970-01-01T00:00:02.000Z',"
		"'outputExact':true,'survivors':2}");
	result = (struct run_result){.status = 3 << 8, .timed_out = true};
#define TIMED_OUT "{'exitCode':124,'timedOut':true,'durationMs':0,'startedAt':null,'endedAt':null,"
	expect_end(&result, TIMED_OUT "'outputExact':true}");
	result.open = true;
	expect_end(&result, TIMED_OUT "'outputExact':false,'inexact':'late_writers'}");
}

Test(run_json, line_is_appended)
{
	json_t *body = json_of("{'a':'text','b':'line\\n','c':''}");
	cr_assert(run_json_add_line(body, "a", "more\n"));
	cr_assert(run_json_add_line(body, "b", "more\n"));
	cr_assert(run_json_add_line(body, "c", "more\n"));
	json_expect(body, "{'a':'text\\nmore\\n','b':'line\\nmore\\n','c':'more\\n'}");
}

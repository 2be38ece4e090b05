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

Test(run_json, complete_output)
{
	struct run_result result = {.output = {parts("out\n", "", 0), parts("caf\xc3\xa9", "", 0)}};
	json_t *body = json_object();
	cr_assert(run_output_json(body, &result, false));
	json_t *want = json_pack("{s:s, s:s}", "stdout", "out\n", "stderr", "caf\xc3\xa9");
	cr_expect(json_equal(body, want));
	json_decref(body);
	json_decref(want);
	body = json_object();
	cr_assert(run_output_json(body, &result, true));
	want = json_pack("{s:s, s:s}", "stdout", "b3V0Cg==", "stderr", "Y2Fmw6k=");
	cr_expect(json_equal(body, want));
	json_decref(body);
	json_decref(want);
}

Test(run_json, text_is_cut_between_characters)
{
	/* A character before the gap lacks its last byte, one after the gap its first two. */
	struct run_result result = {.output = {parts("ab\xc3",
						       "\x82\xac"
						       "cd",
						       100),
					    parts("", "", 0)}};
	json_t *body = json_object();
	cr_assert(run_output_json(body, &result, false));
	json_t *want = json_pack("{s:s, s:s, s:{s:{s:i, s:i, s:i}}}", "stdout", "abcd", "stderr",
		"", "truncated", "stdout", "omittedBytes", 103, "totalBytes", 107, "headBytes", 2);
	cr_expect(json_equal(body, want), "%s", json_dumps(body, 0));
	json_decref(body);
	json_decref(want);
	body = json_object();
	cr_assert(run_output_json(body, &result, true));
	want = json_pack("{s:s, s:s, s:{s:{s:i, s:i, s:i}}}", "stdout", "YWLDgqxjZA==", "stderr",
		"", "truncated", "stdout", "omittedBytes", 100, "totalBytes", 107, "headBytes", 3);
	cr_expect(json_equal(body, want), "%s", json_dumps(body, 0));
	json_decref(body);
	json_decref(want);
}

Test(run_json, replaced_bytes_are_reported)
{
	struct run_result result = {.output = {parts("", "", 0), parts("\xff", "", 0)}};
	json_t *body = json_object();
	cr_assert(run_output_json(body, &result, false));
	cr_expect(json_is_true(json_object_get(body, "lossy")));
	cr_expect_str_eq(json_string_value(json_object_get(body, "stderr")), "\xef\xbf\xbd");
	json_decref(body);
}

Test(run_json, limit_zero)
{
	struct run_result result = {.output = {{.omitted = 9, .total = 9}, parts("", "", 0)}};
	for (int base64 = 0; base64 < 2; base64++) {
		json_t *body = json_object();
		cr_assert(run_output_json(body, &result, base64));
		cr_expect_str_eq(json_string_value(json_object_get(body, "stdout")), "");
		cr_expect_not_null(json_object_get(body, "truncated"));
		json_decref(body);
	}
}

Test(run_json, ends)
{
	struct run_result result = {.status = SIGKILL,
		.started_ms = 1000,
		.ended_ms = 2000,
		.duration_us = 1234567,
		.survivors = 2,
		.cancelled = true};
	json_t *body = json_object();
	run_end_json(body, &result);
	json_t *want = json_pack("{s:i, s:s, s:b, s:b, s:i, s:s, s:s, s:b, s:i}", "exitCode", 137,
		"signal", "KILL", "timedOut", 0, "cancelled", 1, "durationMs", 1234, "startedAt",
		"1970-01-01T00:00:01.000Z", "endedAt", "1970-01-01T00:00:02.000Z", "outputExact", 1,
		"survivors", 2);
	cr_expect(json_equal(body, want), "%s", json_dumps(body, 0));
	json_decref(body);
	json_decref(want);
	result = (struct run_result){.status = 3 << 8, .timed_out = true};
	body = json_object();
	run_end_json(body, &result);
	cr_expect_eq(json_integer_value(json_object_get(body, "exitCode")), 124);
	cr_expect_null(json_object_get(body, "signal"));
	cr_expect_null(json_object_get(body, "survivors"));
	cr_expect_null(json_object_get(body, "inexact"));
	json_decref(body);
	result.open = true;
	body = json_object();
	run_end_json(body, &result);
	cr_expect(json_is_false(json_object_get(body, "outputExact")));
	cr_expect_str_eq(json_string_value(json_object_get(body, "inexact")), "late_writers");
	json_decref(body);
}

Test(run_json, line_is_appended)
{
	json_t *body = json_pack("{s:s, s:s, s:s}", "a", "text", "b", "line\n", "c", "");
	cr_assert(run_json_add_line(body, "a", "more\n"));
	cr_assert(run_json_add_line(body, "b", "more\n"));
	cr_assert(run_json_add_line(body, "c", "more\n"));
	json_t *want = json_pack(
		"{s:s, s:s, s:s}", "a", "text\nmore\n", "b", "line\nmore\n", "c", "more\n");
	cr_expect(json_equal(body, want));
	json_decref(body);
	json_decref(want);
}

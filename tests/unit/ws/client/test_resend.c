#include "tests/lib/json_text.h"
#include "ws/client/resend.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(resend, .timeout = 60);

static json_t *call(const char *tool, const char *args)
{
	return json_pack("{s:i, s:s, s:{s:s, s:o}}", "id", 7, "method", "tools/call", "params",
		"name", tool, "arguments", json_of(args));
}

static const char *key_of(const json_t *message)
{
	return json_string_value(json_object_get(
		json_object_get(json_object_get(message, "params"), "arguments"), "key"));
}

Test(resend, calls_that_may_be_repeated)
{
	static const struct {
		const char *tool, *args;
		bool safe;
	} cases[] = {
		{"exec_read", "{}", true},
		{"wait", "{}", true},
		{"snapshot", "{}", true},
		{"exec", "{'command':'rm x'}", false},
		{"exec", "{'command':'rm x','key':'k'}", true},
		{"exec", "{'command':'rm x','key':1}", false},
		{"send_keys", "{'key':'k'}", false},
		{"exec_command", "{'cmd':'rm x','key':'k'}", false},
		{"write_file", "{}", false},
		{"session_create", "{}", false},
		{"", "{}", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *message = call(cases[i].tool, cases[i].args);
		cr_assert_eq(resend_is_safe(message), cases[i].safe, "%s %s", cases[i].tool,
			cases[i].args);
		json_decref(message);
	}
	json_t *list = json_of("{'id':1,'method':'tools/list'}");
	cr_assert(resend_is_safe(list));
	cr_assert(!resend_is_safe(NULL));
	json_decref(list);
}

Test(resend, command_gets_a_key)
{
	json_t *one = call("exec", "{'command':'x'}"), *two = call("exec", "{'command':'x'}");
	json_t *given = call("exec", "{'key':'mine'}"), *other = call("snapshot", "{}");
	cr_assert(resend_prepare(one) && resend_prepare(two));
	cr_assert_eq(strlen(key_of(one)), 32);
	cr_assert_str_neq(key_of(one), key_of(two));
	cr_assert(resend_is_safe(one));
	cr_assert(!resend_prepare(given));
	cr_assert_str_eq(key_of(given), "mine");
	cr_assert(!resend_prepare(other) && !resend_prepare(NULL));
	json_decref(one);
	json_decref(two);
	json_decref(given);
	json_decref(other);
}

Test(resend, repeated_call_is_marked)
{
	json_t *plain = call("exec", "{}"), *list = json_of("{'method':'tools/list'}");
	resend_mark(plain);
	resend_mark(list);
	cr_assert(json_is_true(json_object_get(
		json_object_get(json_object_get(plain, "params"), "_meta"), RESEND_META)));
	cr_assert_null(json_object_get(list, "params"));
	json_decref(plain);
	json_decref(list);
}

/*
 * The reply about the failure of a message must have these values, and a resultType only if want has one. Returns its
 * text, which is valid until the next call.
 */
static const char *failure(const json_t *message, bool sent, const char *want)
{
	static char text[1024];
	json_t *lost = resend_failure(message, sent, "/run/x"), *content;
	const json_t *result = json_object_get(lost, "result");
	json_has(lost, want, "failure");
	cr_expect_eq(!json_object_get(result, "resultType"), !strstr(want, "resultType"));
	content = json_object_get(result, "content");
	snprintf(text, sizeof text, "%s",
		content ? json_string_value(json_object_get(json_array_get(content, 0), "text"))
			: "");
	json_decref(lost);
	return text;
}

Test(resend, reply_after_a_lost_connection)
{
	json_t *message = call("send_keys", "{}");
	const char *text = failure(message, true, "{'id':7,'result':{'isError':true}}");
	cr_assert_eq(strncmp(text, "ANSWER_LOST: ", 13), 0, "%s", text);
	cr_assert_not_null(strstr(text, "not known whether send_keys was done"));
	text = failure(message, false, "{'result':{}}");
	cr_assert_not_null(strstr(text, "nothing of send_keys was done"));
	json_object_set_new(json_object_get(message, "params"), "_meta",
		json_of("{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"));
	failure(message, true, "{'result':{'resultType':'complete'}}");
	json_object_set_new(message, "method", json_string("ping"));
	failure(message, true, "{'error':{}}");
	json_decref(message);
}

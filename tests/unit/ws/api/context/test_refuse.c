/*
 * Errors of a missing executor in both forms: {code, message ...}, and {error, code, details} of POST
 * /api/execute/code.
 */
#include "shell/own_error.h"
#include "tests/lib/json_text.h"
#include "ws/api/context/refuse.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static const char *header_of(const struct request *r, const char *name)
{
	for (size_t i = 0; i < r->reply.headers_count; i++)
		if (strcmp(r->reply.headers[i].name, name) == 0)
			return r->reply.headers[i].value;
	return NULL;
}

static json_t *refusal(struct request *r, int error, bool code)
{
	r->directory.looked = true;
	api_context_refuse_start(r, LANGUAGE_PYTHON, "/", error, code);
	json_t *body = json_loadb(r->reply.body, r->reply.length, 0, NULL);
	cr_assert_not_null(body);
	return body;
}

Test(context_refuse, slow_start_may_be_retried)
{
	for (int code = 0; code < 2; code++) {
		struct request *r = request_create();
		json_t *body = refusal(r, -ETIMEDOUT, code);
		cr_expect_eq(r->reply.status, 503);
		cr_expect_str_eq(header_of(r, "Retry-After"), REPLY_RETRY_S);
		json_has(body, "{'code':'INTERPRETER_NOT_READY'}", "slow start");
		json_has(json_object_get(body, code ? "details" : "context"),
			"{'retryAfter':30,'language':'python'}", "slow start");
		json_decref(body);
		request_unref(r);
	}
}

Test(context_refuse, permanent_failure_is_not_retried)
{
	static const struct {
		int error, status;
		const char *code, *code_of_code;
	} cases[] = {{-EIO, 500, "INTERNAL_ERROR", "CODE_EXECUTION_ERROR"},
		{-ERR_NOT_INSTALLED, 501, "PYTHON_NOT_AVAILABLE", "PYTHON_NOT_AVAILABLE"},
		{-ERR_LIMIT, 429, "LIMIT_REACHED", "LIMIT_REACHED"}};
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		bool code = i % 2;
		struct request *r = request_create();
		json_t *body = refusal(r, cases[i / 2].error, code);
		cr_expect_eq(r->reply.status, cases[i / 2].status);
		cr_expect_null(header_of(r, "Retry-After"));
		cr_expect_str_eq(json_string_value(json_object_get(body, "code")),
			code ? cases[i / 2].code_of_code : cases[i / 2].code);
		json_decref(body);
		request_unref(r);
	}
}

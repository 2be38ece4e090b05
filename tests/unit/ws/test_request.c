#include "tests/lib/counting_transport.h"
#include "tests/lib/json_text.h"
#include "ws/request.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static unsigned closed;

static void on_closed(void *user)
{
	(void)user;
	closed++;
}

static char *no_event(void *user)
{
	(void)user;
	return NULL;
}

static const struct request_transport transport = {
	.answered = count_answered, .streaming = count_streaming};
static const struct event_stream stream = {.next = no_event, .closed = on_closed};

static struct request *make(void)
{
	struct request *r = request_create();
	cr_assert_not_null(r);
	r->transport = &transport;
	return r;
}

static struct request *request;
static json_t *body; /* of its reply */

static void set_up(void)
{
	request = make();
}

static void tear_down(void)
{
	json_decref(body);
	request_unref(request);
}

static void read_body(void)
{
	const struct reply *reply = &request->reply;
	body = json_loadb(reply->body, reply->length, 0, NULL);
	cr_assert_not_null(body, "%.*s", (int)reply->length, reply->body);
}

#define SUITE .init = set_up, .fini = tear_down
TestSuite(reply_success, SUITE);
TestSuite(reply_error, SUITE);
TestSuite(reply_invalid, SUITE);
TestSuite(reply_json, SUITE);
TestSuite(reply_header, SUITE);
TestSuite(reply_bytes, SUITE);

Test(params_find, table)
{
	char *const params[] = {(char[]){"a=1"}, (char[]){"ab=2"}, (char[]){"b"}, (char[]){"c="},
		(char[]){"a=3"}, (char[]){"=x"}, (char[]){"d=e=f"}};
	const size_t n = sizeof params / sizeof *params;
	cr_assert_str_eq(params_find(params, n, "a"), "1");
	cr_assert_str_eq(params_find(params, n, "ab"), "2");
	cr_assert_null(params_find(params, n, "b"));
	cr_assert_str_eq(params_find(params, n, "c"), "");
	cr_assert_str_eq(params_find(params, n, "d"), "e=f");
	cr_assert_null(params_find(params, n, "A"));
	cr_assert_null(params_find(params, n, "x"));
	cr_assert_null(params_find(params, 0, "a"));
}

Test(params_number, table)
{
	static const struct {
		const char *text;
		uint64_t max;
		bool good;
		uint64_t want;
	} cases[] = {
		{"0", 10, true, 0},
		{"10", 10, true, 10},
		{"007", 10, true, 7},
		{"11", 10, false, 0},
		{"", 10, false, 0},
		{"-1", 10, false, 0},
		{"+1", 10, false, 0},
		{" 1", 10, false, 0},
		{"1.0", 10, false, 0},
		{"0x5", 10, false, 0},
		{"0", 0, true, 0},
		{"18446744073709551615", UINT64_MAX, true, UINT64_MAX},
		{"18446744073709551616", UINT64_MAX, false, 0},
		{"9223372036854775807", INT64_MAX, true, INT64_MAX},
		{"9223372036854775808", INT64_MAX, false, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t n = 12345;
		bool good = params_number(cases[i].text, cases[i].max, &n);
		cr_expect_eq(good, cases[i].good, "%s", cases[i].text);
		cr_expect_eq(n, good ? cases[i].want : 12345, "%s", cases[i].text);
	}
}

Test(reply_success, has_a_timestamp_and_the_body)
{
	reply_success(request, json_pack("{s:s, s:b}", "x", "y", "success", 1));
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(request->reply.status, 200);
	cr_assert_str_eq(request->reply.content_type, "application/json");
	read_body();
	json_has(body, "{'success':true,'x':'y'}", "reply");
	cr_assert_eq(json_string_length(json_object_get(body, "timestamp")), 24);
}

Test(reply_success, without_a_body)
{
	reply_success(request, NULL);
	read_body();
	cr_assert_eq(json_object_size(body), 2);
}

Test(reply_error, has_the_shape_of_the_sandbox)
{
	reply_error(request, "SESSION_NOT_FOUND", "There is no \"x\"\n",
		json_pack("{s:s}", "sessionId", "x"));
	cr_assert_eq(request->reply.status, 404);
	read_body();
	json_has(body,
		"{'code':'SESSION_NOT_FOUND','message':'There is no \\\"x\\\"\\n','httpStatus':404,"
		"'context':{'sessionId':'x'}}",
		"reply");
}

Test(reply_error, without_a_context)
{
	reply_error(request, "LIMIT_REACHED", "x", NULL);
	read_body();
	cr_assert(json_is_object(json_object_get(body, "context")));
}

Test(reply_error, invalid_utf8_is_answered_all_the_same)
{
	reply_error(request, "SESSION_NOT_FOUND", "\xff", NULL);
	cr_assert(request->done);
	cr_assert_geq(request->reply.status, 400);
	read_body();
}

Test(reply_invalid, names_the_field)
{
	reply_invalid(request, "cols", "must be a number", "invalid");
	cr_assert_eq(request->reply.status, 400);
	read_body();
	json_has(body, "{'context':{'validationErrors':[{'field':'cols','code':'invalid'}]}}",
		"reply");
}

Test(reply_json, null_means_out_of_memory)
{
	reply_json(request, 200, NULL);
	cr_assert_eq(request->reply.status, 500);
	read_body();
}

Test(reply_header, is_copied)
{
	char value[] = "x";
	reply_header(request, "set-cookie", value);
	value[0] = 'y';
	cr_assert_eq(request->reply.headers_count, 1);
	cr_assert_str_eq(request->reply.headers[0].value, "x");
	reply_success(request, NULL);
}

Test(reply_bytes, second_reply_aborts, .signal = SIGABRT)
{
	reply_success(request, NULL);
	reply_success(request, NULL);
}

Test(request_abandon, later_reply_is_dropped)
{
	struct request *r = make();
	request_ref(r);
	request_abandon(r);
	reply_success(r, NULL);
	cr_assert_eq(calls.answered, 0);
	request_unref(r);
}

Test(request_abandon, closes_a_stream_once)
{
	struct request *r = make();
	reply_stream(r, &stream);
	cr_assert_eq(calls.streaming, 1);
	request_abandon(r);
	cr_assert_eq(closed, 1);
}

Test(request_abandon, notifies_the_handler)
{
	struct request *r = make();
	request_ref(r);
	r->gone = on_closed;
	request_abandon(r);
	cr_expect_eq(closed, 1);
	request_unref(r);
	/* After the reply the handler needs no notice. */
	r = make();
	request_ref(r);
	r->gone = on_closed;
	reply_success(r, NULL);
	request_abandon(r);
	cr_expect_eq(closed, 1);
	request_unref(r);
}

Test(request_abandon, later_stream_is_closed)
{
	struct request *r = make();
	request_ref(r);
	request_abandon(r);
	reply_stream(r, &stream);
	cr_assert_eq(calls.streaming, 0);
	cr_assert_eq(closed, 1);
	request_unref(r);
	cr_assert_eq(closed, 1);
}

/* A request with this target; want is the result of parsing it. */
static struct request *target(const char *text, int want)
{
	struct request *r = make();
	cr_expect_eq(request_parse_target(r, text), want, "%s", text);
	return r;
}

Test(request_parse_target, path_and_params)
{
	struct request *r = target("/a%2Fb+c?x=1%26&&y=a+b%2B&z&%e2%82%ac=", 0);
	cr_assert_str_eq(r->path, "/a/b+c");
	cr_assert_eq(r->params_count, 4);
	cr_assert_str_eq(request_param(r, "x"), "1&");
	cr_assert_str_eq(request_param(r, "y"), "a b+");
	cr_assert_str_eq(r->params[2], "z");
	cr_assert_str_eq(request_param(r, "\xe2\x82\xac"), "");
	request_unref(r);
}

Test(request_parse_target, without_a_query)
{
	static const char *const cases[] = {"/x", "/x?", "/x?&", "/x?&&"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct request *r = target(cases[i], 0);
		cr_expect_str_eq(r->path, "/x");
		cr_expect_eq(r->params_count, 0);
		request_unref(r);
	}
}

Test(request_parse_target, refuses)
{
	static const char *const cases[] = {"/%", "/%4", "/%zz", "/%00", "/?a=%", "/?%0", "/?a%00"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		request_unref(target(cases[i], -EINVAL));
	request_unref(target("/?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16", 0));
	request_unref(target("/?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16&17", -E2BIG));
}

Test(request_session, header_counts_before_the_query)
{
	const char *id = "untouched";
	struct request *r = target("/?sessionId=b&session=c", 0);
	cr_assert(request_session(r, &id));
	cr_assert_str_eq(id, "c");
	request_set_session_header(r, "a");
	cr_assert(request_session(r, &id));
	cr_assert_str_eq(id, "a");
	request_unref(r);
	r = target("/?sessionId=b", 0);
	cr_assert(request_session(r, &id));
	cr_assert_str_eq(id, "b");
	request_unref(r);
	r = target("/", 0);
	request_set_session_header(r, NULL);
	cr_assert(request_session(r, &id));
	cr_assert_null(id);
	request_unref(r);
}

Test(request_session, invalid_ids_are_refused)
{
	static const char *const cases[] = {"", "../x", "a b", "a/b", "\xff"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *id = "untouched";
		struct request *r = target("/?session=good", 0);
		request_set_session_header(r, cases[i]);
		cr_expect_not(request_session(r, &id), "%s", cases[i]);
		cr_expect_eq(r->reply.status, 400);
		cr_expect_str_eq(r->session_header, "");
		cr_expect_str_eq(id, "untouched");
		request_unref(r);
	}
	const char *id;
	struct request *r = target("/?session=..%2Fx", 0);
	cr_assert_not(request_session(r, &id));
	request_unref(r);
}

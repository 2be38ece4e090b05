/* GET /api/session/ID/stream and /state. */
#include "tests/lib/memory_api.h"

#include <string.h>

#define SUITE .init = memory_api_open_session, .fini = memory_api_close, .timeout = 60
TestSuite(api_stream, SUITE);
TestSuite(api_state, SUITE);

#define STREAM "GET /api/session/s/stream"

Test(api_stream, events_come_in_order)
{
	memory_api_print("s", "before");
	struct call *c = memory_api_call(STREAM "?types=output,title,bell,resize,exit", NULL);
	cr_assert(call_event(c, NULL));
	call_has(c, "{'type':'begin','sessionId':'s','offset':6}");
	memory_api_print("s", "hello\033]2;a title\a\a");
	cr_assert(call_event(c, NULL));
	call_has(c, "{'type':'output','data':'hello\\u001b]2;a title\\u0007','offset':6}");
	cr_assert(call_event(c, NULL));
	call_has(c, "{'type':'title','title':'a title'}");
	cr_assert(call_event(c, "bell"));
	cr_expect_eq(memory_api_status("POST /api/session/s/resize", "{'cols':90,'rows':30}"), 200);
	call_event_has(c, "resize", "{'cols':90}");
	memory_holder_exit(memory_api_holder("s"), 5 << 8);
	call_event_has(c, "exit", "{'code':5}");
	cr_expect_not(call_event(c, NULL), "no event follows the end");
}

Test(api_stream, starts_at_the_requested_place)
{
	memory_api_print("s", "\xc3\xa4hello");
	struct call *c = memory_api_call(STREAM "?from=2&types=output", NULL);
	call_event_has(c, "output", "{'data':'hello'}");
	struct call *other = memory_api_call(STREAM "?from=0&types=output&encoding=base64", NULL);
	call_event_has(other, "output", "{'base64':'w6RoZWxsbw=='}");
	call_end(c);
	memory_api_print("s", "x");
	call_event_has(other, "output", "{'base64':'eA=='}");
	call_end(other);
	memory_api_print("s", "y");
}

Test(api_stream, lost_events_are_reported)
{
	memory_api_overflow("s");
	struct call *c = memory_api_call(STREAM "?from=0&types=output", NULL);
	cr_assert(call_event(c, "gap"));
	json_int_t gap = call_number(c, "bytes");
	cr_expect_geq((uint64_t)gap, session_oldest(memory_api_session("s")));
	cr_assert(call_event(c, "output"));
	cr_expect_eq(call_number(c, "offset"), gap, "the next event follows the gap");
}

Test(api_stream, invalid_queries)
{
	static const struct refused cases[] = {{STREAM
		"?types=output,output,output,output,output,output,output,output,output,output,"
		"output,output,output,output,output,output,output,output,output,output",
		NULL, INVALID, "types"}};
	EXPECT_INVALID(STREAM "?", NULL, "types=", "types=output,", "types=,output", "types=Output",
		"types=output,%20state", "from=x", "from=-1", "from=1", "from=18446744073709551615",
		"encoding=", "encoding=hex");
	EXPECT_REFUSED(cases);
}

Test(api_stream, session_is_deleted)
{
	struct call *c = memory_api_call(STREAM, NULL);
	cr_assert(call_event(c, "begin"));
	cr_expect_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'s'}"), 200);
	cr_assert(call_event(c, "gone"));
	cr_expect_not(call_event(c, NULL));
}

Test(api_stream, holder_dies)
{
	struct call *c = memory_api_call(STREAM, NULL);
	memory_holder_die(memory_api_holder("s"));
	call_event_has(c, "exit", "{'reason':'holder_died'}");
	cr_expect_not(call_event(c, NULL));
}

Test(api_stream, server_exits)
{
	struct call *c = memory_api_call(STREAM, NULL);
	cr_assert(call_event(c, "begin"));
	memory_api_end_tables();
	cr_assert(call_event(c, "gone"));
	cr_expect_not(call_event(c, NULL));
}

Test(api_state, states)
{
	const struct session *s = memory_api_session("s");
	struct call *c = memory_api_call("GET /api/session/s/state", NULL);
	call_has(c, "{'state':{'status':'running','cols':80,'exec':null}}");
	cr_expect_null(call_get(c, "state.humanUrl"));
	memory_holder_exit(memory_api_holder("s"), 0);
	cr_assert(LOOP_UNTIL(&memory_api.loop, s->state == SESSION_EXITED));
	memory_api_check("GET /api/session/s/state", NULL, "{'state':{'status':'exited'}}");
}

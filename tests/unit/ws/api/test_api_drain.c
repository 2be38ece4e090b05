/* A draining server: what it refuses, what it still does, and its events. */
#include "tests/lib/memory_api.h"

#include <string.h>

#define SUITE .init = memory_api_open, .fini = memory_api_close, .timeout = 60
TestSuite(api_drain, SUITE);

#define DRAINING 503, "SERVER_DRAINING"

Test(api_drain, new_sessions_and_commands_are_refused)
{
	static const struct refused cases[] = {{"POST /api/session/create", "{'id':'t'}", DRAINING},
		{"POST /api/session/create", NULL, DRAINING},
		{"POST /api/session/open", "{'id':'t'}", DRAINING},
		{"POST /api/process/start", "{'command':'x'}", DRAINING},
		{"POST /api/run", "{'command':'x'}", DRAINING},
		{"POST /api/execute", "{'command':'x'}", DRAINING},
		{"POST /api/contexts", "{}", DRAINING},
		/* Other errors, and sessions that exist, are as always. */
		{"POST /api/session/create", "{'id':'s'}", 409, "SESSION_ALREADY_EXISTS"},
		{"POST /api/session/create", "{'id':'/'}", 400, "VALIDATION_FAILED", "id"},
		{"POST /api/run", "{}", 400, "VALIDATION_FAILED", "command"}};
	memory_api_start("s");
	cr_assert_eq(memory_api_status("POST /api/drain", NULL), 200);
	EXPECT_REFUSED(cases);
	cr_assert_eq(memory_api_status("POST /api/session/open", "{'id':'s'}"), 200);
	cr_assert_eq(memory_api_status("GET /api/session/s", NULL), 200);
	struct call *c = memory_api_call("POST /api/session/create", "{'id':'t'}");
	cr_assert_str_eq(call_header(c, "Retry-After"), "30");
	cr_assert_eq(memory_api_status("DELETE /api/drain", NULL), 200);
	memory_api_start("t");
}

Test(api_drain, remaining_sessions_are_counted)
{
	memory_api_start("s");
	memory_api_start("t");
	memory_api_check("GET /api/drain", NULL, "{'draining':false,'since':null,'sessions':2}");
	cr_assert_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'t'}"), 200);
	memory_api_start_ended("u", 0);
	memory_api_check(
		"POST /api/drain", NULL, "{'draining':true,'sessions':1,'processes':0,'runs':0}");
	/* An ended session is not replaced. */
	static const struct refused again[] = {{"POST /api/session/create", "{'id':'u'}", DRAINING}};
	EXPECT_REFUSED(again);
}

Test(api_drain, followers_of_the_list_are_notified_once)
{
	struct call *c = memory_api_call("GET /api/session/events", NULL);
	cr_assert(call_event(c, "sessions"));
	memory_api_status("POST /api/drain", NULL);
	memory_api_status("POST /api/drain", NULL);
	cr_assert(call_event(c, "drain"));
	cr_assert(call_is_true(c, "draining"));
	memory_api_status("DELETE /api/drain", NULL);
	cr_assert(call_event(c, "drain"));
	cr_assert_not(call_is_true(c, "draining"));
}

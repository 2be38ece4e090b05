/* Activity of sessions, in the list and in its events. */
#include "tests/lib/memory_api.h"

#include <string.h>

#define SUITE .init = memory_api_open, .fini = memory_api_close, .timeout = 60
TestSuite(api_activity, SUITE);

#define EVENTS "GET /api/session/events?activity=1"

/* The next activity event, which must be about this session alone. */
static void expect_activity(struct call *c, const char *id)
{
	cr_assert(call_event(c, "activity"));
	cr_assert_str_eq(call_text(c, "activities.0.id"), id);
	cr_assert_null(call_get(c, "activities.1"));
}

/* Wait until the session's state is known and reported. */
static void await_first_activity(struct call *c)
{
	expect_activity(c, "s");
	cr_expect_str_eq(call_text(c, "activities.0.activity.status"), "running");
}

Test(api_activity, bells_and_notifications_are_reported)
{
	memory_api_start("s");
	struct call *c = memory_api_call(EVENTS, NULL);
	cr_assert(call_event(c, "sessions"));
	await_first_activity(c);
	memory_api_print("s", "\a\033]9;built\a");
	do
		expect_activity(c, "s");
	while (call_number(c, "activities.0.activity.bells") == 0 ||
		call_is_null(c, "activities.0.activity.notification"));
	cr_expect_str_eq(call_text(c, "activities.0.activity.notification.text"), "built");
	cr_expect(call_is_true(c, "activities.0.activity.unread"));
	struct call *list = memory_api_call("GET /api/session/list", NULL);
	cr_expect_eq(call_number(list, "sessions.0.activity.bells"), 1);
}

Test(api_activity, title_of_the_terminal_is_reported)
{
	memory_api_start("s");
	struct call *c = memory_api_call(EVENTS, NULL);
	cr_assert(call_event(c, "sessions"));
	await_first_activity(c);
	cr_expect(call_is_null(c, "activities.0.activity.title"));
	memory_api_print("s", "\033]0;notes.txt - VIM\a");
	do
		expect_activity(c, "s");
	while (call_is_null(c, "activities.0.activity.title"));
	cr_expect_str_eq(call_text(c, "activities.0.activity.title"), "notes.txt - VIM");
	memory_api_print("s", "\033]0;\a");
	do
		expect_activity(c, "s");
	while (!call_is_null(c, "activities.0.activity.title"));
}

Test(api_activity, deleted_session_is_forgotten)
{
	memory_api_start("s");
	struct call *c = memory_api_call(EVENTS, NULL);
	cr_assert(call_event(c, "sessions"));
	await_first_activity(c);
	memory_api_status("POST /api/session/delete", "{'sessionId':'s'}");
	memory_api_start("s");
	do
		cr_assert(call_event(c, NULL));
	while (strcmp(call_text(c, "type"), "activity") != 0);
	cr_expect_eq(call_number(c, "activities.0.activity.bells"), 0);
}

Test(api_activity, without_the_parameter_only_the_list_is_sent)
{
	memory_api_start("s");
	struct call *all = memory_api_call(EVENTS, NULL),
		    *c = memory_api_call("GET /api/session/events", NULL);
	cr_assert(call_event(all, "sessions"));
	cr_assert(call_event(c, "sessions"));
	await_first_activity(all);
	memory_api_start("t");
	cr_assert(call_event(c, NULL));
	cr_expect_str_eq(call_text(c, "type"), "sessions");
}

/* POST /api/session/ID/wait. */
#include "tests/lib/memory_api.h"

#include <string.h>

TestSuite(api_wait, .init = memory_api_open_session, .fini = memory_api_close, .timeout = 60);

#define WAIT "POST /api/session/s/wait"
#define UNTIL_1(rest) "{'until':[{" rest "}]}"

Test(api_wait, invalid_requests)
{
	static const struct refused cases[] = {{WAIT, NULL, INVALID, "until"},
		{WAIT, "{'until':['exit']}", INVALID, "until[0].type"},
		{WAIT, "{'until':[[]]}", INVALID, "until[0].type"},
		{WAIT, UNTIL_1(""), INVALID, "until[0].type"},
		{WAIT, "{'until':[{'type':'exit'},{'type':'match','pattern':'a'},{'type':''}]}",
			INVALID, "until[2].type"},
		{WAIT, UNTIL_1("'type':'exec'"), INVALID, "until[0].id"},
		{WAIT, UNTIL_1("'type':'exec','id':'exec_1'"), 404, "EXEC_NOT_FOUND"},
		{WAIT, UNTIL_1("'type':'exec','id':''"), 404, "EXEC_NOT_FOUND"},
		{WAIT, UNTIL_1("'type':'match'"), INVALID, "until[0].pattern"},
		{WAIT, UNTIL_1("'type':'idle'"), INVALID, "until[0].ms"},
		{WAIT, UNTIL_1("'type':'bytes'"), INVALID, "until[0].count"},
		{WAIT, "{'until':[{'type':'match','pattern':'a'},{'type':'match','pattern':'b{'},{'type':'match','pattern':'['}]}",
			INVALID, "until[2].pattern"},
		{WAIT, "{'until':[{'type':'match','pattern':'x'}],'from':1}", INVALID, "from"},
		{WAIT, "{'until':[{'type':'exit'}],'after':1}", INVALID, "from"}};
	EXPECT_REFUSED(cases);
	EXPECT_INVALID(WAIT, "{", "'until':null", "'until':[]", "'until':{}", "'until':'exit'");
	EXPECT_INVALID(WAIT, "{'until':[{'type':'exit'}],", "'timeoutMs':3600001",
		"'from':1000000000000000", "'timeoutMs':-1", "'timeoutMs':1.5",
		"'timeoutMs':9223372036854775807", "'from':-1", "'from':'0'", "'after':true",
		"'key':''", "'key':1", "'key':'" LONG_128 "x'");
#define CONDITION(fields, ...) \
	EXPECT_INVALID_IN("until[0].", WAIT, "{'until':[{" fields, __VA_ARGS__)
	CONDITION("", "'type':1", "'type':'end'");
	CONDITION("'type':'exec',", "'id':1", "'id':'" LONG_128 "'");
	CONDITION("'type':'input',", "'kind':'secret'", "'kind':1");
	CONDITION("'type':'match',", "'pattern':1", "'pattern':'a\\u0000b'", "'pattern':'a\\nb'",
		"'pattern':'('", "'pattern':'x{1000}{1000}'");
	CONDITION("'type':'match','pattern':'a',", "'on':'window'", "'on':1", "'case':1");
	CONDITION("'type':'stable',", "'ms':0", "'ms':-1", "'ready':1");
	CONDITION("'type':'idle',", "'ms':-1", "'ms':9223372036854775807");
	CONDITION("'type':'bytes',", "'count':0", "'count':'1'");
}

Test(api_wait, number_of_conditions_is_limited)
{
	char body[1024] = "{'until':[";
	for (unsigned i = 0; i < 17; i++)
		strcat(body, "{'type':'match','pattern':'x'},");
	strcpy(body + strlen(body) - 1, "],'timeoutMs':0}");
	const struct refused cases[] = {{WAIT, body, INVALID, "until"}};
	EXPECT_REFUSED(cases);
}

Test(api_wait, first_true_condition_ends_the_wait)
{
	struct call *c = memory_api_begin(WAIT,
		"{'until':[{'type':'exit'},{'type':'match','pattern':'tests (passed|failed)'},{'type':'bytes','count':1000}]}");
	memory_api_print("s", "\033[31mtests\033[m ");
	cr_expect_not(c->answered);
	memory_api_print("s", "failed: 3\r\n");
	call_returns(
		c, "{'fired':1,'type':'match','text':'tests failed','state':{'status':'running'}}");
	call_number(c, "offset");
	call_number(c, "elapsedMs");
}

Test(api_wait, each_kind_of_condition)
{
	struct call *bytes = memory_api_begin(WAIT, UNTIL_1("'type':'bytes','count':5"));
	struct call *idle = memory_api_begin(WAIT, UNTIL_1("'type':'idle','ms':1"));
	struct call *stable = memory_api_begin(WAIT, UNTIL_1("'type':'stable','ms':1"));
	struct call *screen = memory_api_begin(
		WAIT, UNTIL_1("'type':'match','pattern':'HELLO','on':'screen','case':false"));
	struct call *end = memory_api_begin(WAIT, UNTIL_1("'type':'exit'"));
	memory_api_print("s", "hello");
	call_has(bytes, "{'type':'bytes'}");
	call_has(idle, "{'type':'idle'}");
	call_has(stable, "{'type':'stable'}");
	call_has(screen, "{'type':'match','row':1,'column':1}");
	cr_expect_not(end->answered);
	memory_holder_exit(memory_api_holder("s"), 0);
	call_has(end, "{'type':'exit'}");
}

Test(api_wait, wrapped_line_of_the_screen_is_one_line)
{
	char text[94];
	snprintf(text, sizeof text, "%090dEND", 0);
	memory_api_print("s", text);
	memory_api_check(
		WAIT, UNTIL_1("'type':'match','pattern':'0{90}END','on':'screen'"), "{'row':1}");
}

Test(api_wait, timeout_is_a_success)
{
	memory_api_check(WAIT, "{'until':[{'type':'exit'}],'timeoutMs':0}",
		"{'fired':null,'type':'timeout'}");
}

Test(api_wait, earlier_output_counts_with_from)
{
	memory_api_print("s", "ready\r\n");
	memory_api_check(WAIT,
		"{'until':[{'type':'match','pattern':'ready'}],'from':0,'timeoutMs':0}",
		"{'fired':0}");
	memory_api_check(WAIT,
		"{'until':[{'type':'match','pattern':'ready'}],'from':7,'timeoutMs':0}",
		"{'type':'timeout'}");
	struct call *c = memory_api_call(
		WAIT, "{'until':[{'type':'match','pattern':'ready'}],'timeoutMs':0}");
	cr_expect_str_eq(call_text(c, "type"), "timeout", "only later output counts");
}

Test(api_wait, session_is_deleted)
{
	struct call *c = memory_api_begin(WAIT, UNTIL_1("'type':'match','pattern':'x'"));
	cr_expect_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'s'}"), 200);
	call_expect(c, 410, "SESSION_DESTROYED");
}

Test(api_wait, holder_dies)
{
	struct call *c = memory_api_begin(WAIT, UNTIL_1("'type':'exit'"));
	memory_holder_die(memory_api_holder("s"));
	call_returns(c, "{'type':'exit'}");
}

Test(api_wait, client_disconnects)
{
	call_end(memory_api_begin(WAIT, UNTIL_1("'type':'match','pattern':'x'")));
	memory_api_print("s", "x");
	for (unsigned i = 0; i < 1000; i++)
		call_end(memory_api_begin(WAIT, UNTIL_1("'type':'match','pattern':'y'")));
	struct call *c = memory_api_begin(WAIT, UNTIL_1("'type':'match','pattern':'y'"));
	cr_expect_not(c->answered, "abandoned waits do not count");
}

Test(api_wait, server_exits)
{
	struct call *c = memory_api_begin(WAIT, UNTIL_1("'type':'match','pattern':'x'"));
	memory_api_end_tables();
	call_expect(c, 410, NULL);
}

Test(api_wait, wait_with_a_key_outlives_its_client)
{
	static const char body[] = "{'until':[{'type':'match','pattern':'x+'}],'key':'k'}";
	call_end(memory_api_begin(WAIT, body));
	memory_api_print("s", "xx\r\n");
	struct call *c = memory_api_call(WAIT, body);
	cr_expect_eq(call_number(c, "fired"), 0, "the text came while no client waited");
	cr_expect_str_eq(call_text(c, "text"), "xx");
	static const struct refused other[] = {
		{WAIT, "{'until':[{'type':'match','pattern':'y'}],'key':'k'}", 409, "KEY_IN_USE"},
		{WAIT, "{'until':[{'type':'match','pattern':'x+'}],'key':'k','from':0}", 409,
			"KEY_IN_USE"}};
	EXPECT_REFUSED(other);
	c = memory_api_call(
		WAIT, "{'key':'k','timeoutMs':0,'until':[{'pattern':'x+','type':'match'}]}");
	cr_expect_eq(call_status(c), 200, "the order of the fields does not matter");
}

Test(api_wait, number_is_limited)
{
	struct call *c;
	unsigned n = 0;
	do
		c = memory_api_begin(WAIT, UNTIL_1("'type':'exit'"));
	while (!c->answered && ++n < 5000);
	call_expect(c, 429, "LIMIT_REACHED");
}

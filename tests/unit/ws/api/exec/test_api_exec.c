/* Commands in a session's shell: starting, waiting, reading, cancelling. */
#include "tests/lib/memory_shell.h"

#include <errno.h>

TestSuite(api_exec_none, .init = memory_api_open, .fini = memory_api_close, .timeout = 60);
#define SUITE .init = memory_shell_open, .fini = memory_api_close, .timeout = 60
TestSuite(api_exec, SUITE);
TestSuite(api_exec_read, SUITE);
TestSuite(api_exec_cancel, SUITE);
TestSuite(api_execute, SUITE);

#define EXEC "POST /api/session/s/exec"
#define EXECUTE "POST /api/execute"

static struct call *get_exec(const struct exec *e, const char *rest)
{
	char line[256];
	snprintf(line, sizeof line, "GET /api/session/s/exec/%s%s", e->id, rest);
	return memory_api_begin(line, NULL);
}

static struct call *cancel(const struct exec *e, const char *body)
{
	char line[256];
	snprintf(line, sizeof line, "POST /api/session/s/exec/%s/cancel", e->id);
	return memory_api_begin(line, body);
}

Test(api_exec, returns_status_output_and_range)
{
	struct call *c = memory_api_begin(EXEC, "{'command':'make it'}");
	memory_shell_run("s", "made\r\n\303\244\r\n", 3);
	call_returns(c,
		"{'data':{'state':'done','exitCode':3,'output':'made\\n\303\244\\n','cwd':'/tmp',"
		"'command':'make it','author':'owner','endedBy':'command','sessionId':'s',"
		"'outputExact':true}}");
	cr_expect_eq(call_number(c, "data.pipeStatus.0"), 3);
	cr_expect_eq(call_number(c, "data.range.end") - call_number(c, "data.range.start"), 10);
	call_has(c, "{'data':{'lost':0,'signal':null}}");
}

Test(api_exec, other_formats)
{
	static const char *const bodies[] = {
		"{'command':'x','format':'raw'}", "{'command':'x','format':'base64'}"};
	static const char *const outputs[] = {"a\r\n", "YQ0K"};
	for (size_t i = 0; i < 2; i++) {
		struct call *c = memory_api_begin(EXEC, bodies[i]);
		memory_shell_run("s", "a\r\n", 0);
		call_await(c);
		cr_expect_str_eq(call_text(c, "data.output"), outputs[i]);
	}
}

Test(api_exec, output_is_truncated_on_request)
{
	struct call *c = memory_api_begin(EXEC, "{'command':'x','maxOutput':4}");
	memory_shell_run("s", "0123456789", 0);
	call_has(c,
		"{'data':{'output':'0189','truncated':{'output':{'omittedBytes':6,"
		"'totalBytes':10}}}}");
}

static void expect_invalid_command(const char *line)
{
	const struct refused cases[] = {{line, NULL, INVALID, "command"},
		{line, "{}", INVALID, "command"}, {line, "{'command':''}", 400, "INVALID_COMMAND"},
		{line, "{'command':' \\t\\r\\n'}", 400, "INVALID_COMMAND"},
		{line, "{'command':'a\\u0000b'}", 400, "INVALID_COMMAND"},
		{line, "[]", INVALID, "body"}};
	EXPECT_REFUSED(cases);
	EXPECT_INVALID(line, "{", "'command':null", "'command':1", "'command':['ls']");
	EXPECT_INVALID(line, "{'command':'x',", "'cwd':1", "'cwd':'tmp'", "'cwd':'/no/such/place'",
		"'cwd':'/dev/null'", "'cwd':'/tmp\\u0000/x'", "'timeoutMs':-1", "'timeoutMs':'1'",
		"'timeoutMs':9223372036854775807", "'env':1", "'env':{'A B':'x'}",
		"'env':{'A':null}", "'env':{'A':'\\u0000'}");
}

Test(api_exec, invalid_requests)
{
	expect_invalid_command(EXEC);
	static const struct refused cases[] = {
		{EXEC, "{'command':'x','lease':'over'}", 409, "LEASED"},
		{EXEC, "{'command':'x'}", 403, "READ_ONLY", NULL, BY_VIEWER},
		{EXEC, "{'command':'x'}", 401, "UNAUTHENTICATED", NULL, BY_NOBODY}};
	EXPECT_INVALID(EXEC, "{'command':'x',", "'timeoutMs':0", "'timeoutMs':2592000001",
		"'yieldMs':-1", "'yieldMs':1.5", "'yieldMs':2592000001", "'queueMs':0",
		"'queueMs':true", "'maxOutput':1", "'maxOutput':67108865", "'queue':1",
		"'hold':'yes'", "'isolate':0", "'fork':1", "'streams':''", "'streams':'pipe'",
		"'streams':1", "'format':'json'", "'format':1", "'key':''", "'key':1",
		"'key':'" LONG_128 "x'", "'label':''", "'label':1", "'label':'a\\nb'",
		"'label':'" LONG_128 "x'", "'lease':1", "'stdin':1", "'stdin':[]", "'stdinBase64':1",
		"'stdinBase64':'!'", "'stdinFrom':1", "'stdinFrom':'x','stdin':'y'",
		"'stdinFrom':'none'", "'stdinFrom':'../../etc/passwd'");
	EXPECT_INVALID(
		EXEC, "{'command':'x','fork':true,", "'queue':true", "'key':'k'", "'yieldMs':1");
	EXPECT_REFUSED(cases);
	cr_expect_str_eq(memory_holder_take_input(memory_api_holder("s")), "");
	struct call *c = memory_api_call("GET /api/session/s/exec", NULL);
	cr_expect_eq(json_array_size(call_get(c, "data")), 0);
}

Test(api_exec_none, shell_without_integration)
{
	memory_api_start("s");
	struct call *c = memory_api_call(EXEC, "{'command':'x'}");
	call_expect(c, 409, "EXEC_UNSUPPORTED");
	cr_expect_str_eq(call_text(c, "context.shell"), "/bin/sh");
}

Test(api_exec_none, session_that_starts_or_has_ended)
{
	memory_api_start_slow("s");
	struct call *c = memory_api_call(EXEC, "{'command':'x'}");
	cr_expect_str_eq(call_code(c), "RESOURCE_BUSY");
	c = memory_api_call(EXEC, "{'command':'x','fork':true}");
	cr_expect_str_eq(call_code(c), "RESOURCE_BUSY");
	struct session *s = memory_api_session("s");
	memory_holder_answer(memory_api_holder("s"));
	cr_assert(LOOP_UNTIL(&memory_api.loop, s->state == SESSION_RUNNING));
	memory_holder_exit(memory_api_holder("s"), 4 << 8);
	cr_assert(LOOP_UNTIL(&memory_api.loop, s->state == SESSION_EXITED));
	static const char *const bodies[] = {"{'command':'x'}", "{'command':'x','fork':true}"};
	for (size_t i = 0; i < 2; i++) {
		c = memory_api_call(EXEC, bodies[i]);
		call_expect(c, 410, "SESSION_TERMINATED");
		cr_expect_eq(call_number(c, "context.exitCode"), 4);
	}
}

Test(api_exec, one_at_a_time)
{
	struct call *first = memory_api_begin(EXEC, "{'command':'one'}");
	const struct exec *e = memory_shell_begin("s");
	struct call *busy = memory_api_call(EXEC, "{'command':'two'}");
	call_expect(busy, 409, "RESOURCE_BUSY");
	cr_expect_str_eq(call_text(busy, "context.exec.id"), e->id);
	struct call *next = memory_api_begin(EXEC, "{'command':'three','queue':true}");
	struct call *list = memory_api_call("GET /api/session/s/exec", NULL);
	cr_expect_str_eq(call_text(list, "data.0.state"), "running");
	cr_expect_str_eq(call_text(list, "data.1.state"), "queued");
	cr_expect_str_eq(call_text(list, "data.1.waitsFor"), "Another command runs");
	memory_shell_end("s", 0);
	call_await(first);
	cr_expect_not(next->answered);
	memory_shell_run("s", "", 7);
	call_has(next, "{'data':{'exitCode':7}}");
}

Test(api_exec, queue_is_limited)
{
	memory_api_begin(EXEC, "{'command':'one'}");
	memory_shell_begin("s");
	for (unsigned i = 0; i < EXECS_QUEUED_MAX; i++)
		memory_api_begin(EXEC, "{'command':'next','queue':true}");
	struct call *c = memory_api_call(EXEC, "{'command':'next','queue':true}");
	call_expect(c, 429, "LIMIT_REACHED");
}

Test(api_exec, queue_time_is_limited)
{
	memory_api_begin(EXEC, "{'command':'one'}");
	memory_shell_begin("s");
	memory_api_check(EXEC, "{'command':'two','queue':true,'queueMs':1}",
		"{'data':{'endedBy':'busy','exitCode':null,'range':null}}");
}

Test(api_exec, yields_and_can_be_read_later)
{
	memory_api_check(EXEC, "{'command':'slow','yieldMs':0}", "{'data':{'state':'starting'}}");
	const struct exec *e = memory_shell_begin("s");
	memory_api_print("s", "so far");
	struct call *now = get_exec(e, "");
	call_has(now, "{'data':{'state':'running','output':'so far'}}");
	struct call *later = get_exec(e, "?waitMs=60000");
	struct call *page = get_exec(e, "?waitMs=60000&from=0&bytes=9");
	cr_expect_not(page->answered);
	memory_api_print("s", " 789");
	call_has(page, "{'data':{'state':'running'}}");
	cr_expect_not(later->answered);
	memory_shell_end("s", 0);
	call_has(later, "{'data':{'state':'done','output':'so far 789'}}");
}

Test(api_exec, same_key_is_the_same_command)
{
	struct call *a = memory_api_begin(EXEC, "{'command':'one','key':'k'}");
	struct call *b = memory_api_begin(EXEC, "{'command':'one','key':'k'}");
	static const struct refused other[] = {
		{EXEC, "{'command':'two','key':'k'}", 409, "KEY_IN_USE"}};
	EXPECT_REFUSED(other);
	memory_shell_run("s", "x", 0);
	call_await(a);
	call_await(b);
	cr_expect_str_eq(call_text(a, "data.id"), call_text(b, "data.id"));
	struct call *again = memory_api_call(EXEC, "{'command':'one','key':'k'}");
	cr_expect_str_eq(call_text(again, "data.id"), call_text(a, "data.id"));
}

Test(api_exec, session_is_deleted_during_the_command)
{
	struct call *runs = memory_api_begin(EXEC, "{'command':'one'}");
	const struct exec *e = memory_shell_begin("s");
	struct call *queued = memory_api_begin(EXEC, "{'command':'two','queue':true}");
	struct call *reads = get_exec(e, "?waitMs=60000");
	cr_expect_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'s'}"), 200);
	struct call *const all[] = {runs, queued, reads};
	for (size_t i = 0; i < 3; i++) {
		call_await(all[i]);
		cr_expect_eq(call_status(all[i]), 200);
		cr_expect_str_eq(call_text(all[i], "data.endedBy"), "lost", "%zu", i);
		cr_expect(call_is_null(all[i], "data.exitCode"));
	}
}

Test(api_exec, shell_exits_during_the_command)
{
	struct call *runs = memory_api_begin(EXEC, "{'command':'exit 5'}");
	memory_shell_begin("s");
	struct call *queued = memory_api_begin(EXEC, "{'command':'two','queue':true}");
	memory_holder_exit(memory_api_holder("s"), 5 << 8);
	call_returns(runs, "{'data':{'exitCode':5,'endedBy':'shell'}}");
	call_has(queued, "{'data':{'endedBy':'not_started','exitCode':null}}");
}

Test(api_exec, holder_dies_during_the_command)
{
	struct call *c = memory_api_begin(EXEC, "{'command':'x'}");
	memory_shell_begin("s");
	memory_holder_die(memory_api_holder("s"));
	call_returns(c, "{'data':{'endedBy':'unknown','exitCode':null}}");
}

Test(api_exec, command_continues_without_its_client)
{
	call_end(memory_api_begin(EXEC, "{'command':'x'}"));
	const struct exec *e = memory_shell_begin("s");
	call_end(get_exec(e, "?waitMs=60000"));
	memory_shell_end("s", 0);
	struct call *c = get_exec(e, "");
	call_has(c, "{'data':{'state':'done'}}");
}

Test(api_exec_read, invalid_queries)
{
	memory_api_call(EXEC, "{'command':'x','yieldMs':0}");
	char line[128];
	snprintf(line, sizeof line, "GET /api/session/s/exec/%s", memory_shell_begin("s")->id);
	EXPECT_INVALID(line, NULL, "?format=json", "?waitMs=x", "?waitMs=2592000001", "?from=-1",
		"?bytes=2147483648", "/output?format=", "/stream?cursor=x", "/stream?cursor=1.2",
		"/stream?cursor=1.1.1");
}

Test(api_exec_read, unknown_commands)
{
	static const struct refused cases[] = {
		{"GET /api/session/s/exec/no", NULL, 404, "EXEC_NOT_FOUND"},
		{"GET /api/session/s/exec/no/output", NULL, 404, "EXEC_NOT_FOUND"},
		{"GET /api/session/s/exec/no/stream", NULL, 404, "EXEC_NOT_FOUND"},
		{"POST /api/session/s/exec/no/cancel", NULL, 404, "EXEC_NOT_FOUND"},
		{"GET /api/session/s/exec/%2e%2e", NULL, 404, "EXEC_NOT_FOUND"},
		{"GET /api/session/s/exec/%2e%2e%2fmeta.json", NULL, 404, "UNKNOWN_ERROR"},
		{"GET /api/session/s/exec/" LONG_128 "x", NULL, 404, "UNKNOWN_ERROR"}};
	EXPECT_REFUSED(cases);
}

Test(api_exec_read, as_a_stream)
{
	memory_api_call(EXEC, "{'command':'x','yieldMs':0}");
	const struct exec *e = memory_shell_begin("s");
	struct call *c = get_exec(e, "/stream"), *gone = get_exec(e, "/stream");
	cr_assert(call_event(c, "start"));
	cr_assert(call_event(gone, "start"));
	memory_api_print("s", "hello\r\n");
	call_event_has(c, "output", "{'data':'hello\\r\\n'}");
	call_end(gone);
	memory_shell_end("s", 2);
	call_event_has(c, "end", "{'data':{'exitCode':2}}");
	cr_expect_not(call_event(c, NULL));
}

Test(api_exec_read, stream_ends_with_its_session)
{
	memory_api_call(EXEC, "{'command':'x','yieldMs':0}");
	const struct exec *e = memory_shell_begin("s");
	struct call *c = memory_api_get("GET /api/session/s/exec/%s/stream", e->id);
	cr_assert(call_event(c, "start"));
	cr_expect_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'s'}"), 200);
	while (call_event(c, NULL))
		cr_expect_str_neq(call_text(c, "type"), "output");
}

Test(api_exec_cancel, queued_command)
{
	memory_api_begin(EXEC, "{'command':'one'}");
	memory_shell_begin("s");
	struct call *c = memory_api_begin(EXEC, "{'command':'two','queue':true}");
	struct call *end = cancel(session_executor(memory_api_session("s"))->queue, NULL);
	call_returns(end, "{'data':{'endedBy':'cancelled'}}");
	call_has(c, "{'data':{'endedBy':'cancelled'}}");
}

Test(api_exec_cancel, ended_command_is_unchanged)
{
	struct call *c = memory_api_begin(EXEC, "{'command':'one'}");
	const struct exec *e = memory_shell_begin("s");
	memory_shell_end("s", 0);
	call_await(c);
	struct call *end = cancel(e, NULL);
	call_returns(end, "{'data':{'endedBy':'command','signalsSent':[]}}");
}

/* The shell has no foreground job, and is not killed itself. */
Test(api_exec_cancel, unkillable_command_continues_and_is_reported)
{
	struct call *c = memory_api_begin(EXEC, "{'command':'while :; do :; done'}");
	const struct exec *e = memory_shell_begin("s");
	struct call *end = cancel(e, "{'signal':'TERM','graceMs':10}");
	call_returns(end, "{'data':{'state':'running','unkillable':true}}");
	cr_expect_not(c->answered);
	memory_shell_end("s", 143);
	call_has(c, "{'data':{'exitCode':143,'signal':'TERM'}}");
}

Test(api_exec_cancel, client_may_disconnect)
{
	struct call *c = memory_api_begin(EXEC, "{'command':'sleep'}");
	const struct exec *e = memory_shell_begin("s");
	call_end(cancel(e, "{'graceMs':60000}"));
	memory_shell_end("s", 130);
	call_has(c, "{'data':{'exitCode':130}}");
}

Test(api_exec_cancel, invalid_requests)
{
	char line[128];
	memory_api_call(EXEC, "{'command':'one','yieldMs':0}");
	const struct exec *e = memory_shell_begin("s");
	snprintf(line, sizeof line, "POST /api/session/s/exec/%s/cancel", e->id);
	const struct refused cases[] = {{line, "[]", INVALID, "body"}};
	EXPECT_REFUSED(cases);
	EXPECT_INVALID(line, "{", "'signal':1", "'signal':''", "'signal':'STOPIT'", "'graceMs':9",
		"'graceMs':60001", "'graceMs':'x'");
	cr_expect_eq(e->signals_count, 0);
}

/* The sandbox container protocol */

Test(api_execute, in_a_session)
{
	struct call *c = memory_api_begin(EXECUTE, "{'command':'ls','sessionId':'s'}");
	memory_shell_begin("s");
	memory_holder_say_from(memory_api_holder("s"), EVENT_SOURCE_STDOUT, "a\r\n");
	memory_holder_say_from(memory_api_holder("s"), EVENT_SOURCE_STDERR, "b\r\n");
	memory_shell_end("s", 2);
	call_returns(c, "{'success':false,'exitCode':2}");
	cr_expect_str_eq(call_text(c, "stdout"), "a", "without its last newline");
	call_has(c, "{'stderr':'b','sessionId':'s'}");
}

Test(api_execute, header_can_name_the_session)
{
	struct call *c = memory_api_ask(
		&(struct ask){.line = EXECUTE, .body = "{\"command\":\"ls\"}", .hint = "s"});
	memory_shell_run("s", "", 0);
	call_has(c, "{'sessionId':'s'}");
}

Test(api_execute, missing_session_is_created)
{
	memory_holder_equip_next();
	struct call *c = memory_api_begin(EXECUTE, "{'command':'ls','sessionId':'new'}");
	const struct session *s = memory_api_session("new");
	cr_assert(LOOP_UNTIL(&memory_api.loop, s->state == SESSION_RUNNING));
	memory_shell_prompt("new");
	memory_shell_run("new", "", 0);
	call_expect(c, 200, "");
	memory_holder_refuse_next(REPORT_TERMINAL, -ENOSPC);
	c = memory_api_call(EXECUTE, "{'command':'ls','sessionId':'newer'}");
	call_expect(c, 500, "TOO_MANY_TERMINALS");
}

Test(api_exec_none, number_of_sessions_is_limited)
{
	for (unsigned i = 0; i < MEMORY_API_SESSIONS; i++)
		cr_assert_eq(
			memory_api_status("POST /api/session/create", "{'shell':'/bin/sh'}"), 200);
	static const struct refused cases[] = {
		{EXECUTE, "{'command':'ls','sessionId':'new'}", 429, "LIMIT_REACHED"},
		{EXECUTE "/stream", "{'command':'ls','sessionId':'new'}", 429, "LIMIT_REACHED"}};
	EXPECT_REFUSED(cases);
}

Test(api_exec_none, unresponsive_holder)
{
	memory_api_start("s");
	memory_api_holder("s")->backlogged = true;
	memory_api_restart();
	static const struct refused cases[] = {
		{EXECUTE, "{'command':'ls','sessionId':'s'}", 409, "SESSION_UNRESPONSIVE"},
		{EXECUTE "/stream", "{'command':'ls','sessionId':'s'}", 409, "SESSION_UNRESPONSIVE"}};
	EXPECT_REFUSED(cases);
}

Test(api_execute, session_is_deleted_while_it_starts)
{
	memory_holder_delay_next();
	struct call *c = memory_api_begin(EXECUTE, "{'command':'ls','sessionId':'new'}");
	struct call *gone = memory_api_begin(EXECUTE, "{'command':'ls','sessionId':'new'}");
	call_end(gone);
	memory_api_begin("POST /api/session/delete", "{'sessionId':'new'}");
	call_expect(c, 409, "OPERATION_INTERRUPTED");
}

Test(api_execute, shell_exits_during_the_command)
{
	struct call *c = memory_api_begin(EXECUTE, "{'command':'exit 3','sessionId':'s'}");
	memory_shell_begin("s");
	struct call *next = memory_api_begin(EXECUTE, "{'command':'ls','sessionId':'s'}");
	memory_holder_exit(memory_api_holder("s"), 3 << 8);
	call_expect(c, 410, "SESSION_TERMINATED");
	call_await(next);
	cr_expect_str_eq(call_code(next), "SESSION_TERMINATED");
}

Test(api_execute, session_is_deleted_during_the_command)
{
	struct call *c = memory_api_begin(EXECUTE, "{'command':'ls','sessionId':'s'}");
	memory_shell_begin("s");
	cr_expect_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'s'}"), 200);
	call_expect(c, 410, "SESSION_DESTROYED");
}

Test(api_execute, as_a_stream)
{
	struct call *c = memory_api_begin(
		"POST /api/execute/stream", "{'command':'ls','sessionId':'s'}");
	memory_shell_begin("s");
	cr_assert(call_event(c, "start"));
	memory_holder_say_from(memory_api_holder("s"), EVENT_SOURCE_STDOUT, "hello");
	call_event_has(c, "stdout", "{'data':'hello'}");
	memory_shell_end("s", 1);
	call_event_has(c, "complete", "{'exitCode':1}");
	cr_expect_not(call_event(c, NULL));
}

static void expect_invalid_in_s(const char *line)
{
	const struct refused cases[] = {{line, "{'sessionId':'s'}", INVALID, "command"},
		{line, "{'command':'','sessionId':'s'}", 400, "INVALID_COMMAND"},
		{line, "{'command':'x'}", 403, "PERMISSION_DENIED", NULL, BY_DRIVER},
		{line, "{'command':'x'}", 401, "UNAUTHENTICATED", NULL, BY_NOBODY}};
	EXPECT_REFUSED(cases);
	EXPECT_INVALID(line, "{'command':'x',", "'sessionId':1", "'sessionId':''",
		"'sessionId':'a/b'", "'sessionId':'" LONG_128 "x'", "'background':1");
	EXPECT_INVALID(line, "{'command':'x','sessionId':'s',", "'timeoutMs':'1'", "'cwd':'tmp'",
		"'env':[]");
}

Test(api_execute, invalid_requests)
{
	expect_invalid_command(EXECUTE);
	expect_invalid_in_s(EXECUTE);
	expect_invalid_in_s("POST /api/execute/stream");
	cr_expect_str_eq(memory_holder_take_input(memory_api_holder("s")), "");
}

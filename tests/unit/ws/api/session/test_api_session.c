/* One session: showing, renaming, size, signals, input, output, deleting. */
#include "tests/lib/json_text.h"
#include "tests/lib/memory_api.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

TestSuite(api_session_none, .init = memory_api_open, .fini = memory_api_close, .timeout = 60);
#define SUITE .init = memory_api_open_session, .fini = memory_api_close, .timeout = 60
TestSuite(api_session, SUITE);
TestSuite(api_session_input, SUITE);
TestSuite(api_session_output, SUITE);
TestSuite(api_session_delete, SUITE);

/* Valid requests about one session, and which roles and states allow them. */
static const struct {
	const char *line, *body;
	bool owner;     /* owners only */
	bool viewer;    /* viewers too */
	bool unstarted; /* a starting session too */
	bool ended;     /* an ended session too */
	int status;     /* the status in any state; 0: see above */
	const char *code;
} requests[] = {
	{"GET /api/session/s", NULL, .viewer = true, .unstarted = true, .ended = true},
	{"POST /api/session/s/rename", "{'name':'x'}", .owner = true, .unstarted = true,
		.ended = true},
	{"POST /api/session/s/resize", "{'cols':90,'rows':30}"},
	{"POST /api/session/s/size", "{'policy':'smallest'}", .owner = true},
	{"POST /api/session/s/signal", "{'signal':'INT'}"},
	{"POST /api/session/s/input", "{'data':'x'}"},
	{"POST /api/session/s/keys", "{'text':'x'}"},
	{"GET /api/session/s/output", NULL, .viewer = true, .ended = true},
	{"GET /api/session/s/typed", NULL, .viewer = true, .unstarted = true, .ended = true},
	{"GET /api/session/s/lease", NULL, .viewer = true, .unstarted = true, .ended = true},
	{"POST /api/session/s/lease", "{}"},
	{"GET /api/session/s/state", NULL, .viewer = true, .unstarted = true, .ended = true},
	{"POST /api/session/s/wait", "{'until':[{'type':'exit'}],'timeoutMs':0}", .viewer = true,
		.ended = true},
	{"GET /api/session/s/screen", NULL, .viewer = true, .ended = true},
	{"GET /api/session/s/scrollback", NULL, .viewer = true, .ended = true},
	{"GET /api/session/s/search?q=x", NULL, .viewer = true, .ended = true},
	{"GET /api/session/s/exec", NULL, .viewer = true, .unstarted = true, .ended = true},
	{"GET /api/session/s/blocks", NULL, .viewer = true, .unstarted = true, .ended = true},
	{"GET /api/session/s/stream", NULL, .viewer = true, .ended = true},
	{"GET /api/session/s/links", NULL, .owner = true, .unstarted = true, .ended = true},
	{"POST /api/session/s/links", "{'role':'viewer'}", .owner = true, .ended = true},
	{"POST /api/session/s/exec", "{'command':''}", .status = 400, .code = "INVALID_COMMAND"},
	{"GET /api/session/s/exec/x", NULL, .viewer = true, .status = 404, .code = "EXEC_NOT_FOUND"},
	{"GET /api/session/s/exec/x/output", NULL, .viewer = true, .status = 404,
		.code = "EXEC_NOT_FOUND"},
	{"GET /api/session/s/exec/x/stream", NULL, .viewer = true, .status = 404,
		.code = "EXEC_NOT_FOUND"},
	{"POST /api/session/s/exec/x/cancel", NULL, .status = 404, .code = "EXEC_NOT_FOUND"},
	{"GET /api/session/s/blocks/x", NULL, .viewer = true, .status = 404,
		.code = "BLOCK_NOT_FOUND"},
	{"GET /api/session/s/blocks/x/output", NULL, .viewer = true, .status = 404,
		.code = "BLOCK_NOT_FOUND"},
	{"DELETE /api/session/s/links/x", NULL, .owner = true, .status = 404,
		.code = "LINK_NOT_FOUND"},
};
#define REQUESTS (sizeof requests / sizeof *requests)

/* Send request i, whose body has ' for ". */
static struct call *send_as(size_t i, enum asker by, const char *only)
{
	char *body = requests[i].body ? json_quoted(requests[i].body) : NULL;
	struct call *c = memory_api_ask(
		&(struct ask){.line = requests[i].line, .body = body, .by = by, .only = only});
	free(body);
	call_await(c);
	return c;
}

static void expect(struct call *c, int status, const char *code)
{
	cr_expect_eq(call_status(c), status, "%s: %d %s", c->line, call_status(c), call_body(c));
	cr_expect_str_eq(call_code(c), code, "%s: %s", c->line, call_body(c));
	call_end(c);
}

/* Request i reaches its handler. */
static void expect_served(size_t i, struct call *c)
{
	expect(c, requests[i].status ? requests[i].status : 200,
		requests[i].code ? requests[i].code : "");
}

Test(api_session_none, missing_session)
{
	for (size_t i = 0; i < REQUESTS; i++)
		expect(send_as(i, BY_OWNER, NULL), 404, "SESSION_NOT_FOUND");
}

Test(api_session, roles)
{
	struct session *s = memory_api_session("s");
	for (size_t i = 0; i < REQUESTS; i++) {
		expect(send_as(i, BY_NOBODY, NULL), 401, "UNAUTHENTICATED");
		if (requests[i].owner)
			expect(send_as(i, BY_DRIVER, "s"), 403, "PERMISSION_DENIED");
		else if (!requests[i].viewer)
			expect(send_as(i, BY_VIEWER, "s"), 403, "READ_ONLY");
		else
			expect_served(i, send_as(i, BY_VIEWER, "s"));
		if (!requests[i].owner)
			expect_served(i, send_as(i, BY_DRIVER, "s"));
		session_release_lease(s, NULL, NULL);
		expect_served(i, send_as(i, BY_OWNER, NULL));
	}
}

Test(api_session, a_link_is_for_one_session)
{
	memory_api_start("mine");
	for (size_t i = 0; i < REQUESTS; i++)
		expect(send_as(i, BY_DRIVER, "mine"), 403, "PERMISSION_DENIED");
	memory_holder_exit(memory_api_holder("s"), 0);
}

Test(api_session_none, starting_session)
{
	memory_api_start_slow("s");
	for (size_t i = 0; i < REQUESTS; i++)
		if (requests[i].unstarted || requests[i].status)
			expect_served(i, send_as(i, BY_OWNER, NULL));
		else
			expect(send_as(i, BY_OWNER, NULL), 409, "RESOURCE_BUSY");
}

static void expect_ended(void)
{
	for (size_t i = 0; i < REQUESTS; i++)
		if (requests[i].ended || requests[i].status)
			expect_served(i, send_as(i, BY_OWNER, NULL));
		else
			expect(send_as(i, BY_OWNER, NULL), 410, "SESSION_TERMINATED");
}

Test(api_session_none, ended_session)
{
	memory_api_start_ended("s", 3 << 8);
	expect_ended();
}

Test(api_session, session_whose_holder_has_died)
{
	struct session *s = memory_api_session("s");
	memory_holder_die(memory_api_holder("s"));
	cr_assert(LOOP_UNTIL(&memory_api.loop, s->state == SESSION_EXITED));
	expect_ended();
}

/* The i-th request with a body, also those of no session; NULL after the last. */
static const char *line_with_body(size_t i)
{
	static const char *const others[] = {"POST /api/session/create", "POST /api/session/open",
		"POST /api/session/delete", "POST /api/execute", "POST /api/run", "POST /api/stdin",
		"POST /api/process/start", "POST /api/port-watch", "POST /api/auth/login", NULL};
	for (size_t n = 0; n < REQUESTS; n++) {
		bool has_body = strncmp(requests[n].line, "POST", 4) == 0 && requests[n].body;
		if (has_body && i-- == 0)
			return requests[n].line;
	}
	return others[i];
}

Test(api_session, bodies_other_than_objects)
{
	static char lists[200001], objects[200001];
	static const struct {
		const char *text;
		size_t length;
	} bodies[] = {{lists, 200000}, {objects, 200000}, {"null", 4}, {"1", 1}, {"[]", 2},
		{"\"text\"", 6}, {"{", 1}, {"{}}", 3}, {"\xff\xfe", 2}, {"{\xff}", 3},
		{"{\"a\":1,\"a\":2}", 13}, {"\xef\xbb\xbf{}", 5}, {"\0", 1}, {"{}\0", 3},
		{"{\"name\":\"\\ud800\"}", 17}, {"{\"a\\u0000b\":1}", 14}, {"{\"a\":1e999}", 11},
		{"{'a':1}", 7}, {"{\"a\":1,}", 8}, {"{\"a\":NaN}", 9}};
	memset(lists, '[', 200000);
	for (size_t i = 0; i < 200000; i += 5)
		memcpy(objects + i, "{\"a\":", 5);
	const char *line;
	for (size_t i = 0; (line = line_with_body(i)); i++) {
		for (size_t n = 0; n < sizeof bodies / sizeof *bodies; n++) {
			struct call *c = memory_api_ask(&(struct ask){
				.line = line, .body = bodies[n].text, .length = bodies[n].length});
			call_await(c);
			cr_expect_str_eq(call_field(c), "body", "%s %.20s: %s", line,
				bodies[n].text, call_body(c));
			expect(c, INVALID);
		}
	}
}

/* Replace the holder by a stopped process, whose state the kernel reports. */
static pid_t stop_holder(const char *session)
{
	pid_t pid = fork();
	if (pid == 0) {
		raise(SIGSTOP);
		_exit(0);
	}
	cr_assert_gt(pid, 0);
	cr_assert_eq(waitpid(pid, NULL, WUNTRACED), pid);
	memory_api_holder(session)->silent = true;
	memory_api_session(session)->pane.held.link.info.holder_pid = pid;
	return pid;
}

static void kill_stopped(pid_t pid)
{
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(api_session, stopped_holder_refuses_requests_that_need_it)
{
	pid_t pid = stop_holder("s");
	static const struct refused cases[] = {
		{"POST /api/session/s/resize", "{'cols':9,'rows':9}", 409, "SESSION_UNRESPONSIVE"},
		{"POST /api/session/s/size", "{'policy':'fixed'}", 409, "SESSION_UNRESPONSIVE"},
		{"POST /api/session/s/signal", "{'signal':'INT'}", 409, "SESSION_UNRESPONSIVE"}};
	EXPECT_REFUSED(cases);
	cr_expect_eq(memory_api_holder("s")->resizes, 0);
	cr_expect_eq(memory_api_holder("s")->signals, 0);
	memory_api_check("GET /api/session/s", NULL, "{'data':{'state':'unresponsive'}}");
	kill_stopped(pid);
}

Test(api_session, name_is_changed)
{
	memory_api_check("POST /api/session/s/rename", "{'name':'\\u00e4\\u4e2d x'}",
		"{'data':{'name':'\xc3\xa4\xe4\xb8\xad x'}}");
	cr_expect_eq(
		memory_api_status("POST /api/session/s/rename", "{'name':'" LONG_128 "'}"), 200);
	static const struct refused cases[] = {{"POST /api/session/s/rename", NULL, INVALID, "name"},
		{"POST /api/session/s/rename", "{}", INVALID, "name"}};
	EXPECT_INVALID("POST /api/session/s/rename", "{", "'name':null", "'name':''",
		"'name':['a']", "'name':'a\\tb'", "'name':'a\\u001bb'", "'name':'a\\u0085b'",
		"'name':'a\\u0000b'", "'name':'" LONG_128 "x'");
	EXPECT_REFUSED(cases);
	struct call *c = memory_api_call("GET /api/session/s", NULL);
	cr_expect_str_eq(call_text(c, "data.name"), LONG_128);
}

Test(api_session, invalid_sizes)
{
#define RESIZE "POST /api/session/s/resize"
#define SIZE "POST /api/session/s/size"
	static const struct refused cases[] = {{RESIZE, NULL, INVALID, "cols"},
		{RESIZE, "{'cols':80}", INVALID, "rows"}, {RESIZE, "{'rows':24}", INVALID, "cols"},
		{RESIZE, "{'cols':80,'rows':0}", INVALID, "rows"},
		{RESIZE, "{'cols':80,'rows':1001}", INVALID, "rows"},
		{RESIZE, "{'cols':9223372036854775808,'rows':24}", INVALID, "body"},
		{SIZE, NULL, INVALID, "policy"},
		{"GET /api/session/s/size", NULL, 405, "METHOD_NOT_ALLOWED"}};
	EXPECT_INVALID(RESIZE, "{", "'cols':null,'rows':24", "'cols':1e300,'rows':24",
		"'cols':0,'rows':24", "'cols':1001,'rows':24", "'cols':-80,'rows':24",
		"'cols':80.5,'rows':24", "'cols':'80','rows':24", "'cols':true,'rows':24",
		"'cols':4294967376,'rows':24", "'cols':9223372036854775807,'rows':24");
	EXPECT_INVALID(SIZE, "{", "'policy':''", "'policy':'largest'", "'policy':1",
		"'policy':'fixed\\u0000'", "'policy':'Latest'");
	EXPECT_INVALID(SIZE, "{'policy':'fixed',", "'cols':1001", "'rows':0", "'cols':0",
		"'rows':1001", "'rows':'9'");
	EXPECT_REFUSED(cases);
	cr_expect_eq(memory_api_holder("s")->resizes, 0);
	memory_api_check("GET /api/session/s", NULL, "{'data':{'sizePolicy':'latest'}}");
}

Test(api_session, policies_of_the_size)
{
	struct call *c = memory_api_call(SIZE, "{'policy':'fixed','cols':100,'rows':50}");
	call_returns(c, "{'data':{'sizePolicy':'fixed'}}");
	cr_expect_eq(memory_api_holder("s")->cols, 100);
	memory_api_check(RESIZE, "{'cols':1000,'rows':1}", "{'data':{'cols':1000,'rows':1}}");
	static const char *const windows[] = {"{'policy':'smallest'}", "{'policy':'owner'}"};
	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(memory_api_status(SIZE, windows[i]), 200);
		c = memory_api_call(RESIZE, "{'cols':10,'rows':10}");
		call_expect(c, 409, "SIZE_POLICY");
		cr_expect_not_null(strstr(windows[i], call_text(c, "context.sizePolicy")));
	}
	cr_expect_eq(memory_api_status(SIZE, "{'policy':'latest'}"), 200);
	cr_expect_eq(memory_api_status(RESIZE, "{'cols':1,'rows':1000}"), 200);
	cr_expect_eq(memory_api_holder("s")->rows, 1000);
}

Test(api_session_none, policy_of_an_ended_session_cannot_be_changed)
{
	static const struct refused cases[] = {
		{SIZE, "{'policy':'fixed','cols':50,'rows':15}", 410, "SESSION_TERMINATED"}};
	memory_api_start_ended("s", 3 << 8);
	EXPECT_REFUSED(cases);
	memory_api_check("GET /api/session/s", NULL, "{'data':{'sizePolicy':'latest'}}");
}

Test(api_session, signals_are_sent)
{
#define SIGNAL "POST /api/session/s/signal"
	static const struct {
		const char *body;
		int signo;
		enum wire_target target;
	} cases[] = {{"{'signal':'INT'}", SIGINT, WIRE_TARGET_FOREGROUND},
		{"{'signal':'SIGINT','target':'foreground'}", SIGINT, WIRE_TARGET_FOREGROUND},
		{"{'signal':'KILL','target':null}", SIGKILL, WIRE_TARGET_FOREGROUND},
		{"{'signal':9}", SIGKILL, WIRE_TARGET_FOREGROUND},
		{"{'signal':'SIGWINCH','target':'shell'}", SIGWINCH, WIRE_TARGET_SHELL}};
	const struct memory_holder *h = memory_api_holder("s");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_expect_eq(memory_api_status(SIGNAL, cases[i].body), 200);
		cr_expect_eq(h->signals, i + 1);
		cr_expect_eq(h->signo, cases[i].signo);
		cr_expect_eq(h->target, cases[i].target);
	}
	static const struct refused refused[] = {{SIGNAL, NULL, INVALID, "signal"}};
	EXPECT_INVALID(SIGNAL, "{", "'signal':''", "'signal':'SIG'", "'signal':'SIGSIGINT'",
		"'signal':'int'", "'signal':'9'", "'signal':999", "'signal':'INT\\u0000'");
	EXPECT_INVALID(SIGNAL, "{'signal':'INT',", "'target':'all'", "'target':''", "'target':1");
	EXPECT_REFUSED(refused);
	cr_expect_eq(h->signals, sizeof cases / sizeof *cases);
}

#define INPUT "POST /api/session/s/input"

Test(api_session_input, reaches_the_terminal)
{
	struct memory_holder *h = memory_api_holder("s");
	struct call *c = memory_api_call(INPUT, "{'data':'ls\\r\\u001b[A\\u00e4'}");
	call_returns(c, "{'bytes':8,'written':8,'queued':0,'offset':0}");
	cr_expect_str_eq(memory_holder_take_input(h), "ls\r\x1b[A\xc3\xa4");
	cr_expect_eq(memory_api_status(INPUT, "{'base64':'/wABAg=='}"), 200);
	cr_expect_eq(h->input_length, 4);
	cr_expect_arr_eq(h->input, "\xff\x00\x01\x02", 4);
	h->input_length = 0;
	cr_expect_eq(memory_api_status(INPUT, "{'data':'a\\u0000b'}"), 200);
	cr_expect_eq(h->input_length, 3);
	cr_expect_arr_eq(h->input, "a\0b", 3);
	h->input_length = 0;
	cr_expect_eq(memory_api_status(INPUT, "{'data':''}"), 200);
	cr_expect_eq(h->input_length, 0);
	h->full = true;
	memory_api_check(INPUT, "{'data':'xy'}", "{'bytes':2,'written':0,'queued':2}");
}

Test(api_session_input, invalid_requests)
{
	static const struct refused cases[] = {{INPUT, NULL, INVALID, "data"},
		{INPUT, "{'data':'\\ud800'}", INVALID, "body"},
		{INPUT, "{'data':'x','lease':'no such'}", 409, "LEASED"}};
	EXPECT_INVALID(INPUT, "{", "'data':1", "'data':null", "'data':['x']", "'base64':1",
		"'base64':'*'", "'base64':'QQ='", "'base64':'QUI'", "'base64':'QQ==QQ=='",
		"'base64':'QQ\\u0000='");
	EXPECT_INVALID(INPUT, "{'data':'x',", "'name':1", "'name':''", "'name':'a\\nb'",
		"'name':'" LONG_128 "'", "'lease':1");
	EXPECT_REFUSED(cases);
	cr_expect_str_eq(memory_holder_take_input(memory_api_holder("s")), "");
}

#define OUTPUT "GET /api/session/s/output"

Test(api_session_output, returns_what_was_printed)
{
	static const struct {
		const char *query, *want, *from, *to;
	} cases[] = {{"", "hello\r\n", "0", "7"}, {"?from=2", "llo\r\n", "2", "7"},
		{"?from=2&to=4", "ll", "2", "4"}, {"?to=1", "h", "0", "1"},
		{"?from=7", "", "7", "7"}, {"?from=3&to=3", "", "3", "3"},
		{"?from=5&to=2", "", "5", "5"}, {"?to=9223372036854775807", "hello\r\n", "0", "7"}};
	memory_api_print("s", "hello\r\n");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct call *c = memory_api_get(OUTPUT "%s", cases[i].query);
		cr_expect_eq(call_status(c), 200, "%s", c->line);
		cr_expect_eq(c->request->reply.length, strlen(cases[i].want), "%s", c->line);
		cr_expect_arr_eq(call_body(c), cases[i].want, strlen(cases[i].want), "%s", c->line);
		cr_expect_str_eq(call_header(c, "Ringside-From"), cases[i].from, "%s", c->line);
		cr_expect_str_eq(call_header(c, "Ringside-To"), cases[i].to, "%s", c->line);
		cr_expect_str_eq(call_header(c, "Ringside-Head"), "7");
		cr_expect_str_eq(call_header(c, "Ringside-Oldest"), "0");
		call_end(c);
	}
}

Test(api_session_output, invalid_offsets)
{
	static const struct refused cases[] = {{OUTPUT "?from=1", NULL, 416, "RANGE_GONE"},
		{OUTPUT "?from=9223372036854775807", NULL, 416, "RANGE_GONE"}};
	EXPECT_INVALID(OUTPUT "?", NULL, "from=", "from=-1", "from=x", "from=1.5", "from=0x10",
		"from=%201", "from=+1", "from=9223372036854775808", "from=18446744073709551616",
		"to=x", "to=");
	EXPECT_REFUSED(cases);
}

Test(api_session_output, bytes_that_the_ring_has_lost)
{
	struct session *s = memory_api_session("s");
	memory_api_overflow("s");
	struct call *c = memory_api_call(OUTPUT "?from=0", NULL);
	call_expect(c, 416, "RANGE_GONE");
	cr_expect_eq(call_number(c, "context.head"), 2 * RING_SIZE_MIN);
	cr_expect_eq((uint64_t)call_number(c, "context.oldest"), session_oldest(s));
	c = memory_api_call(OUTPUT, NULL);
	cr_expect_eq(call_status(c), 200);
	cr_expect_eq(c->request->reply.length, 2 * RING_SIZE_MIN - session_oldest(s));
}

#define DELETE "POST /api/session/delete"

Test(api_session_delete, ends_the_session)
{
	struct call *c = memory_api_begin(DELETE, "{'sessionId':'s'}");
	cr_expect_not(c->answered, "the holder has not responded");
	cr_expect_eq(memory_api_status("GET /api/session/s", NULL), 404);
	call_returns(c, "{'sessionId':'s'}");
	cr_expect_eq(memory_holders_count(), 0);
}

Test(api_session_delete, invalid_requests)
{
	static const struct refused cases[] = {{DELETE, NULL, INVALID, "sessionId"},
		{DELETE, "{'sessionId':'s'}", 403, "PERMISSION_DENIED", .by = BY_DRIVER},
		{DELETE, "{'sessionId':'s'}", 401, "UNAUTHENTICATED", .by = BY_NOBODY},
		{DELETE, "{'sessionId':'other'}", 500, "INTERNAL_ERROR"},
		{DELETE, "{'sessionId':'../s'}", 500, "INTERNAL_ERROR"}};
	EXPECT_INVALID(DELETE, "{", "'sessionId':null", "'sessionId':1", "'sessionId':'a\\u0000b'");
	EXPECT_REFUSED(cases);
	struct call *c = memory_api_call(DELETE, "{'sessionId':'other'}");
	/* As clients of the sandbox container protocol expect. */
	call_has(c, "{'context':{'originalError':'Session not found','sessionId':'other'}}");
	memory_api_session("s");
}

Test(api_session_delete, second_request_gets_not_found)
{
	struct call *a = memory_api_begin(DELETE, "{'sessionId':'s'}");
	struct call *b = memory_api_begin(DELETE, "{'sessionId':'s'}");
	call_has(b, "{'context':{'originalError':'Session not found'}}");
	call_expect(a, 200, "");
}

Test(api_session_delete, session_ends_without_the_client)
{
	call_end(memory_api_begin(DELETE, "{'sessionId':'s'}"));
	cr_assert(LOOP_UNTIL(&memory_api.loop, sessions_are_idle(&memory_api.sessions)));
	cr_expect_eq(memory_holders_count(), 0);
}

Test(api_session_delete, server_exits_before_the_end)
{
	memory_api_holder("s")->mute = true;
	struct call *c = memory_api_begin(DELETE, "{'sessionId':'s'}");
	memory_api_end_tables();
	call_expect(c, 409, "OPERATION_INTERRUPTED");
}

Test(api_session_none, list_has_the_sessions_that_the_role_may_see)
{
	memory_api_start("a");
	memory_api_start("b");
	struct call *c = memory_api_call("GET /api/session/list", NULL);
	cr_expect_eq(json_array_size(call_get(c, "data")), 2);
	cr_expect_str_eq(call_text(c, "data.0"), "a");
	cr_expect_str_eq(call_text(c, "sessions.1.id"), "b");
	c = memory_api_ask(
		&(struct ask){.line = "GET /api/session/list", .by = BY_VIEWER, .only = "b"});
	call_await(c);
	cr_expect_eq(json_array_size(call_get(c, "data")), 1);
	cr_expect_eq(json_array_size(call_get(c, "sessions")), 1);
	cr_expect_str_eq(call_text(c, "data.0"), "b");
}

Test(api_session_none, list_can_be_followed)
{
	struct call *c = memory_api_call("GET /api/session/events", NULL);
	cr_assert(call_event(c, "sessions"));
	cr_expect_eq(json_array_size(call_get(c, "sessions")), 0);
	memory_api_start("a");
	while (json_array_size(call_get(c, "sessions")) == 0 ||
		strcmp(call_text(c, "sessions.0.state"), "running") != 0)
		cr_assert(call_event(c, "sessions"));
	memory_api_status("POST /api/session/a/rename", "{'name':'new'}");
	cr_assert(call_event(c, "sessions"));
	cr_expect_str_eq(call_text(c, "sessions.0.name"), "new");
	cr_expect_eq(memory_api_status(DELETE, "{'sessionId':'a'}"), 200);
	cr_assert(call_event(c, "sessions"));
	cr_expect_eq(json_array_size(call_get(c, "sessions")), 0);
	struct call *other = memory_api_call("GET /api/session/events", NULL);
	call_end(c);
	cr_assert(call_event(other, "sessions"), "other followers stay");
	call_end(other);
	cr_expect_null(memory_api.api.streams);
}

/* Runs, standard input sent ahead, and information about the server. No command is run. */
#include "shell/run/internal.h"
#include "tests/lib/memory_api.h"
#include "ws/api/openapi.h"

#include <string.h>

#define SUITE .init = memory_api_open, .fini = memory_api_close, .timeout = 60
TestSuite(api_run, SUITE);
TestSuite(api_stdin, SUITE);
TestSuite(api_server, SUITE);

#define RUN "POST /api/run"
#define STDIN "POST /api/stdin"

Test(api_run, invalid_requests)
{
	static const struct refused cases[] = {{RUN, NULL, INVALID, "command"},
		{RUN, "{}", INVALID, "command"}, {RUN, "{'command':1}", INVALID, "command"},
		{RUN, "{'command':''}", 400, "INVALID_COMMAND"},
		{RUN, "{'command':' \\n'}", 400, "INVALID_COMMAND"},
		{RUN, "{'command':'a\\u0000b'}", 400, "INVALID_COMMAND"},
		{RUN, "nothing", INVALID, "body"}, {RUN, "[]", INVALID, "body"},
		{RUN, "{'command':'x','command':'y'}", INVALID, "body"},
		{RUN, "{'command':'x'}", 403, "PERMISSION_DENIED", NULL, BY_DRIVER},
		{RUN, "{'command':'x'}", 403, "PERMISSION_DENIED", NULL, BY_VIEWER},
		{RUN, "{'command':'x'}", 401, "UNAUTHENTICATED", NULL, BY_NOBODY}};
	EXPECT_INVALID(RUN, "{'command':'x',", "'cwd':1", "'cwd':'/no/such/place'",
		"'cwd':'/no/such/place','stream':true", "'cwd':'/dev/null'", "'env':1",
		"'timeoutMs':-1", "'timeoutMs':1.0", "'timeoutMs':31536000001", "'streams':1",
		"'streams':'files'", "'encoding':'hex'", "'rows':0", "'rows':1001", "'cols':0",
		"'cols':'80'", "'maxOutput':-1", "'maxOutput':33554433", "'stream':1", "'stdin':1",
		"'stdin':'a','stdinBase64':'YQ=='", "'stdinBase64':1", "'stdinBase64':'YQ'",
		"'stdinFrom':1", "'stdinFrom':'a','stdin':'b'", "'stdinFrom':'a','stdinBase64':''",
		"'stdinFrom':'no'", "'stdinFrom':'../token'");
	EXPECT_REFUSED(cases);
	cr_expect_eq(memory_api.metrics.runs, 0);
}

/* test_run.c tests that there cannot be more: number_of_runs_is_limited. */
Test(api_run, number_of_runs_is_limited)
{
	static const struct refused cases[] = {{RUN, "{'command':'true'}", 429, "LIMIT_REACHED"},
		{RUN, "{'command':'true','stream':true,'streams':'pipes'}", 429, "LIMIT_REACHED"}};
	memory_api.runs->count = RUNS_MAX;
	EXPECT_REFUSED(cases);
	struct call *c = memory_api_call(RUN, "{'command':'true'}");
	cr_expect_eq(call_number(c, "context.maxRuns"), RUNS_MAX);
	memory_api.runs->count = 0;
	cr_expect_eq(memory_api.metrics.runs, 0);
}

/* Input that is read while it is sent */

Test(api_stdin, is_for_owners)
{
	static const struct refused cases[] = {
		{STDIN, "{}", 403, "PERMISSION_DENIED", NULL, BY_DRIVER},
		{STDIN, "{}", 401, "UNAUTHENTICATED", NULL, BY_NOBODY}};
	EXPECT_REFUSED(cases);
}

Test(api_server, version_and_features)
{
	struct call *c = memory_api_call("GET /api/ping", NULL);
	cr_expect_eq(call_status(c), 200);
	memory_api_check("GET /api/version", NULL, "{'version':'1.2.3'}");
	c = memory_api_ask(&(struct ask){.line = "GET /healthz", .by = BY_NOBODY});
	call_expect(c, 200, "");
	c = memory_api_call("GET /metrics", NULL);
	cr_expect_eq(call_status(c), 200);
	c = memory_api_call("GET /api/openapi.json", NULL);
	cr_expect_eq(c->request->reply.length, openapi_document_length);
}

Test(api_server, installed_programs)
{
	struct call *c = memory_api_begin("GET /api/commands", NULL);
	struct call *gone = memory_api_begin("GET /api/commands", NULL);
	call_end(gone);
	call_expect(c, 200, "");
	cr_expect_eq(
		(size_t)call_number(c, "count"), json_array_size(call_get(c, "availableCommands")));
}

Test(api_server, unknown_paths)
{
	static const struct refused cases[] = {
		{"GET /metrics", NULL, 401, "UNAUTHENTICATED", NULL, BY_NOBODY},
		{"GET /metrics", NULL, 403, "PERMISSION_DENIED", NULL, BY_VIEWER},
		{"POST /api/backup/upload-parts", "{}", 401, "UNAUTHENTICATED", NULL, BY_NOBODY},
		{"GET /api", NULL, 404, "UNKNOWN_ERROR"},
		{"GET /api/session//state", NULL, 404, "UNKNOWN_ERROR"},
		{"PUT /api/run", "{}", 405, "METHOD_NOT_ALLOWED"}};
	EXPECT_REFUSED(cases);
	struct call *c = memory_api_call("GET /api/nothing-here", NULL);
	cr_expect_str_eq(call_text(c, "message"), "The requested endpoint was not found");
}

/* POST /api/session/create and open. */
#include "tests/lib/memory_api.h"

#include <errno.h>
#include <string.h>

TestSuite(api_create, .init = memory_api_open, .fini = memory_api_close, .timeout = 60);

#define CREATE "POST /api/session/create"
#define OPEN "POST /api/session/open"

Test(api_create, returns_the_session_once_it_runs)
{
	memory_api_check(CREATE,
		"{'id':'s','name':'a name','shell':'/bin/sh','cwd':'/tmp','cols':100,'rows':30,'idleTimeoutMs':5000}",
		"{'success':true,'containerPlacementId':null,'data':{'id':'s','name':'a name',"
		"'cwd':'/tmp','shell':'/bin/sh','state':'running','cols':100,'rows':30,"
		"'idleTimeoutMs':5000,'offset':0,'exit':null}}");
	cr_expect_eq(memory_api_holder("s")->cols, 100);
	cr_expect_eq(memory_api_holder("s")->rows, 30);
}

Test(api_create, generates_an_id)
{
	struct call *a = memory_api_call(CREATE, NULL), *b = memory_api_call(CREATE, "{'id':null}");
	cr_assert_eq(call_status(a), 200);
	cr_assert_eq(call_status(b), 200);
	cr_expect_eq(strncmp(call_text(a, "data.id"), "session_", 8), 0);
	cr_expect_str_neq(call_text(a, "data.id"), call_text(b, "data.id"));
}

Test(api_create, values_at_their_limits)
{
	static const char *const bodies[] = {"{'id':'" LONG_128 "'}", "{'id':'A-Z.a_z:0@9'}",
		"{'name':'" LONG_128 "','rows':2,'cols':1000}",
		"{'rows':1000,'cols':2,'idleTimeoutMs':31536000000,'env':{}}"};
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
		cr_expect_eq(memory_api_status(CREATE, bodies[i]), 200, "%s", bodies[i]);
}

static void expect_invalid_fields(const char *line)
{
	const struct refused cases[] = {{line, "[]", INVALID, "body"},
		{line, "nothing", INVALID, "body"}, {line, "{'id':'a'", INVALID, "body"},
		{line, "{'id':'a'}x", INVALID, "body"},
		{line, "{'id':'a','id':'b'}", INVALID, "body"},
		{line, "{'id':'\xff'}", INVALID, "body"},
		{line, "{'id':'s','shell':'/bin/sh','onShellExit':'reexec'}", INVALID, "onShellExit"},
		{line, "{'id':'s'}", 403, "PERMISSION_DENIED", .by = BY_DRIVER},
		{line, "{'id':'s'}", 403, "PERMISSION_DENIED", .by = BY_VIEWER},
		{line, "{'id':'s'}", 401, "UNAUTHENTICATED", .by = BY_NOBODY}};
	EXPECT_REFUSED(cases);
	EXPECT_INVALID(line, "{", "'id':1", "'id':''", "'id':'.hidden'", "'id':'a/b'", "'id':'a b'",
		"'id':'a\\u0000b'", "'id':'\\u00e4'", "'id':'" LONG_128 "x'");
	EXPECT_INVALID(line, "{'id':'s',", "'name':7", "'name':''", "'name':'a\\nb'",
		"'name':'a\\u0000b'", "'name':'\\u007f'", "'name':'" LONG_128 "x'", "'cwd':1",
		"'cwd':''", "'cwd':'tmp'", "'cwd':'/no/such/place'", "'cwd':'/dev/null'",
		"'cwd':'/tmp\\u0000'", "'shell':false", "'shell':''", "'rows':0", "'rows':1001",
		"'rows':-1", "'rows':24.0", "'rows':'24'", "'rows':9223372036854775807", "'cols':0",
		"'cols':4294967297", "'cols':[]", "'idleTimeoutMs':-1",
		"'idleTimeoutMs':31536000001", "'onShellExit':'never'", "'onShellExit':1",
		"'env':[]", "'env':{'A':1}", "'env':{'':'x'}", "'env':{'A=B':'x'}",
		"'env':{'A':'x\\u0000y'}");
}

Test(api_create, invalid_fields_are_named)
{
	expect_invalid_fields(CREATE);
	expect_invalid_fields(OPEN);
	static const struct refused cases[] = {{OPEN, "{}", 400, "VALIDATION_FAILED", "id"},
		{OPEN, NULL, 400, "VALIDATION_FAILED", "id"},
		{"PUT /api/session/create", NULL, 405, "METHOD_NOT_ALLOWED"}};
	EXPECT_REFUSED(cases);
	cr_expect_eq(sessions_count(&memory_api.sessions), 0);
	cr_expect_eq(memory_holders_count(), 0);
}

Test(api_create, too_many_variables)
{
	json_t *body = json_object(), *env = json_object();
	char name[16];
	for (unsigned i = 0; i < 257; i++) {
		snprintf(name, sizeof name, "V%u", i);
		json_object_set_new(env, name, json_string("x"));
	}
	json_object_set_new(body, "env", env);
	struct call *c = memory_api_send(CREATE, json_incref(body));
	call_expect(c, 400, NULL);
	cr_expect_str_eq(call_field(c), "env");
	json_object_del(env, "V256");
	call_await(c = memory_api_send(CREATE, body));
	cr_expect_eq(call_status(c), 200, "the largest number is accepted");
}

Test(api_create, path_that_is_too_long)
{
	memory_api_expect_too_long(CREATE, "{", "cwd", 4096);
	memory_api_expect_too_long(CREATE, "{", "shell", 4096);
}

Test(api_create, id_in_use_is_refused)
{
	memory_api_start("s");
	struct call *c = memory_api_call(CREATE, "{'id':'s'}");
	call_expect(c, 409, "SESSION_ALREADY_EXISTS");
	call_has(c, "{'context':{'sessionId':'s','containerPlacementId':null}}");
}

Test(api_create, number_of_sessions_is_limited)
{
	for (unsigned i = 0; i < MEMORY_API_SESSIONS; i++)
		cr_assert_eq(memory_api_status(CREATE, "{'shell':'/bin/sh'}"), 200);
	struct call *c = memory_api_call(CREATE, "{'shell':'/bin/sh'}");
	call_expect(c, 429, "LIMIT_REACHED");
	cr_expect_eq(call_number(c, "context.maxSessions"), MEMORY_API_SESSIONS);
}

Test(api_create, errors_of_the_holder)
{
	static const struct {
		enum report_stage stage;
		int error, status;
		const char *code, *field;
	} cases[] = {{REPORT_CHDIR, -EACCES, 400, "VALIDATION_FAILED", "cwd"},
		{REPORT_CHDIR, -ENOMEM, 500, "OUT_OF_MEMORY", ""},
		{REPORT_EXEC, -ENOENT, 400, "VALIDATION_FAILED", "shell"},
		{REPORT_EXEC, -E2BIG, 400, "VALIDATION_FAILED", "env"},
		{REPORT_EXEC, -EAGAIN, 500, "TOO_MANY_PROCESSES", ""},
		{REPORT_TERMINAL, -ENOSPC, 500, "TOO_MANY_TERMINALS", ""},
		{REPORT_SETUP, -ENOSPC, 500, "NO_SPACE", ""},
		{REPORT_SETUP, -EIO, 500, "INTERNAL_ERROR", ""}};
	for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
		size_t n = i / 2;
		memory_holder_refuse_next(cases[n].stage, cases[n].error);
		struct call *c = memory_api_call(
			i % 2 ? CREATE : OPEN, "{'id':'s','shell':'/bin/sh'}");
		cr_expect_eq(call_status(c), cases[n].status, "%zu: %s", n, call_body(c));
		cr_expect_str_eq(call_code(c), cases[n].code, "%zu: %s", n, call_body(c));
		cr_expect_str_eq(call_field(c), cases[n].field, "%zu: %s", n, call_body(c));
		call_end(c);
	}
	cr_expect_eq(sessions_count(&memory_api.sessions), 0);
}

Test(api_create, session_stays_without_its_client)
{
	memory_holder_delay_next();
	struct call *c = memory_api_begin(CREATE, "{'id':'s','shell':'/bin/sh'}");
	call_end(c);
	struct session *s = memory_api_session("s");
	memory_holder_answer(memory_api_holder("s"));
	cr_assert(LOOP_UNTIL(&memory_api.loop, s->state == SESSION_RUNNING));
}

Test(api_create, server_exits_while_starting)
{
	memory_holder_delay_next();
	struct call *c = memory_api_begin(CREATE, "{'id':'s','shell':'/bin/sh'}");
	memory_api_end_tables();
	call_expect(c, 409, "OPERATION_INTERRUPTED");
}

Test(api_create, open_finds_or_creates)
{
	memory_api_check(OPEN, "{'id':'s','shell':'/bin/sh'}", "{'created':true}");
	struct call *c = memory_api_call(OPEN, "{'id':'s','name':'another','cols':33}");
	call_returns(c, "{'created':false}");
	cr_expect_str_eq(call_text(c, "data.name"), "s", "the session is unchanged");
}

Test(api_create, open_refuses_another_policy_for_the_shells_exit)
{
	memory_api_start("s");
	struct call *c = memory_api_call(OPEN, "{'id':'s','onShellExit':'respawn'}");
	call_expect(c, 409, "SHELL_EXIT_POLICY");
	cr_expect_str_eq(call_text(c, "context.onShellExit"), "close");
	cr_expect_eq(memory_api_status(OPEN, "{'id':'s','onShellExit':'close'}"), 200);
}

Test(api_create, workspace_need_not_exist)
{
	struct api *a = &memory_api.api;
	a->alias = a->workspace;
	struct call *c = memory_api_call(CREATE, "{'id':'s','cwd':'/workspace'}");
	cr_assert_eq(call_status(c), 200);
	cr_expect_str_eq(call_text(c, "data.cwd"), a->workspace);
	cr_assert_eq(mkdirat(memory_api.folder.fd, "sub", 0700), 0);
	c = memory_api_call(CREATE, "{'id':'t','cwd':'/workspace/sub'}");
	cr_assert_eq(call_status(c), 200);
	cr_expect_eq(strncmp(call_text(c, "data.cwd"), a->workspace, strlen(a->workspace)), 0);
	/* If the machine has it, it is used. */
	a->alias = NULL;
	if (access("/workspace", F_OK) < 0)
		cr_expect_eq(memory_api_status(CREATE, "{'id':'u','cwd':'/workspace'}"), 400);
}

/* Commands that ran when a server exited, and what the next one reports of them. */
#include "tests/lib/memory_shell.h"
#include "ws/mcp/call.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/own.h"
#include "ws/mcp/tool_table.h"

#define ME 7

static struct mcp mcp;

static void on_tick(uv_timer_t *timer)
{
	(void)timer;
}

static void open_all(void)
{
	memory_shell_open();
	mcp = (struct mcp){.dispatcher = &memory_api.dispatcher, .loop = &memory_api.loop};
	cr_assert_eq(uv_timer_init(&memory_api.loop, &mcp.tick), 0);
	uv_timer_start(&mcp.tick, on_tick, 1, 1);
	uv_timer_stop(&mcp.tick);
}

static void close_all(void)
{
	mcp_detached_close(&mcp.detached);
	mcp_cursors_close(&mcp.cursors);
	uv_close((uv_handle_t *)&mcp.tick, NULL);
	memory_api_close();
}

TestSuite(api_mcp_detached, .init = open_all, .fini = close_all, .timeout = 60);

/* Start a command for this caller. */
static const struct exec *begin(const char *session, uint64_t caller)
{
	struct exec *e;
	const struct exec_options o = {.command = "slow", .length = 4, .caller = caller};
	struct executor *x = session_executor(memory_api_session(session));
	cr_assert_eq(exec_start(x, &o, NULL, &e), 0);
	return memory_shell_begin(session);
}

/* What this caller is told next: "" if nothing. */
static const char *read_notice(uint64_t caller)
{
	static char text[256];
	json_t *news = mcp_detached_next_ended(&mcp, caller);
	snprintf(text, sizeof text, "%s", news ? json_string_value(news) : "");
	json_decref(news);
	return text;
}

Test(api_mcp_detached, next_server_reports_their_end)
{
	char want[256];
	const struct exec *e = begin("s", ME);
	snprintf(want, sizeof want, "s/%s has ended: exit code 3", e->id);
	memory_api_restart();
	cr_expect_eq(memory_api.sessions.executors.unreported, 1);
	cr_expect_str_eq(read_notice(ME), "", "the command still runs");
	cr_expect_eq(memory_api.sessions.executors.unreported, 0, "the command was found");
	memory_shell_end("s", 3);
	cr_expect_str_eq(read_notice(ME + 1), "", "another caller gets no notice");
	cr_expect_str_eq(read_notice(ME), want);
	cr_expect_str_eq(read_notice(ME), "", "once");
}

Test(api_mcp_detached, command_that_ended_without_a_server)
{
	char want[256];
	memory_shell_start("t");
	begin("t", ME);
	const struct exec *e = begin("s", ME);
	snprintf(want, sizeof want, "s/%s has ended: exit code 0", e->id);
	memory_api_restart();
	memory_shell_end("s", 0);
	cr_expect_str_eq(read_notice(ME), want);
	cr_expect_str_eq(read_notice(ME), "");
}

Test(api_mcp_detached, ended_commands_and_those_of_no_caller_are_not_reported)
{
	begin("s", ME);
	memory_shell_end("s", 0);
	begin("s", 0);
	memory_api_restart();
	cr_expect_eq(memory_api.sessions.executors.unreported, 0);
	memory_shell_end("s", 0);
	cr_expect_str_eq(read_notice(ME), "");
	cr_expect_str_eq(read_notice(0), "");
}

Test(api_mcp_detached, command_is_forgotten_with_its_session)
{
	begin("s", ME);
	memory_api_restart();
	cr_expect_eq(memory_api.sessions.executors.unreported, 1);
	cr_assert_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'s'}"), 200);
	cr_expect_eq(memory_api.sessions.executors.unreported, 0);
	cr_expect_str_eq(read_notice(ME), "");
}

Test(api_mcp_detached, queued_command_is_reported_as_not_started)
{
	char want[256];
	struct exec *e;
	const struct exec_options next = {
		.command = "next", .length = 4, .caller = ME, .queue = true};
	begin("s", 0);
	struct executor *x = session_executor(memory_api_session("s"));
	cr_assert_eq(exec_start(x, &next, NULL, &e), 0);
	snprintf(want, sizeof want, "s/%s has ended: not_started", e->id);
	memory_api_restart();
	cr_expect_str_eq(read_notice(ME), want);
}

/* A client's call of exec in session "s", without waiting; *ret_client gets the client's number. */
static struct mcp_call *call_exec(struct mcp_call **slot, const char *scope, uint64_t *ret_client)
{
	static const struct principal owner = {.role = ROLE_OWNER};
	static const struct mcp_tool tool = {.name = "exec", .role = ROLE_DRIVER};
	mcp_call_start(&(struct mcp_call_options){.mcp = &mcp,
		.principal = &owner,
		.peer = "127.0.0.1",
		.author = "test",
		.scope = scope,
		.tool = &tool,
		.begin = mcp_exec,
		.args = json_pack(
			"{s:s, s:s, s:i}", "session_id", "s", "command", "slow", "yield_ms", 60000),
		.slot = slot,
		.done = NULL});
	cr_assert_not_null(*slot, "the call has ended");
	*ret_client = (*slot)->client;
	return *slot;
}

Test(api_mcp_detached, lost_call_leaves_its_command_running)
{
	char want[256];
	uint64_t client;
	struct mcp_call *call;
	call_exec(&call, "one", &client);
	const struct exec *e = memory_shell_begin("s");
	cr_assert(LOOP_UNTIL(&memory_api.loop, call->exec[0]));
	mcp_call_cancel(call, false);
	cr_expect_null(call);
	snprintf(want, sizeof want, "s/%s has ended: exit code 3", e->id);
	cr_expect_str_eq(read_notice(client), "");
	memory_shell_end("s", 3);
	cr_expect_str_eq(read_notice(client), want);
	cr_expect_str_eq(read_notice(client + 1), "");
}

Test(api_mcp_detached, call_cancelled_at_its_beginning_leaves_its_command_running)
{
	char want[256];
	uint64_t client;
	struct mcp_call *call;
	call_exec(&call, "one", &client);
	cr_assert_str_eq(call->exec, "", "the command has an id already");
	mcp_call_cancel(call, true);
	const struct exec *e = memory_shell_begin("s");
	snprintf(want, sizeof want, "s/%s has ended: exit code 0", e->id);
	memory_shell_end("s", 0);
	cr_expect_str_eq(read_notice(client), want);
}

/* Note an imaginary command that this client has left. */
static void note(uint64_t client, unsigned number)
{
	struct mcp_call c = {.mcp = &mcp, .client = client, .session = "s"};
	snprintf(c.exec, sizeof c.exec, "exec_%u", number);
	mcp_detached_add(&mcp.detached, &c);
}

Test(api_mcp_detached, many_commands_of_one_client_do_not_replace_those_of_others)
{
	char want[256];
	const struct exec *e = begin("s", ME);
	struct mcp_call mine = {.mcp = &mcp, .client = ME, .session = "s"};
	snprintf(mine.exec, sizeof mine.exec, "%s", e->id);
	mcp_detached_add(&mcp.detached, &mine);
	for (unsigned i = 0; i < 2 * MCP_DETACHED_TOTAL; i++)
		note(ME + 1, i);
	cr_expect_eq(mcp.detached.count, MCP_DETACHED_MAX + 1);
	snprintf(want, sizeof want, "s/%s has ended: exit code 0", e->id);
	memory_shell_end("s", 0);
	cr_expect_str_eq(read_notice(ME), want);
	for (unsigned i = 0; i < 2 * MCP_DETACHED_TOTAL; i++)
		note(ME + 2 + i, i);
	cr_expect_eq(mcp.detached.count, MCP_DETACHED_TOTAL);
}

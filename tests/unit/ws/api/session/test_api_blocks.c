/* Blocks: listing, and reading their output. */
#include "tests/lib/memory_shell.h"

TestSuite(api_blocks, .init = memory_shell_open, .fini = memory_api_close, .timeout = 60);

#define BLOCKS "GET /api/session/s/blocks"

/* Three blocks: of a person, of a program with status 2, and a running one. */
static void make_blocks(void)
{
	memory_shell_human("s", "echo hello", "hello\r\n", 0);
	memory_api_begin("POST /api/session/s/exec", "{'command':'make all','label':'agent'}");
	memory_shell_run("s", "\033[31mmade\033[m\r\n", 2);
	memory_api_begin("POST /api/session/s/exec", "{'command':'sleep','label':'agent'}");
	memory_shell_begin("s");
	memory_api_print("s", "so far");
}

static size_t count(const char *query)
{
	struct call *c = memory_api_get(BLOCKS "%s", query);
	call_expect(c, 200, "");
	size_t n = json_array_size(call_get(c, "blocks"));
	call_end(c);
	return n;
}

Test(api_blocks, all_blocks_oldest_first)
{
	make_blocks();
	memory_api_check(BLOCKS, NULL,
		"{'blocks':[{'command':'echo hello','exitCode':0},{'author':'owner',"
		"'label':'agent','exitCode':2},{'state':'running'}],'next':null}");
}

Test(api_blocks, filters)
{
	static const struct {
		const char *query;
		size_t count;
	} cases[] = {{"?label=agent", 2}, {"?author=owner", 2}, {"?author=agent", 0},
		{"?author=human", 1}, {"?author=nobody", 0}, {"?author=", 0}, {"?status=2", 1},
		{"?status=0", 1}, {"?state=done", 2}, {"?state=running", 1}, {"?text=make", 1},
		{"?text=", 3}, {"?text=%c3%a4", 0}, {"?limit=1", 1}, {"?limit=0", 0},
		{"?after=0", 3}, {"?before=0", 0}, {"?before=9223372036854775807", 3},
		{"?after=9223372036854775807", 0}, {"?label=agent&status=2&state=done&text=all", 1}};
	make_blocks();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(count(cases[i].query), cases[i].count, "%s", cases[i].query);
}

Test(api_blocks, pages)
{
	make_blocks();
	struct call *c = memory_api_call(BLOCKS "?limit=2", NULL);
	cr_expect_str_eq(call_text(c, "blocks.0.command"), "make all");
	c = memory_api_get(BLOCKS "?limit=2&before=%lld", (long long)call_number(c, "next"));
	call_has(c, "{'blocks':[{'command':'echo hello'}],'next':null}");
}

/* Id of the n-th block. */
static const char *id_of(unsigned n)
{
	static char id[64];
	char path[32];
	struct call *c = memory_api_call(BLOCKS, NULL);
	snprintf(path, sizeof path, "blocks.%u.id", n);
	snprintf(id, sizeof id, "%s", call_text(c, path));
	call_end(c);
	return id;
}

Test(api_blocks, output_of_a_block)
{
	static const struct {
		const char *query, *want;
	} cases[] = {{"", "made\n"}, {"?format=text", "made\n"},
		{"?format=bytes", "\033[31mmade\033[m\r\n"}, {"?head=2", "ma"}, {"?tail=2", "e\n"},
		{"?head=1&tail=1", "m\n"}, {"?head=0", ""}, {"?head=8388608", "made\n"},
		{"?from=0&to=0", ""}};
	make_blocks();
	const char *id = id_of(1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct call *c = memory_api_get(BLOCKS "/%s/output%s", id, cases[i].query);
		cr_expect_eq(call_status(c), 200, "%s", c->line);
		size_t length = c->request->reply.length;
		cr_expect_eq(length, strlen(cases[i].want), "%s: %.*s", c->line, (int)length,
			call_body(c));
		if (length == strlen(cases[i].want))
			cr_expect_arr_eq(call_body(c), cases[i].want, length, "%s", c->line);
		cr_expect_str_eq(call_header(c, "Ringside-Lost"), "0");
		call_end(c);
	}
	struct call *c = memory_api_get(BLOCKS "/%s/output?format=json&head=1", id);
	call_has(c, "{'text':'m','truncated':true,'omitted':4}");
	c = memory_api_get(BLOCKS "/%s/output", id_of(2));
	cr_expect_eq(c->request->reply.length, 6, "a running block has its output so far");
	c = memory_api_get(BLOCKS "/%s", id);
	cr_expect_str_eq(call_text(c, "block.id"), id);
}

/* Make a block each byte of which scrolls most of a wide screen; returns its id. */
static const char *make_expensive_block(void)
{
	static char text[((size_t)36 << 10) + 1];
	static const char scrolled[] = "\033[2;24r\033[24H";
	memset(text, '\n', sizeof text - 1);
	memcpy(text, scrolled, sizeof scrolled - 1);
	cr_assert_eq(
		memory_api_status("POST /api/session/s/resize", "{'cols':1000,'rows':24}"), 200);
	memory_shell_human("s", "expensive", text, 0);
	return id_of(0);
}

Test(api_blocks, interrupted_drawing_reports_where_to_continue)
{
	struct call *c = memory_api_get(BLOCKS "/%s/output?format=json", make_expensive_block());
	call_returns(c, "{'truncated':true,'omitted':0}");
	cr_expect_gt(call_number(c, "to"), call_number(c, "from"));
	cr_expect_lt(call_number(c, "to"), call_number(c, "block.end"));
}

Test(api_blocks, output_for_links_is_drawn_in_turn_for_owners_at_once)
{
	char line[160];
	snprintf(line, sizeof line, BLOCKS "/%s/output", make_expensive_block());
	struct call *first = memory_api_ask(&(struct ask){.line = line, .by = BY_VIEWER});
	struct call *second = memory_api_ask(&(struct ask){.line = line, .by = BY_VIEWER});
	struct call *gone = memory_api_ask(&(struct ask){.line = line, .by = BY_VIEWER});
	cr_assert_eq(memory_api.api.drawing_rota.busy, 1);
	call_await(first);
	cr_assert_not(second->answered);
	cr_assert_eq(memory_api_status(line, NULL), 200);
	call_end(gone);
	call_expect(second, 200, "");
	/* If a client disconnects while a thread draws, its turn ends with the thread. */
	struct call *out;
	do { /* until a drawing is seen before its answer */
		out = memory_api_ask(&(struct ask){.line = line, .by = BY_VIEWER});
		cr_assert(LOOP_UNTIL(
			&memory_api.loop, out->answered || memory_api.api.drawing_rota.busy == 1));
	} while (out->answered);
	call_end(out);
	cr_assert_eq(memory_api.api.drawing_rota.busy, 1);
	cr_assert(LOOP_UNTIL(&memory_api.loop, memory_api.api.drawing_rota.busy == 0));
}

Test(api_blocks, request_waiting_for_its_turn_ends_with_the_session)
{
	char line[160];
	snprintf(line, sizeof line, BLOCKS "/%s/output", make_expensive_block());
	struct call *first = memory_api_ask(&(struct ask){.line = line, .by = BY_VIEWER});
	struct call *second = memory_api_ask(&(struct ask){.line = line, .by = BY_VIEWER});
	cr_assert_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'s'}"), 200);
	call_await(first);
	call_await(second);
	cr_expect_eq(call_status(first), 200, "the output was copied before");
	cr_expect_str_eq(call_code(second), "SESSION_DESTROYED");
}

Test(api_blocks, invalid_queries)
{
	char line[128];
	static const struct refused cases[] = {{BLOCKS "/b", NULL, 404, "BLOCK_NOT_FOUND"},
		{BLOCKS "/b999999", NULL, 404, "BLOCK_NOT_FOUND"},
		{BLOCKS "/b-1", NULL, 404, "BLOCK_NOT_FOUND"},
		{BLOCKS "/b18446744073709551616", NULL, 404, "BLOCK_NOT_FOUND"},
		{BLOCKS "/x/output", NULL, 404, "BLOCK_NOT_FOUND"},
		{BLOCKS "/%0a/output", NULL, 404, "BLOCK_NOT_FOUND"}};
	make_blocks();
	EXPECT_INVALID(BLOCKS "?", NULL, "limit=x", "limit=-1", "limit=4294967296", "before=x",
		"after=9223372036854775808", "status=256", "status=-1",
		"status=", "state=", "state=exited");
	EXPECT_REFUSED(cases);
	snprintf(line, sizeof line, BLOCKS "/%s/output?", id_of(0));
	EXPECT_INVALID(line, NULL, "format=html", "format=", "head=8388609", "head=-1", "tail=x",
		"from=x", "to=9223372036854775808", "tail=8388609", "to=");
}

Test(api_blocks, survive_a_restart)
{
	make_blocks();
	while (memory_api.calls)
		call_end(memory_api.calls);
	memory_shell_end("s", 0);
	memory_api_restart();
	cr_expect_eq(count(""), 3);
	cr_expect_eq(count("?status=2&label=agent"), 1);
}

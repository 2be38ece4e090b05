/* What callers get of a terminal: real handlers, and a session whose holder is in the test. */
#include "tests/lib/json_text.h"
#include "tests/lib/memory_api.h"
#include "ws/mcp/look.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/own.h"
#include "ws/mcp/tool_table.h"

#include <string.h>

#define LINE "a line of some length, of which there are many"

static struct mcp mcp;
static json_t *answer; /* result of the last call */

static void open_all(void)
{
	memory_api_open();
	mcp = (struct mcp){.dispatcher = &memory_api.dispatcher, .loop = &memory_api.loop};
	cr_assert_eq(mcp_tools_open(&mcp.tools), 0);
	memory_api_start("s");
}

static void close_all(void)
{
	json_decref(answer);
	answer = NULL;
	mcp_tools_close(&mcp.tools);
	mcp_cursors_close(&mcp.cursors);
	memory_api_close();
}

TestSuite(api_mcp_look, .init = open_all, .fini = close_all, .timeout = 60);

static void on_done(void *user, json_t *result)
{
	(void)user;
	json_decref(answer);
	answer = result;
}

/* Start a call of one of several callers; returns its structured content. */
static const json_t *call(mcp_step begin, const char *caller, const char *args)
{
	static const struct principal owner = {.role = ROLE_OWNER};
	struct mcp_call *slot;
	json_t *parsed = json_of(args);
	json_object_set_new(parsed, "session_id", json_string("s"));
	json_decref(answer);
	answer = NULL;
	mcp_call_start(&(struct mcp_call_options){.mcp = &mcp,
		.principal = &owner,
		.peer = "127.0.0.1",
		.author = "test",
		.scope = caller,
		.tool = mcp_tools_find(&mcp.tools, "snapshot"),
		.begin = begin,
		.in_session = true,
		.args = parsed,
		.slot = &slot,
		.done = on_done});
	cr_assert(LOOP_UNTIL(&memory_api.loop, answer));
	cr_assert_null(json_object_get(answer, "isError"));
	return json_object_get(answer, "structuredContent");
}

static const json_t *look(const char *caller, const char *args)
{
	return call(mcp_snapshot, caller, args);
}

static const char *text_of(const json_t *result, const char *name)
{
	const char *text = json_string_value(json_object_get(result, name));
	return text ? text : "(none)";
}

/* As after typing, whose result is shown. */
static void on_typed_state(struct mcp_call *c, const struct mcp_answer *a)
{
	uint64_t known = mcp_shown_offset(c);
	cr_assert(mcp_succeeded(c, a));
	mcp_keep_state(c, a);
	mcp_look(c, &(struct mcp_look){.known = known, .typed = true});
}

static void ask_typed(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_request(c, on_typed_state, METHOD_GET, mcp_path(c, "/state"), NULL, NULL);
}

Test(api_mcp_look, screen_at_first_and_then_new_output)
{
	memory_api_print("s", "one\r\ntwo\r\n");
	cr_expect_str_eq(text_of(look("a", "{}"), "text"), "one\ntwo\n");
	memory_api_print("s", "\033[32mthree\033[m\r\n");
	const json_t *result = look("a", "{}");
	cr_expect_str_eq(text_of(result, "output"), "three\n");
	cr_expect_null(json_object_get(result, "text"));
	cr_expect_str_eq(text_of(look("a", "{}"), "output"), "");
	const json_t *content = json_array_get(json_object_get(answer, "content"), 0);
	cr_expect(strstr(text_of(content, "text"), "nothing new\n"));
	cr_expect_str_eq(text_of(look("b", "{}"), "text"), "one\ntwo\nthree\n",
		"another caller gets the whole screen");
	cr_expect_str_eq(text_of(look("a", "{'whole':true}"), "text"), "one\ntwo\nthree\n");
}

Test(api_mcp_look, overwritten_text_is_shown_at_its_place)
{
	static const char *const places[] = {"\033[3;5Hplaced", "\033[3;5fplaced", "\033[3dplaced",
		"\033[Aplaced", "\033[2Jplaced"};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		look("a", "{}");
		memory_api_print("s", places[i]);
		cr_expect(strstr(text_of(look("a", "{}"), "text"), "placed"), "%zu", i);
	}
	memory_api_print("s", "\033[K\033[1Gin its line\033[J");
	cr_expect(strstr(text_of(look("a", "{}"), "output"), "in its line"));
}

Test(api_mcp_look, more_output_than_a_screen_gives_the_screen)
{
	memory_api_print("s", "begin\r\n");
	look("a", "{}");
	for (unsigned i = 0; i < 200; i++)
		memory_api_print("s", LINE "\r\n");
	memory_api_print("s", "end\r\n");
	const char *text = text_of(look("a", "{}"), "text");
	cr_expect(strstr(text, "\nend\n"));
	cr_expect_lt(strlen(text), 2000);
}

Test(api_mcp_look, typing_caller_gets_more_output_than_a_screen)
{
	const json_t *result;
	memory_api_print("s", "begin\r\n");
	look("a", "{}");
	for (unsigned i = 0; i < 200; i++)
		memory_api_print("s", LINE "\r\n");
	result = call(ask_typed, "a", "{}");
	cr_expect_eq(strlen(text_of(result, "output")), 200 * sizeof LINE);
	for (unsigned i = 0; i < 600; i++)
		memory_api_print("s", LINE "\r\n");
	result = call(ask_typed, "a", "{}");
	cr_expect(strstr(text_of(result, "output"), " bytes omitted …"));
	cr_expect_gt(json_integer_value(json_object_get(result, "omitted_bytes")), 10000);
}

Test(api_mcp_look, ended_full_screen_program_is_not_shown_again)
{
	memory_api_print("s", "begin\r\n");
	look("a", "{}");
	memory_api_print("s", "before\r\n\033[?1049h\033[Hpicture\033[?1049lbehind\r\n");
	cr_expect_str_eq(text_of(look("a", "{}"), "output"), "behind\n");
	memory_api_print("s", "\033[?47h\033[Hone\033[?47l\033[?1049h\033[Htwo\033[?1049llast\r\n");
	cr_expect_str_eq(text_of(look("a", "{}"), "output"), "last\n");
}

Test(api_mcp_look, running_full_screen_program_gives_changed_rows_to_the_typing_caller)
{
	char row[32];
	memory_api_print("s", "\033[?1049h\033[H");
	for (int i = 1; i <= 20; i++) {
		snprintf(row, sizeof row, "row %d of the program\r\n", i);
		memory_api_print("s", row);
	}
	cr_expect(strstr(text_of(look("a", "{}"), "text"), "row 20 of the program"));
	memory_api_print("s", "\033[3;1Hnews\033[K\033[10;1H");
	/* The changed row, and the rows around the cursor; they count from 1. */
	const json_t *result = call(ask_typed, "a", "{}");
	json_has(result,
		"{'changed':[{'row':3,'text':'news'},{'row':9},{'row':10},{'row':11}],'cursor':{'row':10}}",
		"typed");
	cr_expect_null(json_object_get(result, "text"));
	cr_expect(strstr(text_of(call(ask_typed, "b", "{}"), "text"), "row 20"),
		"a new caller gets all");
	/* The screen is shorter than the changed rows. */
	memory_api_print("s", "\033[2J\033[Hx\r\ny");
	cr_expect_str_eq(text_of(call(ask_typed, "a", "{}"), "text"), "x\ny\n");
}

Test(api_mcp_look, requested_form)
{
	memory_api_print("s", "\033[1mbold\033[m\r\n");
	cr_expect(strstr(text_of(look("a", "{'format':'ansi'}"), "text"), "\033["));
	const json_t *result = look("a", "{'since':0,'verbose':true}");
	json_has(result, "{'cols':80,'rows':24,'cursor':{'visible':true}}", "look");
	cr_expect_str_eq(
		text_of(json_array_get(json_object_get(result, "changed"), 0), "text"), "bold");
}

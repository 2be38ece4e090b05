/* The screen, the scrollback, and searching them. */
#include "tests/lib/memory_api.h"

#include <string.h>

#define SUITE .init = memory_api_open_session, .fini = memory_api_close, .timeout = 60
TestSuite(api_screen, SUITE);
TestSuite(api_search, SUITE);

#define SCREEN "GET /api/session/s/screen"
#define SCROLLBACK "GET /api/session/s/scrollback"
#define SEARCH "GET /api/session/s/search"

/* Lines "line 0" to "line n - 1". All but the last 23 go to the scrollback. */
static void print_lines(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char line[32];
		snprintf(line, sizeof line, "line %u\r\n", i);
		memory_api_print("s", line);
	}
}

Test(api_screen, as_json)
{
	memory_api_print("s", "\033]2;a title\a\033[1;31mred\033[m plain\r\n\033[?25l\033[?2004h");
	struct call *c = memory_api_call(SCREEN, NULL);
	cr_expect_eq(call_status(c), 200);
	cr_expect_eq(json_array_size(call_get(c, "lines")), 24);
	cr_expect_str_eq(call_text(c, "lines.0.text"), "red plain");
	cr_expect_eq(call_number(c, "lines.0.row"), 0);
	cr_expect_null(call_get(c, "lines.0.cells"));
	call_has(c,
		"{'title':'a title','rows':24,'cols':80,'cursor':{'row':1,'col':0,"
		"'visible':false},'modes':{'bracketedPaste':true},'alternate':false,'next':null}");
	c = memory_api_call(SCREEN "?cells=1", NULL);
	cr_expect_eq(call_number(c, "lines.0.cells.0.fg"), 1);
	cr_expect(call_is_true(c, "lines.0.cells.0.bold"));
	cr_expect_eq(call_number(c, "lines.0.cells.1.column"), 3);
}

Test(api_screen, cursor_modes_and_names)
{
	memory_api_print("s",
		"\033]1;icon\a\033]7;file://h/tmp/x%20y\a\033[?1002h\033[?1006h\033[?1h\033[5 q");
	memory_api_check(SCREEN, NULL,
		"{'icon':'icon','cwd':'/tmp/x y','cursor':{'style':'bar','blink':true,"
		"'pendingWrap':false},'modes':{'mouse':'drag','mouseEncoding':'sgr',"
		"'applicationCursor':true,'wraparound':true}}");
	memory_api_print("s", "\033[?1049h\033[HA\033[999Cx");
	memory_api_check(SCREEN, NULL, "{'alternate':true,'cursor':{'pendingWrap':true,'col':79}}");
}

Test(api_screen, soft_wraps_and_cells)
{
	char text[82];
	snprintf(text, sizeof text, "%081d", 0);
	memory_api_print("s", text);
	memory_api_print("s",
		"\r\n\033[4:3;48;2;1;2;3m\xe7\x95\x8c\033[m\033]8;;http://a.b/\033\\l\033]8;;\033\\");
	struct call *c = memory_api_call(SCREEN, NULL);
	cr_expect_not(call_is_true(c, "lines.0.wrapped"));
	cr_expect(call_is_true(c, "lines.1.wrapped"));
	c = memory_api_call(SCREEN "?wrap=join", NULL);
	cr_expect_str_eq(call_text(c, "lines.0.text"), text);
	cr_expect_eq(call_number(c, "lines.0.lines"), 2);
	cr_expect_eq(call_number(c, "lines.1.row"), 2);
	c = memory_api_call(SCREEN "?cells=1", NULL);
	cr_expect_eq(call_number(c, "lines.2.cells.0.columns"), 2);
	cr_expect_str_eq(call_text(c, "lines.2.cells.0.bg"), "#010203");
	cr_expect_str_eq(call_text(c, "lines.2.cells.0.underline"), "curly");
	cr_expect_str_eq(call_text(c, "lines.2.cells.1.link"), "http://a.b/");
	cr_expect_eq(json_array_size(call_get(c, "lines.3.cells")), 0);
}

Test(api_screen, other_formats)
{
	memory_api_print("s", "\033[31m<red>\033[m");
	static const struct {
		const char *query, *type, *has;
	} cases[] = {{"?format=text", "text/plain; charset=utf-8", "<red>\n"},
		{"?format=ansi", "text/plain; charset=utf-8", "31m<red>"},
		{"?format=html", "text/html; charset=utf-8", "&lt;red&gt;"},
		{"?format=text&wrap=join", "text/plain; charset=utf-8", "<red>"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text;
		struct call *c = memory_api_get(SCREEN "%s", cases[i].query);
		cr_expect_eq(call_status(c), 200, "%s", c->line);
		cr_expect_str_eq(c->request->reply.content_type, cases[i].type);
		text = strndup(call_body(c), c->request->reply.length);
		cr_expect_not_null(strstr(text, cases[i].has), "%s: %s", c->line, text);
		free(text);
		static const char *const zero[] = {
			"Ringside-From", "Ringside-First", "Ringside-Screen"};
		for (size_t n = 0; n < sizeof zero / sizeof *zero; n++)
			cr_expect_str_eq(call_header(c, zero[n]), "0", "%s", zero[n]);
		cr_expect_str_eq(call_header(c, "Ringside-To"), "24");
		cr_expect_str_eq(call_header(c, "Ringside-End"), "24");
		cr_expect_not_null(call_header(c, "Ringside-Version"));
		bool html = strstr(cases[i].query, "html") != NULL;
		cr_expect_eq(call_header(c, "Content-Security-Policy") != NULL, html, "%s", c->line);
	}
}

Test(api_screen, changes_since_a_version)
{
	memory_api_print("s", "one\r\ntwo\r\n");
	struct call *c = memory_api_call(SCREEN, NULL);
	json_int_t version = call_number(c, "version");
	memory_api_print("s", "three");
	c = memory_api_get(SCREEN "?since=%lld", (long long)version);
	call_has(c, "{'lines':[{'text':'three'}]}");
	c = memory_api_call(SCREEN "?since=9223372036854775807", NULL);
	cr_expect_eq(json_array_size(call_get(c, "lines")), 24, "the version is of another screen");
}

Test(api_screen, invalid_queries)
{
	static const struct refused cases[] = {
		{SCREEN "?format=html&cells=1", NULL, INVALID, "cells"},
		{"POST /api/session/s/screen", "{}", 405, "METHOD_NOT_ALLOWED"},
		{"POST /api/session/s/scrollback", "{}", 405, "METHOD_NOT_ALLOWED"},
		{"POST /api/session/s/search", "{}", 405, "METHOD_NOT_ALLOWED"},
		{SCROLLBACK "?from=25", NULL, 416, "RANGE_GONE"},
		{SCROLLBACK "?from=9223372036854775807", NULL, 416, "RANGE_GONE"}};
	static const char *const lines[] = {SCREEN "?", SCROLLBACK "?"};
	for (size_t i = 0; i < 2; i++)
		EXPECT_INVALID(lines[i], NULL, "format=", "format=JSON", "format=xml",
			"wrap=", "wrap=fold", "cells=2", "cells=true",
			"cells=", "cells=1&format=text", "since=1&format=text", "since=x",
			"since=-1", "since=9223372036854775808");
	EXPECT_INVALID(SCROLLBACK "?", NULL, "from=x", "from=-1", "to=1e3", "to=1.5",
		"to=9223372036854775808");
	EXPECT_REFUSED(cases);
}

Test(api_screen, lines_above_the_screen)
{
	print_lines(40);
	struct call *c = memory_api_call(SCROLLBACK, NULL);
	call_has(c, "{'from':0,'scrollback':{'count':17}}");
	cr_expect_eq(json_array_size(call_get(c, "lines")), 17);
	cr_expect_str_eq(call_text(c, "lines.16.text"), "line 16");
	c = memory_api_call(SCROLLBACK "?from=15&to=19", NULL);
	cr_expect_eq(json_array_size(call_get(c, "lines")), 4, "the next lines are on the screen");
	cr_expect_str_eq(call_text(c, "lines.3.text"), "line 18");
	cr_expect_eq(call_number(c, "lines.3.row"), 1);
	memory_api_check(SCROLLBACK "?from=41&to=9223372036854775807", NULL, "{'lines':[]}");
	memory_api_check(SCROLLBACK "?from=10&to=5", NULL, "{'lines':[]}");
	c = memory_api_call(SCROLLBACK "?from=10&to=5&format=text", NULL);
	cr_expect_eq(call_status(c), 200);
	cr_expect_eq(c->request->reply.length, 0);
}

Test(api_screen, dropped_lines)
{
	print_lines(200);
	struct call *c = memory_api_call(SCROLLBACK "?from=0", NULL);
	cr_expect_eq(call_status(c), 416);
	cr_expect_eq(call_number(c, "context.first"), 77, "100 are kept");
	call_has(c, "{'context':{'screen':177,'end':201}}");
	c = memory_api_call(SCROLLBACK "?from=77", NULL);
	cr_expect_eq(json_array_size(call_get(c, "lines")), 100);
}

Test(api_screen, ended_session)
{
	const struct session *s = memory_api_session("s");
	memory_api_print("s", "the end");
	memory_holder_exit(memory_api_holder("s"), 0);
	cr_assert(LOOP_UNTIL(&memory_api.loop, s->state == SESSION_EXITED));
	struct call *c = memory_api_call(SCREEN, NULL);
	cr_expect_str_eq(call_text(c, "lines.0.text"), "the end");
}

Test(api_screen, bytes_other_than_text_are_valid_json)
{
	memory_api_print(
		"s", "\xff\xfe\xc3(\033]2;\xff title\a \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82");
	static const char *const lines[] = {SCREEN, SCREEN "?cells=1", SCREEN "?format=text",
		SCROLLBACK "?to=24", SEARCH "?q=("};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		cr_expect_eq(memory_api_status(lines[i], NULL), 200, "%s", lines[i]);
}

Test(api_search, finds_the_newest_first)
{
	print_lines(40);
	struct call *c = memory_api_call(SEARCH "?q=line+1", NULL);
	cr_expect_eq(json_array_size(call_get(c, "matches")), 11);
	cr_expect_eq(call_number(c, "matches.0.line"), 19);
	cr_expect_eq(call_number(c, "matches.0.column"), 0);
	cr_expect_str_eq(call_text(c, "matches.0.match"), "line 1");
	cr_expect_str_eq(call_text(c, "matches.0.text"), "line 19");
	cr_expect(call_is_null(c, "next"));
	c = memory_api_call(SEARCH "?q=LINE%203$&regex=1", NULL);
	cr_expect_eq(json_array_size(call_get(c, "matches")), 1);
	c = memory_api_call(SEARCH "?q=LINE&case=1", NULL);
	cr_expect_eq(json_array_size(call_get(c, "matches")), 0);
}

Test(api_search, finds_output_that_has_left_the_scrollback)
{
	memory_api_print("s", "\033[31mold \033[1mneedle\033[m\r\n");
	memory_api_print("s", "\033c");
	memory_api_check(SEARCH "?q=NEEDLE", NULL,
		"{'matches':[{'line':null,'text':'old needle'}],'next':null}");
}

Test(api_search, continues_where_it_stopped)
{
	print_lines(40);
	unsigned found = 0, requests = 0;
	char line[128] = SEARCH "?q=line&limit=7";
	for (struct call *c;; call_end(c)) {
		c = memory_api_call(line, NULL);
		cr_assert_eq(call_status(c), 200);
		found += (unsigned)json_array_size(call_get(c, "matches"));
		cr_assert_lt(++requests, 20, "the search never ends");
		if (call_is_null(c, "next"))
			break;
		const char *name = call_get(c, "next.beforeLine") ? "beforeLine" : "beforeOffset";
		char path[32];
		snprintf(path, sizeof path, "next.%s", name);
		snprintf(line, sizeof line, SEARCH "?q=line&limit=7&%s=%lld", name,
			(long long)call_number(c, path));
	}
	cr_expect_eq(found, 40);
}

Test(api_search, invalid_queries)
{
	static const struct refused cases[] = {{SEARCH, NULL, INVALID, "q"}};
	print_lines(3);
	EXPECT_REFUSED(cases);
	EXPECT_INVALID(SEARCH "?", NULL, "q=", "q=(&regex=1", "q=[z-a]&regex=1", "q=a{2,1}&regex=1",
		"q=(a)\\1&regex=1");
	EXPECT_INVALID(SEARCH "?q=x&", NULL, "regex=yes", "case=2", "limit=0", "limit=1001",
		"limit=-1", "beforeLine=x", "beforeLine=-1", "beforeOffset=x", "beforeOffset=-1",
		"beforeOffset=9223372036854775808");
}

Test(api_search, unusual_queries)
{
	static const char *const queries[] = {"?q=x&beforeLine=0", "?q=x&beforeOffset=0",
		"?q=x&beforeLine=9223372036854775807", "?q=x&beforeOffset=9223372036854775807",
		"?q=x&beforeLine=1&beforeOffset=1", "?q=.*&regex=1", "?q=$&regex=1",
		"?q=%5E&regex=1", "?q=%0a", "?q=%c3%a4", "?q=.%2A.%2A.%2A.%2Ax&regex=1&limit=1000"};
	print_lines(60);
	for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
		call_expect(memory_api_get(SEARCH "%s", queries[i]), 200, "");
}

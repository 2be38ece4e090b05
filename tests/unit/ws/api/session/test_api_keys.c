/* Keys, the lease, and what was typed. */
#include "tests/lib/memory_api.h"

#include <string.h>

#define SUITE .init = memory_api_open_session, .fini = memory_api_close, .timeout = 60
TestSuite(api_keys, SUITE);
TestSuite(api_lease, SUITE);

#define KEYS "POST /api/session/s/keys"
#define LONG_64 "0123456789012345678901234567890123456789012345678901234567890123"

static const char *read_input(void)
{
	return memory_holder_take_input(memory_api_holder("s"));
}

static void expect_typed(const char *body, const char *want)
{
	cr_expect_eq(memory_api_status(KEYS, body), 200, "%s", body);
	cr_expect_str_eq(read_input(), want, "%s", body);
}

Test(api_keys, keys_are_typed_in_order)
{
	static const struct {
		const char *body, *want;
	} cases[] = {{"{'text':'ls -l'}", "ls -l"}, {"{'text':'a\\nb\\tc'}", "a\nb\tc"},
		{"{'text':''}", ""}, {"{'keys':[]}", ""}, {"{'keys':''}", ""},
		{"{'keys':['Enter']}", "\r"}, {"{'keys':'C-c Up x'}", "\x03\x1b[Ax"},
		{"{'keys':['C-c','F5','\\u00e4','M-x']}", "\x03\x1b[15~\xc3\xa4\x1bx"},
		{"{'keys':'  Enter  Enter '}", "\r\r"}, {"{'base64':'G1tB'}", "\x1b[A"},
		{"{'base64':''}", ""}, {"{'paste':'a\\nb'}", "a\rb"},
		{"{'text':'1','paste':'2','keys':'3','base64':'NA=='}", "1234"},
		{"{'text':null,'keys':['x'],'paste':null,'mouse':null}", "x"},
		{"{'submit':true}", "\r"}, {"{'text':'x','submit':false}", "x"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct call *c = memory_api_call(KEYS, cases[i].body);
		cr_expect_eq(call_status(c), 200, "%s: %s", cases[i].body, call_body(c));
		cr_expect_eq((size_t)call_number(c, "written"), strlen(cases[i].want), "%s",
			cases[i].body);
		cr_expect_eq(call_number(c, "queued"), 0);
		cr_expect_str_eq(read_input(), cases[i].want, "%s", cases[i].body);
		call_text(c, "state.status");
		call_end(c);
	}
}

Test(api_keys, invalid_requests)
{
	static const struct refused cases[] = {{KEYS, NULL, INVALID, "text"},
		{KEYS, "{'submit':false}", INVALID, "text"}, {KEYS, "{'name':'x'}", INVALID, "text"},
		{KEYS, "{'text':'x','mouse':{'action':'click','row':1,'column':1}}", 409,
			"MOUSE_OFF"},
		{KEYS, "{'text':'x','lease':'over'}", 409, "LEASED"},
		{KEYS, "{'text':'x','lease':''}", 409, "LEASED"}};
	EXPECT_INVALID(KEYS, "{", "'text':1", "'text':['x']", "'paste':{}", "'keys':1", "'keys':{}",
		"'keys':[1]", "'keys':[null]", "'keys':['Enter','Entr']", "'keys':'Enter xx'",
		"'keys':'a\\u0000b'", "'base64':1", "'base64':'?'", "'base64':'QQ'",
		"'submit':1,'text':'x'", "'submit':'true','text':'x'");
	EXPECT_INVALID(KEYS, "{'text':'x',", "'mouse':[]", "'name':''", "'name':'" LONG_64 "x'",
		"'name':2", "'lease':{}");
	EXPECT_REFUSED(cases);
	cr_expect_str_eq(read_input(), "", "nothing was typed");
}

Test(api_keys, number_of_keys_is_limited)
{
	static char body[3 * 4097 + 32];
	size_t n = (size_t)sprintf(body, "{'keys':'");
	for (unsigned i = 0; i < 4096; i++, n += 2)
		memcpy(body + n, "x ", 2);
	strcpy(body + n, "'}");
	cr_expect_eq(memory_api_status(KEYS, body), 200);
	cr_expect_eq(strlen(read_input()), 4096);
	strcpy(body + n, "x'}");
	static const struct refused more[] = {{KEYS, body, INVALID, "keys"}};
	EXPECT_REFUSED(more);
	/* And in an array. */
	n = (size_t)sprintf(body, "{'keys':[1");
	for (unsigned i = 0; i < 4096; i++, n += 2)
		memcpy(body + n, ",1", 2);
	strcpy(body + n, "]}");
	EXPECT_REFUSED(more);
	cr_expect_str_eq(read_input(), "");
}

/* Send a text of length x to KEYS. */
static struct call *type_long(const char *field, size_t length)
{
	char *text = malloc(length + 1);
	memset(text, 'x', length);
	text[length] = '\0';
	struct call *c = memory_api_send(KEYS, json_pack("{s:s}", field, text));
	free(text);
	call_await(c);
	return c;
}

Test(api_keys, input_beyond_the_queue_is_refused_as_a_whole)
{
	static const char *const fields[] = {"text", "paste"};
	struct memory_holder *h = memory_api_holder("s");
	for (size_t i = 0; i < 2; i++) {
		struct call *c = type_long(fields[i], LINK_INPUT_MAX);
		cr_expect_eq(call_status(c), 200, "%s", fields[i]);
		cr_expect_eq(h->input_length, LINK_INPUT_MAX);
		h->input_length = 0;
		call_end(c);
		c = type_long(fields[i], LINK_INPUT_MAX + 1);
		cr_expect_eq(call_status(c), 429, "%s", fields[i]);
		cr_expect_str_eq(call_code(c), "LIMIT_REACHED");
		cr_expect_eq(h->input_length, 0);
		call_end(c);
	}
	h->full = true;
	cr_expect_eq(memory_api_status(KEYS, "{'text':'x'}"), 200);
	struct call *c = type_long("text", LINK_INPUT_MAX);
	cr_expect_eq(call_status(c), 429);
	cr_expect_eq(call_number(c, "context.queued"), 1);
}

Test(api_keys, keys_follow_the_terminals_modes)
{
	memory_api_print("s", "\033[?1h\033[?2004h");
	expect_typed("{'keys':['Up']}", "\033OA");
	expect_typed("{'paste':'x\\u001b[201~y'}", "\033[200~x[201~y\033[201~");
}

Test(api_keys, the_mouse)
{
	static const struct refused off[] = {
		{KEYS, "{'mouse':{'action':'click','row':1,'column':1}}", 409, "MOUSE_OFF"}};
	EXPECT_REFUSED(off);
	memory_api_print("s", "\033[?1003h\033[?1006h");
	static const struct {
		const char *body, *want;
	} cases[] = {{"{'mouse':{'action':'click','row':1,'column':1}}", "\033[<0;1;1M\033[<0;1;1m"},
		{"{'mouse':{'action':'press','button':'right','row':24,'column':80}}",
			"\033[<2;80;24M"},
		{"{'mouse':{'action':'release','row':2,'column':3}}", "\033[<0;3;2m"},
		{"{'mouse':{'action':'move','row':2,'column':3}}", "\033[<35;3;2M"},
		{"{'mouse':{'action':'scroll_up','row':2,'column':3,'modifiers':['C','M','S']}}",
			"\033[<92;3;2M"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_typed(cases[i].body, cases[i].want);
	memory_api_print("s", "\033[?1016h");
	EXPECT_REFUSED(off);
}

Test(api_keys, invalid_mouse_events)
{
	static const struct refused cases[] = {{KEYS, "{'mouse':{}}", INVALID, "mouse.action"},
		{KEYS, "{'mouse':{'action':'press'}}", INVALID, "mouse.row"},
		{KEYS, "{'mouse':{'action':'press','row':1}}", INVALID, "mouse.column"},
		{KEYS, "{'mouse':{'action':'press','column':1}}", INVALID, "mouse.row"}};
	memory_api_print("s", "\033[?1003h\033[?1006h");
	EXPECT_REFUSED(cases);
	EXPECT_INVALID(KEYS, "{", "'mouse':1", "'mouse':[]");
#define MOUSE(fields, ...) EXPECT_INVALID_IN("mouse.", KEYS, "{'mouse':{" fields, __VA_ARGS__)
	MOUSE("", "'action':'tap'", "'action':1");
	MOUSE("'action':'press',", "'button':'fourth'", "'button':1");
	MOUSE("'action':'press','column':1,", "'row':0", "'row':25");
	MOUSE("'action':'press','row':1,", "'column':81", "'column':-1");
	MOUSE("'action':'press','row':1,'column':1,", "'modifiers':'C'", "'modifiers':['C','X']",
		"'modifiers':[1]");
	cr_expect_str_eq(read_input(), "");
}

/* An Enter that is not taken for a part of the pasted text */

Test(api_keys, submit_sends_a_later_enter)
{
	struct call *c = memory_api_begin(KEYS, "{'text':'ls','submit':true}");
	cr_expect_not(c->answered);
	cr_expect_str_eq(read_input(), "ls");
	call_returns(c, "{'written':3}");
	cr_expect_str_eq(read_input(), "\r");
}

Test(api_keys, another_session_of_the_same_id_gets_no_enter)
{
	struct call *c = memory_api_begin(KEYS, "{'text':'ls','submit':true}");
	cr_expect_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'s'}"), 200);
	memory_api_start("s");
	call_expect(c, 410, "SESSION_DESTROYED");
	cr_expect_str_eq(read_input(), "");
}

Test(api_keys, session_exits_before_the_enter)
{
	struct call *c = memory_api_begin(KEYS, "{'text':'exit','submit':true}");
	memory_holder_exit(memory_api_holder("s"), 0);
	call_expect(c, 410, "SESSION_TERMINATED");
}

Test(api_keys, session_is_leased_before_the_enter)
{
	struct call *c = memory_api_begin(KEYS, "{'text':'ls','submit':true}");
	cr_expect_eq(memory_api_status("POST /api/session/s/lease", "{'owner':'bot'}"), 200);
	call_expect(c, 409, "LEASED");
	cr_expect_str_eq(read_input(), "ls");
}

Test(api_keys, enter_is_sent_without_the_client)
{
	call_end(memory_api_begin(KEYS, "{'text':'ls','submit':true}"));
	const struct memory_holder *h = memory_api_holder("s");
	cr_assert(LOOP_UNTIL(&memory_api.loop, h->input_length == 3));
	cr_expect_str_eq(read_input(), "ls\r");
}

Test(api_keys, typed_input_is_noted_with_its_author)
{
	cr_expect_eq(memory_api_status(KEYS, "{'text':'secret','name':'Ada'}"), 200);
	cr_expect_eq(memory_api_status("POST /api/session/s/input", "{'data':'xy'}"), 200);
	struct call *c = memory_api_call("GET /api/session/s/typed", NULL);
	call_has(c, "{'typed':[{'label':'Ada','bytes':6},{}]}");
	cr_expect(call_is_null(c, "typed.0.text"), "hidden input has no text");
	cr_expect_str_eq(call_text(c, "typed.1.author"), "owner");
	cr_expect(call_is_null(c, "typed.1.label"));
	c = memory_api_call("GET /api/session/s/typed?from=1", NULL);
	cr_expect_eq(json_array_size(call_get(c, "typed")), 0);
	EXPECT_INVALID(
		"GET /api/session/s/typed?", NULL, "from=x", "from=-1", "from=9223372036854775808");
}

#define LEASE "POST /api/session/s/lease"
#define INPUT "POST /api/session/s/input"

static char lease_id[64];

/* Acquire the lease and keep its id. */
static void acquire_lease(const char *body)
{
	struct call *c = memory_api_call(LEASE, body);
	cr_assert_eq(call_status(c), 200, "%s: %s", body, call_body(c));
	snprintf(lease_id, sizeof lease_id, "%s", call_text(c, "lease.id"));
	call_end(c);
}

static int type_with(const char *lease)
{
	char body[128];
	snprintf(body, sizeof body, "{'data':'x','lease':'%s'}", lease);
	return memory_api_status(INPUT, body);
}

Test(api_lease, prevents_other_input)
{
	acquire_lease("{'owner':'Ada'}");
	cr_expect_eq(memory_api_status(INPUT, "{'data':'x'}"), 409);
	cr_expect_eq(memory_api_status(INPUT, "{'data':'\\u0003'}"), 409, "not even Ctrl-C");
	cr_expect_eq(type_with(lease_id), 200);
	cr_expect_str_eq(read_input(), "x");
	struct call *c = memory_api_call(INPUT, "{'data':'x'}");
	cr_expect_str_eq(call_code(c), "LEASED");
	call_has(c, "{'context':{'lease':{'owner':'Ada','mode':'exclusive'}}}");
	cr_expect_null(call_get(c, "context.lease.id"), "it is a secret");
	c = memory_api_call("GET /api/session/s/lease", NULL);
	cr_expect_str_eq(call_text(c, "lease.owner"), "Ada");
	cr_expect_null(call_get(c, "lease.id"), "it is a secret");
}

Test(api_lease, prevents_what_is_equivalent_to_typing)
{
#define REFUSED(line, fields, by)                                            \
	{line, "{" fields "}", 409, "LEASED", NULL, by},                     \
	{                                                                    \
		line, "{" fields ",'lease':'over'}", 409, "LEASED", NULL, by \
	}
	static const struct refused cases[] = {
		REFUSED("POST /api/session/s/signal", "'signal':'INT'", BY_OWNER),
		REFUSED("POST /api/session/s/signal", "'signal':'INT','target':'shell'", BY_DRIVER),
		REFUSED("POST /api/session/s/terminate", "'graceMs':0", BY_DRIVER),
		REFUSED("POST /api/session/s/resize", "'cols':91,'rows':31", BY_DRIVER),
		REFUSED("POST /api/session/s/size", "'policy':'fixed'", BY_OWNER),
		REFUSED("POST /api/session/s/exec", "'command':'true','fork':true", BY_OWNER),
		REFUSED("POST /api/process/start", "'command':'true','sessionId':'s'", BY_OWNER),
		{"POST /api/session/s/signal", "{'signal':'INT','lease':7}", INVALID, "lease"}};
	acquire_lease("{}");
	EXPECT_REFUSED(cases);
	const struct memory_holder *h = memory_api_holder("s");
	cr_expect_eq(h->signals + h->resizes, 0);
}

Test(api_lease, advisory_lease_only_informs)
{
	acquire_lease("{'mode':'advisory'}");
	cr_expect_eq(memory_api_status(INPUT, "{'data':'x'}"), 200);
	memory_api_check(
		"GET /api/session/s/lease", NULL, "{'lease':{'mode':'advisory','owner':'owner'}}");
}

Test(api_lease, is_acquired_once_and_renewed_by_its_id)
{
	char body[128];
	acquire_lease("{}");
	static const struct refused held[] = {{LEASE, "{}", 409, "LEASED"},
		{LEASE, "{'renew':'of another'}", 409, "LEASED"},
		{LEASE, "{'renew':''}", 409, "LEASED"}};
	EXPECT_REFUSED(held);
	snprintf(body, sizeof body, "{'renew':'%s','ttlMs':3600000,'owner':'Ada'}", lease_id);
	struct call *c = memory_api_call(LEASE, body);
	cr_expect_eq(call_status(c), 200);
	cr_expect_str_eq(call_text(c, "lease.id"), lease_id);
	cr_expect_str_eq(call_text(c, "lease.owner"), "Ada");
}

Test(api_lease, invalid_terms)
{
	EXPECT_INVALID(LEASE, "{", "'owner':''", "'owner':1", "'owner':'a\\nb'",
		"'owner':'" LONG_64 "x'", "'mode':'shared'", "'mode':''", "'mode':1", "'ttlMs':0",
		"'ttlMs':999", "'ttlMs':3600001", "'ttlMs':'1000'", "'renew':1",
		"'renew':'a\\u0000'", "'take':'soon'", "'take':''", "'take':7");
	static const struct refused cases[] = {
		{LEASE, "{'take':'now'}", 403, "PERMISSION_DENIED", NULL, BY_DRIVER},
		{LEASE, "{'take':'after'}", 403, "PERMISSION_DENIED", NULL, BY_DRIVER},
		{"DELETE /api/session/s/lease?note=", NULL, INVALID, "note"}};
	EXPECT_REFUSED(cases);
	memory_api_check("GET /api/session/s/lease", NULL, "{'lease':null}");
	acquire_lease("{'owner':'" LONG_64 "','ttlMs':1000}");
}

Test(api_lease, is_released_by_its_id_or_by_an_owner)
{
	char line[128];
	acquire_lease("{}");
	static const struct refused cases[] = {
		{"DELETE /api/session/s/lease", NULL, INVALID, "id", BY_DRIVER},
		{"DELETE /api/session/s/lease?id=other", NULL, 409, "LEASED", NULL, BY_DRIVER},
		{"DELETE /api/session/s/lease?id=", NULL, 409, "LEASED", NULL, BY_DRIVER},
		{"DELETE /api/session/s/lease?id=other", NULL, 409, "LEASED"}};
	EXPECT_REFUSED(cases);
	cr_expect_eq(memory_api_status(INPUT, "{'data':'x'}"), 409);
	snprintf(line, sizeof line, "DELETE /api/session/s/lease?id=%s", lease_id);
	struct call *c = memory_api_ask(&(struct ask){.line = line, .by = BY_DRIVER});
	call_returns(c, "{'lease':null}");
	cr_expect_eq(memory_api_status(INPUT, "{'data':'x'}"), 200);
	cr_expect_eq(type_with(lease_id), 409, "other input may have come since");
	acquire_lease("{}");
	cr_expect_eq(memory_api_status("DELETE /api/session/s/lease", NULL), 200);
	cr_expect_eq(
		memory_api_status("DELETE /api/session/s/lease", NULL), 200, "there is no lease");
}

/* The engine with messages of the test, and methods of any behaviour. */
#include "ws/request.h"
#include "ws/rpc/engine.h"
#include "ws/rpc/wire.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATER_MAX 200u

static struct rpc_engine *e;
static struct {
	struct rpc_call *later[LATER_MAX];
	size_t later_count, called, cancelled, returned;
	struct rpc_flow *flow;
	size_t pieces, closed; /* of the stream that x.stream returns */
	size_t piece_size;
	bool wait, broken;
	char *read; /* bytes that x.read has got */
	size_t read_length, completes, breaks;
	struct rpc_reader *reader;
	bool slow;
} api;

static enum rpc_member on_member(void *user, const char *space, const char *method)
{
	(void)user;
	return strcmp(space, "x") != 0 && strcmp(space, "(o)") != 0 ? RPC_NOTHING
		: !method                                           ? RPC_SPACE
		: *method == '_'                                    ? RPC_NOTHING
								    : RPC_METHOD;
}

static enum rpc_piece on_next(void *user, json_t **ret_piece, size_t *ret_size)
{
	(void)user;
	if (api.wait)
		return RPC_WAIT;
	if (api.broken) {
		*ret_piece = json_string("oops");
		return RPC_BROKEN;
	}
	if (api.pieces == 0)
		return RPC_END;
	api.pieces--;
	char *bytes = malloc(api.piece_size);
	memset(bytes, 'z', api.piece_size);
	*ret_piece = wire_from_bytes(bytes, api.piece_size);
	*ret_size = api.piece_size;
	free(bytes);
	return RPC_PIECE;
}

static void on_source_closed(void *user)
{
	(void)user;
	api.closed++;
	api.flow = NULL;
}

static void on_returned(void *user)
{
	(void)user;
	api.returned++;
}

static void on_piece(void *user, const uint8_t *bytes, size_t length)
{
	(void)user;
	api.read = realloc(api.read, api.read_length + length + 1);
	memcpy(api.read + api.read_length, bytes, length);
	api.read_length += length;
	api.read[api.read_length] = '\0';
	if (!api.slow)
		rpc_reader_resume(api.reader);
}

static void on_complete(void *user)
{
	(void)user;
	api.completes++;
	api.reader = NULL;
}

static void on_broken(void *user)
{
	(void)user;
	api.breaks++;
	api.reader = NULL;
}

static void read_argument(struct rpc_call *c)
{
	static const struct rpc_sink sink = {
		.piece = on_piece, .complete = on_complete, .broken = on_broken};
	api.reader = rpc_call_read(c, 0, &sink);
	cr_assert_null(rpc_call_read(c, 0, &sink), "read twice");
	api.later[api.later_count++] = c;
	if (api.reader)
		rpc_reader_resume(api.reader);
}

static void on_call(void *user, struct rpc_call *c)
{
	static const struct rpc_source source = {.next = on_next, .closed = on_source_closed};
	const char *method = rpc_call_method(c);
	const json_t *argument = rpc_call_argument(c, 0);
	(void)user;
	api.called++;
	if (strcmp(method, "echo") == 0) {
		json_t *plain = argument ? wire_to_json(argument) : NULL;
		rpc_call_resolve(c, plain ? wire_from_json(plain) : wire_undefined());
		json_decref(plain);
	} else if (strcmp(method, "fail") == 0) {
		rpc_call_reject(c, wire_error("Error", "no", "CODE", json_pack("{s:i}", "a", 1)));
	} else if (strcmp(method, "stream") == 0) {
		rpc_call_stream(c, &source, NULL, NULL, &api.flow);
	} else if (strcmp(method, "file") == 0) {
		rpc_call_stream(c, &source, json_pack("{s:i}", "size", 3), "content", &api.flow);
	} else if (strcmp(method, "back") == 0) {
		bool there = rpc_call_function(
			c, 0, "f", json_pack("[[s]]", "hello"), on_returned, NULL);
		rpc_call_resolve(c, json_boolean(there));
	} else if (strcmp(method, "read") == 0) {
		read_argument(c);
	} else {
		cr_assert_lt(api.later_count, LATER_MAX);
		api.later[api.later_count++] = c;
	}
}

static void on_cancelled(void *user, struct rpc_call *c)
{
	(void)user;
	(void)c;
	api.cancelled++;
}

static const struct rpc_callbacks callbacks = {
	.member = on_member, .call = on_call, .cancelled = on_cancelled};

static void setup(void)
{
	e = rpc_engine_create(&callbacks, NULL);
	cr_assert_not_null(e);
}

static void finish(void)
{
	rpc_engine_destroy(e);
	free(api.read);
}

static void receive(const char *text)
{
	rpc_engine_receive(e, text, strlen(text));
}

/* The next message; NULL: none. */
static char *next_text(size_t *ret_length)
{
	char *text = dump_json(rpc_engine_next(e));
	*ret_length = text ? strlen(text) : 0;
	return text;
}

/* The next message must be this one. */
static void expect(const char *want)
{
	size_t length;
	char *text = next_text(&length);
	if (!want)
		cr_assert_null(text, "%s", text);
	else
		cr_assert_str_eq(text ? text : "(nothing)", want);
	free(text);
}

static void pull(unsigned id)
{
	char text[40];
	snprintf(text, sizeof text, "[\"pull\",%u]", id);
	receive(text);
}

/* The peer asks for a stream, and gets its readable end. */
static void start_stream(void)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"stream\"],[]]]");
	pull(1);
	expect("[\"pipe\"]");
	expect("[\"resolve\",1,[\"readable\",1]]");
}

static void expect_abort(const char *reason)
{
	char want[300];
	cr_assert_str_eq(rpc_engine_aborted(e) ? rpc_engine_aborted(e) : "(no)", reason);
	snprintf(want, sizeof want, "[\"abort\",[\"error\",\"Error\",\"%s\"]]", reason);
	expect(want);
	expect(NULL);
	cr_assert_not(rpc_engine_has_next(e));
	receive("[\"push\",1]");
	expect(NULL);
}

TestSuite(rpc_engine, .init = setup, .fini = finish, .timeout = 60);

Test(rpc_engine, call_and_its_result)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"echo\"],[{\"a\":[[1,\"\xc3\xa4\",[[]]]]}]]]");
	expect(NULL);
	receive("[\"pull\",1]");
	expect("[\"resolve\",1,{\"a\":[[1,\"\xc3\xa4\",[[]]]]}]");
	receive("[\"pull\",1]");
	expect(NULL);
	receive("[\"release\",1,1]");
	expect(NULL);
	receive("[\"pull\",1]");
	expect_abort("no such export ID in pull");
}

Test(rpc_engine, later_reply)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"later\"],[]]]");
	receive("[\"pull\",1]");
	expect(NULL);
	rpc_call_resolve(api.later[0], json_integer(7));
	expect("[\"resolve\",1,7]");
}

Test(rpc_engine, error_with_details)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"fail\"],[]]]");
	receive("[\"pull\",1]");
	expect("[\"reject\",1,[\"error\",\"Error\",\"no\",null,{\"code\":\"CODE\",\"details\":{\"a\":1}}]]");
}

Test(rpc_engine, values_that_json_cannot_hold)
{
	static const char *const values[][2] = {
		{"[\"undefined\"]", "[\"undefined\"]"},
		{"[\"date\",1749342170815]", "[\"date\",1749342170815]"},
		{"[\"bytes\",\"AAEC\"]", "[\"bytes\",\"AAEC\"]"},
		{"[\"bigint\",\"123456789012345678901\"]", "[\"bigint\",\"123456789012345678901\"]"},
		{"[\"inf\"]", "[\"inf\"]"},
		{"[\"-inf\"]", "[\"-inf\"]"},
		{"[\"nan\"]", "[\"nan\"]"},
		{"1e3", "1000"},
		{"0.5", "0.5"},
		{"100000000000000000000", "1e20"},
		{"9007199254740991", "9007199254740991"},
		{"\"a\\ud800b\"",
			"\"a\xef\xbf\xbd"
			"b\""},
		{"\"\\ud83d\\ude80\"", "\"\xf0\x9f\x9a\x80\""},
		{"\"\\\\ud800\"", "\"\\\\ud800\""},
		{"[[[\"date\",1],[[2]]]]", "[[[\"date\",1],[[2]]]]"},
		{"[\"error\",\"TypeError\",\"m\"]", "[\"error\",\"TypeError\",\"m\"]"},
		{"[\"error\",\"E\",\"m\",null,{\"a\":[[1]]}]",
			"[\"error\",\"E\",\"m\",null,{\"a\":[[1]]}]"},
	};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char text[200];
		snprintf(text, sizeof text, "[\"push\",{\"v\":%s}]", values[i][0]);
		receive(text);
		pull((unsigned)i + 1);
		snprintf(text, sizeof text, "[\"resolve\",%zu,{\"v\":%s}]", i + 1, values[i][1]);
		expect(text);
	}
}

Test(rpc_engine, pipelining)
{
	/* A property of a future result, an element of it, and a call with it. */
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"later\"],[]]]");
	receive("[\"push\",[\"pipeline\",1,[\"a\",\"b\",1]]]");
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"echo\"],[{\"of\":[\"pipeline\",1,[\"a\"]]}]]]");
	receive("[\"push\",[\"pipeline\",1,[\"nothing\",\"there\"]]]");
	receive("[\"push\",[\"pipeline\",1,[\"a\",\"b\"],[1]]]");
	for (unsigned i = 2; i <= 5; i++)
		pull(i);
	expect(NULL);
	cr_assert_eq(api.called, 1);
	rpc_call_resolve(api.later[0], json_loads("{\"a\":{\"b\":[[5,6]]}}", 0, NULL));
	expect("[\"resolve\",2,6]");
	expect("[\"resolve\",4,[\"undefined\"]]");
	expect("[\"reject\",5,[\"error\",\"TypeError\",\"'a.b' is not a function.\"]]");
	expect("[\"resolve\",3,{\"of\":{\"b\":[[5,6]]}}]");
	expect(NULL);
}

Test(rpc_engine, pipelining_on_a_failed_call)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"later\"],[]]]");
	receive("[\"push\",[\"pipeline\",1,[\"a\"]]]");
	receive("[\"push\",[\"pipeline\",2,[\"b\"],[]]]");
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"echo\"],[[\"pipeline\",1]]]]");
	receive("[\"pull\",3]");
	receive("[\"pull\",4]");
	rpc_call_reject(api.later[0], wire_error("Error", "gone", NULL, NULL));
	expect("[\"reject\",3,[\"error\",\"Error\",\"gone\"]]");
	expect("[\"reject\",4,[\"error\",\"Error\",\"gone\"]]");
	cr_assert_eq(api.called, 1, "a call with the failed result is not made");
}

Test(rpc_engine, long_chain)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"later\"],[]]]");
	for (int i = 1; i < 5000; i++) {
		char text[60];
		snprintf(text, sizeof text, "[\"push\",[\"pipeline\",%d,[]]]", i);
		receive(text);
	}
	receive("[\"pull\",5000]");
	rpc_call_resolve(api.later[0], json_integer(1));
	expect("[\"resolve\",5000,1]");
}

Test(rpc_engine, members_of_the_main_object)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\"]]]");
	receive("[\"push\",[\"pipeline\",1,[\"echo\"],[3]]]");
	receive("[\"push\",[\"pipeline\",0,[\"y\"]]]");
	receive("[\"push\",[\"pipeline\",0,[\"y\",\"z\"],[]]]");
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"_z\"],[]]]");
	receive("[\"push\",[\"import\",0,[\"x\"]]]");
	for (unsigned i = 1; i <= 6; i++)
		pull(i);
	expect("[\"resolve\",1,[\"export\",-1]]");
	expect("[\"resolve\",2,3]");
	expect("[\"resolve\",3,[\"undefined\"]]");
	expect("[\"reject\",4,[\"error\",\"TypeError\",\"'y.z' is not a function.\"]]");
	expect("[\"reject\",5,[\"error\",\"TypeError\",\"'x._z' is not a function.\"]]");
	expect("[\"resolve\",6,[\"export\",-2]]");
	receive("[\"push\",[\"pipeline\",-1,[\"echo\"],[4]]]");
	receive("[\"pull\",7]");
	expect("[\"resolve\",7,4]");
	receive("[\"release\",-1,1]");
	receive("[\"push\",[\"pipeline\",-1,[\"echo\"],[4]]]");
	expect_abort("no such entry on exports table");
}

Test(rpc_engine, messages_that_end_the_session)
{
	static const char *const messages[][2] = {
		{"", "a message is not JSON"},
		{"[\"push\"", "a message is not JSON"},
		{"[\"push\",1]x", "a message is not JSON"},
		{"\"push\"", "a message is not JSON"},
		{"{}", "bad RPC message"},
		{"[]", "bad RPC message"},
		{"[1]", "bad RPC message"},
		{"[\"push\"]", "bad RPC message"},
		{"[\"nothing\",1]", "bad RPC message"},
		{"[\"push\",[]]", "unknown special value"},
		{"[\"push\",[1,2]]", "unknown special value"},
		{"[\"push\",[\"what\"]]", "unknown special value"},
		{"[\"push\",[\"ref\",1]]", "unknown special value"},
		{"[\"push\",[\"wait\",1]]", "unknown special value"},
		{"[\"push\",{\"a\":[[[\"ref\",1]]]}]", "unknown special value"},
		{"[\"push\",[\"date\",\"x\"]]", "unknown special value"},
		{"[\"push\",[\"error\",1,2]]", "an error is not well-formed"},
		{"[\"push\",[\"pipeline\"]]", "a reference is not well-formed"},
		{"[\"push\",[\"pipeline\",0,\"x\"]]", "a reference is not well-formed"},
		{"[\"push\",[\"pipeline\",0,[{}]]]", "a reference is not well-formed"},
		{"[\"push\",[\"pipeline\",0,[],{}]]", "a reference is not well-formed"},
		{"[\"push\",[\"pipeline\",0.5]]", "a reference is not well-formed"},
		{"[\"push\",[\"pipeline\",1]]", "no such entry on exports table"},
		{"[\"push\",[\"pipeline\",-1]]", "no such entry on exports table"},
		{"[\"push\",[\"pipeline\",0,[\"x\",\"echo\"],[[\"pipeline\",9]]]]",
			"no such entry on exports table"},
		{"[\"push\",[\"export\",1]]", "an export is not well-formed"},
		{"[\"push\",[\"export\"]]", "an export is not well-formed"},
		{"[\"push\",[[[\"promise\",-1],[\"promise\",-1]]]]", "a promise is exported again"},
		{"[\"push\",[\"readable\",1]]",
			"an export is not a pipe, or its readable end was already consumed"},
		{"[\"push\",[\"remap\",0,[],[1],[]]]", "a remap is not well-formed"},
		{"[\"push\",[\"remap\",0]]", "a remap is not well-formed"},
		{"[\"pull\",1]", "no such export ID in pull"},
		{"[\"pull\"]", "no such export ID in pull"},
		{"[\"release\",1,1]", "no such export ID in release"},
		{"[\"release\",0,1]", "no such export ID in release"},
		{"[\"release\"]", "no such export ID in release"},
		{"[\"resolve\",1]", "a result is not well-formed"},
		{"[\"abort\",1]", "the peer has ended the session"},
	};
	for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
		receive(messages[i][0]);
		expect_abort(messages[i][1]);
		rpc_engine_destroy(e);
		e = rpc_engine_create(&callbacks, NULL);
	}
}

Test(rpc_engine, release_of_more_than_exists)
{
	receive("[\"push\",1]");
	receive("[\"release\",1,2]");
	expect_abort("refcount would go negative");
}

Test(rpc_engine, results_that_were_never_requested)
{
	receive("[\"resolve\",7,1]");
	receive("[\"reject\",-7,[\"error\",\"Error\",\"x\"]]");
	receive("[\"resolve\",7,[\"export\",-3]]");
	expect("[\"release\",-3,1]");
	cr_assert_null(rpc_engine_aborted(e));
}

Test(rpc_engine, too_deep)
{
	char text[4000] = "[\"push\",";
	for (int i = 0; i < 200; i++)
		strcat(text, "{\"a\":");
	receive(text);
	expect_abort("a message is nested too deeply, or too large");
}

Test(rpc_engine, nested_values_are_limited)
{
	char text[100];
	receive("[\"push\",{\"a\":\"0123456789012345678901234567890123456789\"}]");
	for (int i = 1; i < 60 && !rpc_engine_aborted(e); i++) {
		snprintf(text, sizeof text, "[\"push\",[[[\"pipeline\",%d],[\"pipeline\",%d]]]]", i,
			i);
		receive(text);
	}
	expect_abort("a value is nested too deeply, or too large");
}

Test(rpc_engine, pushes_without_release_are_limited)
{
	for (int i = 0; i < 100000 && !rpc_engine_aborted(e); i++)
		receive("[\"push\",1]");
	expect_abort("too many results are not released");
}

Test(rpc_engine, held_bytes_are_limited)
{
	char *text = malloc((1 << 20) + 20);
	strcpy(text, "[\"push\",\"");
	memset(text + 9, 'x', 1 << 20);
	strcpy(text + 9 + (1 << 20), "\"]");
	for (int i = 0; i < 100 && !rpc_engine_aborted(e); i++)
		receive(text);
	free(text);
	expect_abort("too many bytes are held");
}

Test(rpc_engine, pending_calls_are_limited)
{
	char text[40];
	for (unsigned i = 0; i < RPC_CALLS_MAX + 1; i++)
		receive("[\"push\",[\"pipeline\",0,[\"x\",\"later\"],[]]]");
	cr_assert_eq(api.called, RPC_CALLS_MAX);
	pull(RPC_CALLS_MAX + 1);
	snprintf(text, sizeof text, "[\"reject\",%u,", RPC_CALLS_MAX + 1);
	size_t length;
	char *message = next_text(&length);
	cr_assert_eq(strncmp(message, text, strlen(text)), 0);
	cr_assert_not_null(strstr(message, "LIMIT_REACHED"));
	free(message);
	rpc_call_resolve(api.later[0], json_null());
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"later\"],[]]]");
	cr_assert_eq(api.called, RPC_CALLS_MAX + 1);
	rpc_engine_destroy(e);
	cr_assert_eq(api.cancelled, RPC_CALLS_MAX);
	setup();
}

Test(rpc_engine, unread_replies_delay_calls)
{
	size_t length, answered = 0;
	char *message;
	for (int i = 1; i <= 20; i++) {
		receive("[\"push\",[\"pipeline\",0,[\"x\",\"later\"],[]]]");
		pull((unsigned)i);
		/* Each call returns a megabyte. */
		if (api.later_count == (size_t)i) {
			json_t *big = json_sprintf("%*s", 1 << 20, "y");
			rpc_call_resolve(api.later[i - 1], big);
			answered++;
		}
	}
	cr_assert_eq(answered, 4);
	message = next_text(&length);
	cr_assert_gt(length, 1 << 20);
	free(message);
	cr_assert_eq(api.later_count, 20, "with room again, they begin: %zu", api.later_count);
	while ((message = next_text(&length)))
		free(message);
}

Test(rpc_engine, our_stream)
{
	api.pieces = 2;
	api.piece_size = 3;
	start_stream();
	expect("[\"stream\",[\"pipeline\",1,[\"write\"],[[\"bytes\",\"enp6\"]]]]");
	receive("[\"release\",1,1]");
	expect("[\"stream\",[\"pipeline\",1,[\"write\"],[[\"bytes\",\"enp6\"]]]]");
	expect("[\"stream\",[\"pipeline\",1,[\"close\"],[]]]");
	cr_assert_eq(api.closed, 1);
	expect(NULL);
	receive("[\"resolve\",2,[\"undefined\"]]");
	receive("[\"resolve\",3,[\"undefined\"]]");
	expect(NULL);
	receive("[\"resolve\",4,[\"undefined\"]]");
	expect("[\"release\",1,1]");
	expect(NULL);
}

Test(rpc_engine, stream_in_an_object)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"file\"],[]]]");
	receive("[\"pull\",1]");
	expect("[\"pipe\"]");
	expect("[\"resolve\",1,{\"size\":3,\"content\":[\"readable\",1]}]");
	expect("[\"stream\",[\"pipeline\",1,[\"close\"],[]]]");
}

Test(rpc_engine, our_stream_waits_for_its_reader)
{
	size_t length, sent = 0;
	char *message;
	api.pieces = 1000;
	api.piece_size = 10000;
	start_stream();
	for (; (message = next_text(&length)); sent++)
		free(message);
	cr_assert_geq(sent, RPC_WINDOW / 10200);
	cr_assert_leq(sent, RPC_WINDOW / 10000 + 1);
	cr_assert_not(rpc_engine_has_next(e));
	receive("[\"resolve\",2,[\"undefined\"]]");
	cr_assert(rpc_engine_has_next(e));
}

Test(rpc_engine, our_stream_is_cancelled)
{
	api.pieces = 5;
	api.piece_size = 1;
	start_stream();
	expect("[\"stream\",[\"pipeline\",1,[\"write\"],[[\"bytes\",\"eg\"]]]]");
	expect("[\"stream\",[\"pipeline\",1,[\"write\"],[[\"bytes\",\"eg\"]]]]");
	receive("[\"reject\",2,[\"error\",\"Error\",\"cancelled\"]]");
	cr_assert_eq(api.closed, 1);
	expect("[\"release\",1,1]");
	receive("[\"reject\",3,[\"error\",\"Error\",\"cancelled\"]]");
	expect(NULL);
}

Test(rpc_engine, our_stream_fails)
{
	api.broken = true;
	start_stream();
	expect("[\"stream\",[\"pipeline\",1,[\"abort\"],[[\"error\",\"Error\",\"oops\"]]]]");
	receive("[\"resolve\",2,[\"undefined\"]]");
	expect("[\"release\",1,1]");
}

Test(rpc_engine, our_stream_has_nothing_at_times)
{
	api.wait = true;
	start_stream();
	expect(NULL);
	cr_assert_not(rpc_engine_has_next(e));
	rpc_flow_more(api.flow);
	api.wait = false;
	cr_assert(rpc_engine_has_next(e));
	expect("[\"stream\",[\"pipeline\",1,[\"close\"],[]]]");
}

Test(rpc_engine, our_stream_that_is_never_read)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"stream\"],[]]]");
	cr_assert_eq(api.closed, 0);
	receive("[\"release\",1,1]");
	cr_assert_eq(api.closed, 1);
	/* A stream whose session ends. */
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"stream\"],[]]]");
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"stream\"],[]]]");
	receive("[\"pull\",3]");
	expect("[\"pipe\"]");
	rpc_engine_destroy(e);
	cr_assert_eq(api.closed, 3);
	setup();
}

Test(rpc_engine, number_of_streams_is_limited)
{
	for (unsigned i = 0; i < RPC_STREAMS_MAX + 1; i++)
		receive("[\"push\",[\"pipeline\",0,[\"x\",\"stream\"],[]]]");
	cr_assert_eq(api.closed, 1);
	pull(RPC_STREAMS_MAX + 1);
	size_t length;
	char *message = next_text(&length);
	cr_assert_not_null(strstr(message, "LIMIT_REACHED"));
	free(message);
}

Test(rpc_engine, call_of_the_peer)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"back\"],[{\"f\":[\"export\",-1]}]]]");
	receive("[\"pull\",1]");
	expect("[\"push\",[\"pipeline\",-1,[],[\"hello\"]]]");
	expect("[\"pull\",1]");
	expect("[\"resolve\",1,true]");
	cr_assert_eq(api.returned, 0);
	receive("[\"resolve\",1,[\"undefined\"]]");
	cr_assert_eq(api.returned, 1);
	receive("[\"release\",1,1]");
	expect("[\"release\",-1,1]");
	expect("[\"release\",1,1]");
	expect(NULL);
}

Test(rpc_engine, failing_call_of_the_peer)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"back\"],[{\"f\":[\"export\",-1],\"g\":[\"export\",-1]}]]]");
	expect("[\"push\",[\"pipeline\",-1,[],[\"hello\"]]]");
	expect("[\"pull\",1]");
	receive("[\"reject\",1,[\"error\",\"Error\",\"x\"]]");
	cr_assert_eq(api.returned, 1);
	expect("[\"release\",-1,2]");
	expect("[\"release\",1,1]");
	/* There is no function to call. */
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"back\"],[{\"f\":1}]]]");
	receive("[\"pull\",2]");
	expect("[\"resolve\",2,false]");
}

Test(rpc_engine, promise_of_the_peer)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"echo\"],[{\"p\":[\"promise\",-1]}]]]");
	receive("[\"pull\",1]");
	expect(NULL);
	receive("[\"resolve\",-1,[[8]]]");
	expect("[\"release\",-1,1]");
	expect("[\"resolve\",1,{\"p\":[[8]]}]");
}

Test(rpc_engine, promises_that_wait_for_each_other)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"echo\"],[[\"promise\",-1]]]]");
	receive("[\"pull\",1]");
	receive("[\"resolve\",-1,[\"pipeline\",1]]");
	expect("[\"release\",-1,1]");
	expect(NULL);
	receive("[\"push\",{\"a\":[\"promise\",-2]}]");
	receive("[\"resolve\",-2,[\"pipeline\",2]]");
	expect("[\"release\",-2,1]");
}

Test(rpc_engine, promise_of_itself)
{
	receive("[\"push\",[\"promise\",-1]]");
	receive("[\"resolve\",-1,[\"pipeline\",1]]");
	receive("[\"pull\",1]");
	expect("[\"release\",-1,1]");
	expect("[\"reject\",1,[\"error\",\"TypeError\",\"A promise cannot be resolved with itself\"]]");
}

Test(rpc_engine, map_is_refused)
{
	receive("[\"push\",[\"remap\",0,[],[[\"export\",-1]],[[\"pipeline\",0]]]]");
	receive("[\"pull\",1]");
	expect("[\"release\",-1,1]");
	expect("[\"reject\",1,[\"error\",\"Error\",\"map() is not supported by this server\",null,"
	       "{\"code\":\"NOT_IMPLEMENTED\",\"details\":{}}]]");
	cr_assert_null(rpc_engine_aborted(e));
}

Test(rpc_engine, stream_of_the_peer)
{
	receive("[\"pipe\"]");
	receive("[\"stream\",[\"pipeline\",1,[\"write\"],[[\"bytes\",\"YWI\"]]]]");
	expect(NULL);
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"read\"],[[\"readable\",1]]]]");
	cr_assert_str_eq(api.read, "ab");
	expect("[\"resolve\",2,[\"undefined\"]]");
	receive("[\"stream\",[\"pipeline\",1,[\"write\"],[[\"bytes\",\"Y2Q=\"]]]]");
	receive("[\"stream\",[\"pipeline\",1,[\"write\"],[\"ef\"]]]");
	cr_assert_str_eq(api.read, "abcdef");
	receive("[\"stream\",[\"pipeline\",1,[\"close\"],[]]]");
	cr_assert_eq(api.completes, 1);
	expect("[\"resolve\",4,[\"undefined\"]]");
	expect("[\"resolve\",5,[\"undefined\"]]");
	expect("[\"resolve\",6,[\"undefined\"]]");
	receive("[\"release\",1,1]");
	receive("[\"stream\",[\"pipeline\",1,[\"write\"],[\"x\"]]]");
	expect_abort("no such entry on exports table");
}

Test(rpc_engine, stream_of_the_peer_with_a_slow_reader)
{
	api.slow = true;
	receive("[\"pipe\"]");
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"read\"],[[\"readable\",1]]]]");
	for (int i = 0; i < 3; i++)
		receive("[\"stream\",[\"pipeline\",1,[\"write\"],[\"x\"]]]");
	receive("[\"stream\",[\"pipeline\",1,[\"close\"],[]]]");
	cr_assert_eq(api.read_length, 1);
	expect(NULL);
	rpc_reader_resume(api.reader);
	expect("[\"resolve\",3,[\"undefined\"]]");
	expect(NULL);
	cr_assert_eq(api.read_length, 2);
	rpc_reader_close(api.reader);
	expect("[\"reject\",4,[\"error\",\"Error\",\"The stream is no longer read\"]]");
	expect("[\"reject\",5,[\"error\",\"Error\",\"The stream is no longer read\"]]");
	expect("[\"reject\",6,[\"error\",\"Error\",\"The stream is no longer read\"]]");
}

Test(rpc_engine, stream_of_the_peer_fails)
{
	static const char *const ends[] = {
		"[\"stream\",[\"pipeline\",1,[\"abort\"],[[\"error\",\"Error\",\"x\"]]]]",
		"[\"release\",1,1]"};
	for (size_t i = 0; i < 2; i++) {
		receive("[\"pipe\"]");
		receive("[\"push\",[\"pipeline\",0,[\"x\",\"read\"],[[\"readable\",1]]]]");
		receive("[\"stream\",[\"pipeline\",1,[\"write\"],[\"x\"]]]");
		receive(ends[i]);
		cr_assert_eq(api.breaks, i + 1);
		rpc_engine_destroy(e);
		setup();
	}
	/* It ends with the session, too. */
	receive("[\"pipe\"]");
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"read\"],[[\"readable\",1]]]]");
	rpc_engine_destroy(e);
	cr_assert_eq(api.breaks, 3);
	setup();
}

Test(rpc_engine, stream_of_the_peer_without_a_reader)
{
	char *text = malloc((1 << 20) + 60);
	size_t n = (size_t)sprintf(text, "[\"stream\",[\"pipeline\",1,[\"write\"],[\"");
	memset(text + n, 'x', 1 << 20);
	strcpy(text + n + (1 << 20), "\"]]]");
	receive("[\"pipe\"]");
	for (int i = 0; i < 100 && !rpc_engine_aborted(e); i++)
		receive(text);
	free(text);
	expect_abort("too much of a stream is on its way");
}

/* Receive text again and again until the engine aborts. */
static void receive_until_abort(const char *text, unsigned most, const char *reason)
{
	for (unsigned i = 0; i < most && !rpc_engine_aborted(e); i++)
		receive(text);
	expect_abort(reason);
}

Test(rpc_engine, streams_of_the_peer_are_limited_together)
{
	const size_t length = 4 << 20;
	char *text = malloc(length + 80);
	for (unsigned pipe = 1; pipe <= 20 && !rpc_engine_aborted(e); pipe++) {
		size_t n = (size_t)sprintf(
			text, "[\"stream\",[\"pipeline\",%u,[\"write\"],[\"", 2 * pipe - 1);
		memset(text + n, 'x', length);
		strcpy(text + n + length, "\"]]]");
		receive("[\"pipe\"]");
		receive(text);
	}
	free(text);
	expect_abort("too many bytes are held");
}

Test(rpc_engine, names_are_limited)
{
	char name[RPC_NAME_MAX + 2] = "", text[RPC_NAME_MAX + 80];
	memset(name, 'n', RPC_NAME_MAX + 1);
	receive("[\"push\",[\"promise\",-1]]");
	snprintf(text, sizeof text, "[\"push\",[\"pipeline\",1,[\"%s\"]]]", name + 1);
	receive(text);
	cr_assert_null(rpc_engine_aborted(e));
	snprintf(text, sizeof text, "[\"push\",[\"pipeline\",1,[\"%s\"]]]", name);
	receive(text);
	expect_abort("a reference is not well-formed");
}

/* A push of a path with many long names. */
static char *long_path(int64_t id)
{
	json_t *path = json_array();
	char name[RPC_NAME_MAX + 1] = "";
	memset(name, 'n', RPC_NAME_MAX);
	for (unsigned i = 0; i < RPC_PATH_MAX; i++)
		json_array_append_new(path, json_string(name));
	json_t *push = json_pack("[s, [s, I, o]]", "push", "pipeline", (json_int_t)id, path);
	char *text = json_dumps(push, JSON_COMPACT);
	json_decref(push);
	return text;
}

Test(rpc_engine, waiting_paths_are_limited)
{
	char *text = long_path(1);
	receive("[\"push\",[\"promise\",-1]]");
	receive_until_abort(text, RPC_EXPORTS_MAX - 10, "too many bytes are held");
	rpc_engine_destroy(e);
	setup();
	/* Calls of the peer are limited too. */
	receive("[\"push\",[\"export\",-1]]");
	receive_until_abort(text, RPC_EXPORTS_MAX - 10, "too many bytes are held");
	free(text);
}

Test(rpc_engine, messages_for_a_peer_that_does_not_read_are_limited)
{
	json_t *stubs = json_array(), *message;
	for (int i = 1; i <= 1000; i++)
		json_array_append_new(stubs, json_pack("[s, i]", "export", -i));
	message = json_pack("[s, i, [o]]", "resolve", 999, stubs);
	char *text = json_dumps(message, JSON_COMPACT);
	json_decref(message);
	receive_until_abort(text, 100, "too many unsent messages");
	free(text);
}

Test(rpc_engine, other_values_cannot_be_read_as_a_stream)
{
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"read\"],[1]]]");
	cr_assert_null(api.reader);
	receive("[\"pipe\"]");
	receive("[\"push\",[\"pipeline\",2,[\"push\"],[1]]]");
	receive("[\"pull\",3]");
	expect("[\"reject\",3,[\"error\",\"TypeError\",\"A pipe has only the methods write, close and abort\"]]");
}

Test(rpc_engine, end_with_everything_open)
{
	api.wait = true;
	receive("[\"pipe\"]");
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"read\"],[[\"readable\",1]]]]");
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"later\"],[{\"f\":[\"export\",-1]}]]]");
	receive("[\"push\",[\"pipeline\",3,[\"a\"],[[\"pipeline\",3]]]]");
	receive("[\"push\",[[[\"pipeline\",3],[\"promise\",-2]]]]");
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"stream\"],[]]]");
	receive("[\"push\",[\"pipeline\",0,[\"x\",\"back\"],[{\"f\":[\"export\",-1]}]]]");
	receive("[\"pull\",4]");
	receive("[\"pull\",5]");
	receive("[\"pull\",6]");
}

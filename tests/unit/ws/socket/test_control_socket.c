/* The control socket, with a client of any speed and handlers of any behaviour. */
#include "tests/lib/json_text.h"
#include "ws/socket/control_frame.h"
#include "ws/socket/control_socket.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES_MAX 3000u

/* The client: accepts `credit` bytes, and keeps the messages. */
static struct peer {
	size_t credit, frame_max, frames;
	char *text; /* of an incomplete message */
	size_t length;
	json_t *messages[MESSAGES_MAX];
	size_t count, read;
	bool wanted, lost;
	int closed;
} peer;

static size_t on_room(void *user)
{
	(void)user;
	return peer.credit < peer.frame_max ? peer.credit : peer.frame_max;
}

static size_t on_queued(void *user)
{
	(void)user;
	return 0;
}

static bool on_send(void *user, uint8_t *payload, size_t length, enum frame_kind kind)
{
	(void)user;
	if (peer.lost)
		return false;
	bool begins = kind == FRAME_TEXT || kind == FRAME_TEXT_PART;
	cr_assert_neq(kind, FRAME_BINARY);
	cr_assert_eq(begins, peer.text == NULL, "pieces of messages are mixed");
	cr_assert_leq(length, on_room(NULL));
	cr_assert_gt(length, 0);
	/* A transport may write its header there. */
	memset(payload - FRAMES_HEADROOM, 0xee, FRAMES_HEADROOM);
	peer.credit -= length;
	peer.frames++;
	peer.text = realloc(peer.text, peer.length + length);
	memcpy(peer.text + peer.length, payload, length);
	peer.length += length;
	if (kind == FRAME_TEXT_PART || kind == FRAME_CONTINUATION_PART)
		return true;
	cr_assert_lt(peer.count, MESSAGES_MAX);
	json_t *message = json_loadb(
		peer.text, peer.length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	cr_assert(json_is_object(message), "%.*s", (int)peer.length, peer.text);
	peer.messages[peer.count++] = message;
	free(peer.text);
	peer.text = NULL;
	peer.length = 0;
	return true;
}

static void on_want(void *user)
{
	(void)user;
	peer.wanted = true;
}

static void on_close(void *user, enum close_code code, const char *reason)
{
	(void)user;
	cr_assert_eq(peer.closed, 0, "closed twice");
	cr_assert_not_null(reason);
	peer.closed = code;
}

static const struct frames_transport transport = {
	.room = on_room, .queued = on_queued, .send = on_send, .want = on_want, .close = on_close};

/* The handlers: the path selects what happens. */
static struct handler_state {
	struct request *later[300]; /* references */
	size_t later_count;
	struct source *sources[300];
	size_t sources_count;
	unsigned handled, closed;
	char params[200];
	char session[80];
	enum method method;
	char body[200];
	size_t body_length;
	size_t reply_size;
} api;

struct source {
	struct request *request; /* a reference */
	unsigned left;           /* events that next() has */
	unsigned made;
	bool closed;
};

static char *next_event(void *user)
{
	struct source *s = user;
	char *text = NULL;
	cr_assert_not(s->closed, "next() was called after the end");
	if (s->left == 0)
		return NULL;
	s->left--;
	cr_assert_geq(asprintf(&text, "{\"n\":%u}", s->made++), 0);
	return text;
}

static void on_stream_closed(void *user)
{
	struct source *s = user;
	cr_assert_not(s->closed, "closed twice");
	s->closed = true;
	api.closed++;
	request_unref(s->request);
}

static void begin_stream(struct request *r)
{
	struct source *s = calloc(1, sizeof *s);
	const struct event_stream stream = {
		.next = next_event, .closed = on_stream_closed, .user = s};
	s->request = request_ref(r);
	api.sources[api.sources_count++] = s;
	reply_stream(r, &stream);
}

static void answer_big(struct request *r)
{
	json_t *body = json_pack("{s:o}", "x", json_sprintf("%*s", (int)api.reply_size, "y"));
	reply_json(r, 200, body);
}

void dispatcher_handle(struct dispatcher *d, struct request *r)
{
	(void)d;
	api.handled++;
	api.method = r->method;
	api.body_length = r->body_length;
	snprintf(api.body, sizeof api.body, "%s", r->body);
	snprintf(api.session, sizeof api.session, "%s", r->session_header);
	api.params[0] = '\0';
	for (size_t i = 0; i < r->params_count; i++)
		snprintf(api.params + strlen(api.params), sizeof api.params - strlen(api.params),
			"[%s]", r->params[i]);
	cr_assert_eq(r->auth, AUTH_OK);
	cr_assert_str_eq(r->peer, "10.0.0.1");
	if (strcmp(r->path, "/stream") == 0)
		begin_stream(r);
	else if (strcmp(r->path, "/later") == 0)
		api.later[api.later_count++] = request_ref(r);
	else if (strcmp(r->path, "/big") == 0)
		answer_big(r);
	else if (strcmp(r->path, "/text") == 0)
		reply_bytes(r, 200, "text/plain; charset=utf-8", "a\"\n\0b", 5, NULL);
	else if (strcmp(r->path, "/bytes") == 0)
		reply_bytes(r, 200, "application/octet-stream", "\xff\0", 2, NULL);
	else if (strcmp(r->path, "/latin") == 0)
		reply_bytes(r, 200, "text/plain", "\xe9", 1, NULL);
	else if (strcmp(r->path, "/none") == 0)
		reply_bytes(r, 204, "text/plain", "", 0, NULL);
	else if (strcmp(r->path, "/headers") == 0) {
		reply_header(r, "Set-Cookie", "secret");
		reply_header(r, "Ringside-To", "7");
		reply_success(r, NULL);
	} else
		reply_error(r, "UNKNOWN_ERROR", r->path, NULL);
}

/* The connection under test */

static struct metrics metrics;
static struct dispatcher dispatcher; /* without routes */
static struct control_sockets all;
static struct control_socket *c;
static const struct frames_protocol *const p = &control_socket_protocol;

static void setup(void)
{
	struct principal owner = {.role = ROLE_OWNER};
	peer = (struct peer){.credit = SIZE_MAX / 2, .frame_max = FRAMES_PAYLOAD_MAX};
	cr_assert_eq(control_sockets_open(&all, &dispatcher, &metrics), 0);
	c = control_socket_open(&all, &owner, "10.0.0.1", &transport, NULL);
	cr_assert_not_null(c);
}

static void finish(void)
{
	if (c)
		p->closed(c);
	control_sockets_close(&all);
	for (size_t i = 0; i < api.later_count; i++)
		if (api.later[i])
			request_unref(api.later[i]);
	for (size_t i = 0; i < api.sources_count; i++) {
		cr_assert(api.sources[i]->closed, "a stream was left open");
		free(api.sources[i]);
	}
	for (size_t i = 0; i < peer.count; i++)
		json_decref(peer.messages[i]);
	free(peer.text);
	cr_assert_eq(metrics.streams, 0);
	cr_assert_eq(metrics.control_sockets, 0);
}

/* The client reads all messages, in turns of the loop. */
static void settle(void)
{
	for (unsigned turns = 0; peer.wanted && peer.credit > 0 && !peer.closed; turns++) {
		cr_assert_lt(turns, 100000);
		peer.wanted = false;
		p->writable(c);
	}
}

/* Apostrophes are sent as quotation marks. */
static void send_text(const char *text)
{
	char *copy = json_quoted(text);
	p->text(c, copy, strlen(copy));
	settle();
	free(copy);
}

static void send_request(const char *id, const char *target)
{
	char text[400];
	snprintf(text, sizeof text, "{'type':'request','id':'%s','method':'GET','path':'%s'}", id,
		target);
	send_text(text);
}

static void cancel(const char *id)
{
	char text[200];
	snprintf(text, sizeof text, "{'type':'cancel','id':'%s'}", id);
	send_text(text);
}

/* The client continues to read. */
static void drain(void)
{
	peer.credit = SIZE_MAX / 2;
	peer.wanted = true;
	settle();
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const json_t *next(void)
{
	cr_assert_lt(peer.read, peer.count, "there is no further message");
	return peer.messages[peer.read++];
}

static void expect(const char *type, const char *id)
{
	const json_t *m = next();
	char *text = json_dumps(m, 0);
	cr_assert_str_eq(text_of(m, "type"), type, "%s", text);
	cr_assert_str_eq(text_of(m, "id"), id, "%s", text);
	free(text);
}

static void expect_error(const char *id, const char *code)
{
	expect("error", id);
	const json_t *m = peer.messages[peer.read - 1];
	cr_assert_str_eq(text_of(m, "code"), code);
	cr_assert_gt(number_of(m, "status"), 399);
	cr_assert(*text_of(m, "message"));
	cr_assert_eq(json_object_get(m, "id") != NULL, *id != '\0');
}

static void expect_end(const char *id, int status)
{
	expect("response", id);
	const json_t *m = peer.messages[peer.read - 1];
	cr_assert_eq(number_of(m, "status"), status);
	cr_assert(json_is_true(json_object_get(m, "done")));
}

static void expect_nothing(void)
{
	cr_assert_eq(peer.read, peer.count, "unexpected message: %s",
		json_dumps(peer.messages[peer.read], 0));
}

static void give(unsigned source, unsigned events)
{
	struct source *s = api.sources[source];
	s->left += events;
	s->request->transport->more(s->request->transport_user);
}

TestSuite(control_socket, .init = setup, .fini = finish, .timeout = 60);

Test(control_socket, answer)
{
	send_request("a", "/nothing");
	const json_t *m = next();
	json_has(m,
		"{'type':'response','id':'a','status':404,'done':true,'body':{'code':'UNKNOWN_ERROR'}}",
		"answer");
	cr_assert_null(json_object_get(m, "headers"));
	expect_nothing();
}

Test(control_socket, request_fields_arrive_unchanged)
{
	send_text("{\"body\": {\"a\" :\"\\u0000 \\ud83d\\ude00}\"}, \"type\":\"request\",\"id\":\"\\\"\\n\","
		  "\"method\":\"POST\",\"path\":\"/later?a=b%20c+d&e=%3F%26&&f\","
		  "\"headers\":{\"authorization\":\"Bearer x\",\"x-session-ID\":\"mine\"}}");
	cr_assert_eq(api.handled, 1);
	cr_assert_eq(api.method, METHOD_POST);
	cr_assert_str_eq(api.params, "[a=b c d][e=?&][f]");
	cr_assert_str_eq(api.session, "mine");
	cr_assert_str_eq(api.body, "{\"a\" :\"\\u0000 \\ud83d\\ude00}\"}");
	cr_assert_eq(api.body_length, strlen(api.body));
	reply_success(api.later[0], NULL);
	settle();
	expect_end("\"\n", 200);
}

Test(control_socket, body_of_a_get_is_ignored)
{
	send_text("{'type':'request','id':'a','method':'GET','path':'/later','body':{'a':1}}");
	cr_assert_eq(api.body_length, 0);
}

Test(control_socket, bodies_other_than_json_are_refused)
{
	send_request("t", "/text");
	cr_assert_eq(json_string_length(json_object_get(next(), "body")), 5);
	send_request("b", "/bytes");
	cr_assert_str_eq(text_of(json_object_get(next(), "body"), "base64"), "/wA=");
	send_request("l", "/latin");
	cr_assert_str_eq(text_of(json_object_get(next(), "body"), "base64"), "6Q==");
	send_request("n", "/none");
	cr_assert_null(json_object_get(next(), "body"));
}

Test(control_socket, reply_headers_are_sent_except_cookies)
{
	send_request("h", "/headers");
	const json_t *headers = json_object_get(next(), "headers");
	cr_assert_eq(json_object_size(headers), 1);
	cr_assert_str_eq(text_of(headers, "ringside-to"), "7");
}

Test(control_socket, invalid_messages_are_refused)
{
	static const struct {
		const char *text, *code, *id;
	} cases[] = {
		{"", "PARSE_ERROR", ""},
		{"{", "PARSE_ERROR", ""},
		{"nonsense", "PARSE_ERROR", ""},
		{"{'type':'request','id':'x','id':'y','method':'GET','path':'/'}", "PARSE_ERROR",
			"x"},
		{"{'id':'x','type':'request','body':1e999}", "PARSE_ERROR", "x"},
		{"{'id':'x','type':'request','body':'\\ud800'}", "PARSE_ERROR", "x"},
		{"{'id':'x'} {}", "PARSE_ERROR", "x"},
		{"{'id':'\xff'}", "PARSE_ERROR", ""},
		{"{'id':'x\\u0000'} x", "PARSE_ERROR", ""},
		{"[]", "INVALID_REQUEST", ""},
		{"{}", "INVALID_REQUEST", ""},
		{"{'type':'hello','id':'x'}", "INVALID_REQUEST", "x"},
		{"{'type':7,'id':'x'}", "INVALID_REQUEST", "x"},
		{"{'type':'request'}", "INVALID_REQUEST", ""},
		{"{'type':'cancel'}", "INVALID_REQUEST", ""},
		{"{'type':'request','id':'','method':'GET','path':'/'}", "INVALID_REQUEST", ""},
		{"{'type':'request','id':7,'method':'GET','path':'/'}", "INVALID_REQUEST", ""},
		{"{'type':'request','id':'a\\u0000b','method':'GET','path':'/'}", "INVALID_REQUEST",
			""},
		{"{'type':'request','id':'x','method':'HEAD','path':'/'}", "INVALID_REQUEST", "x"},
		{"{'type':'request','id':'x','method':'get','path':'/'}", "INVALID_REQUEST", "x"},
		{"{'type':'request','id':'x','path':'/'}", "INVALID_REQUEST", "x"},
		{"{'type':'request','id':'x','method':'GET'}", "INVALID_REQUEST", "x"},
		{"{'type':'request','id':'x','method':'GET','path':'x'}", "INVALID_REQUEST", "x"},
		{"{'type':'request','id':'x','method':'GET','path':'/\\u0000'}", "INVALID_REQUEST",
			"x"},
		{"{'type':'request','id':'x','method':'GET','path':'/%'}", "INVALID_REQUEST", "x"},
		{"{'type':'request','id':'x','method':'GET','path':'/','headers':[]}",
			"INVALID_REQUEST", "x"},
		{"{'type':'request','id':'x','method':'GET','path':'/','b\\u006fdy':1}",
			"INVALID_REQUEST", "x"},
		{"{'type':'request','id':'x','method':'GET','path':'/?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16&17'}",
			"REQUEST_TOO_LARGE", "x"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		send_text(cases[i].text);
		const json_t *m = next();
		cr_expect_str_eq(text_of(m, "code"), cases[i].code, "%s", cases[i].text);
		cr_expect_str_eq(text_of(m, "id"), cases[i].id, "%s", cases[i].text);
		cr_expect_str_eq(text_of(m, "type"), "error");
	}
	cr_assert_eq(api.handled, 0);
	send_request("still", "/here");
	expect_end("still", 404);
	cr_assert_eq(peer.closed, 0);
}

Test(control_socket, deep_nesting_is_refused)
{
	size_t depth = CONTROL_MESSAGE_MAX / 2;
	char *text = malloc(depth + 100);
	int n = snprintf(text, 100, "{\"id\":\"deep\",\"type\":\"request\",\"body\":");
	memset(text + n, '[', depth);
	p->text(c, text, (size_t)n + depth);
	settle();
	expect_error("deep", "PARSE_ERROR");
	free(text);
}

Test(control_socket, id_that_is_too_long)
{
	char id[CONTROL_ID_MAX + 2];
	memset(id, 'i', sizeof id);
	id[CONTROL_ID_MAX + 1] = '\0';
	send_request(id, "/x");
	expect_error("", "INVALID_REQUEST");
	id[CONTROL_ID_MAX] = '\0';
	send_request(id, "/x");
	expect_end(id, 404);
}

Test(control_socket, id_in_use_is_refused)
{
	send_request("a", "/later");
	send_request("a", "/x");
	expect_error("", "INVALID_REQUEST");
	send_text("{'type':'request','id':'a'}");
	expect_error("", "INVALID_REQUEST");
	reply_success(api.later[0], NULL);
	settle();
	expect_end("a", 200);
	send_request("a", "/x");
	expect_end("a", 404);
}

Test(control_socket, body_that_is_too_large)
{
	size_t size = REQUEST_BODY_MAX + 200;
	char *text = malloc(size);
	int n = snprintf(text, size,
		"{\"type\":\"request\",\"id\":\"x\",\"method\":\"POST\",\"path\":\"/later\",\"body\":\"");
	size_t pad = REQUEST_BODY_MAX - 2;
	memset(text + n, 'x', pad + 1);
	snprintf(text + n + pad, 4, "\"}");
	p->text(c, text, strlen(text));
	cr_assert_eq(api.body_length, REQUEST_BODY_MAX);
	cr_assert_eq(peer.count, 0);
	snprintf(text + n + pad, 4, "x\"}");
	text[n + (int)pad - 1] = 'y';
	cancel("x");
	text[strstr(text, "\"x\"") - text + 1] = 'z';
	p->text(c, text, strlen(text));
	settle();
	expect_error("z", "REQUEST_TOO_LARGE");
	cr_assert_eq(api.handled, 1);
	free(text);
}

Test(control_socket, message_that_is_too_large)
{
	send_request("a", "/stream");
	p->too_big(c);
	expect_error("", "REQUEST_TOO_LARGE");
	cr_assert_eq(peer.closed, CLOSE_TOO_BIG);
	send_request("b", "/later");
	cr_assert_eq(api.handled, 1);
}

Test(control_socket, too_many_requests)
{
	char id[20];
	for (unsigned i = 0; i < CONTROL_PENDING_MAX; i++) {
		snprintf(id, sizeof id, "%u", i);
		send_request(id, i % 2 ? "/later" : "/stream");
	}
	cr_assert_eq(api.handled, CONTROL_PENDING_MAX);
	send_request("more", "/x");
	expect_error("more", "LIMIT_REACHED");
	cr_assert_eq(peer.closed, 0);
	cancel("0");
	expect_end("0", 200);
	send_request("more", "/x");
	expect_end("more", 404);
}

Test(control_socket, events_come_in_order_and_then_the_end)
{
	send_request("s", "/stream");
	give(0, 3);
	settle();
	for (unsigned i = 0; i < 3; i++) {
		char want[20];
		expect("stream", "s");
		snprintf(want, sizeof want, "{\"n\":%u}", i);
		cr_assert_str_eq(text_of(peer.messages[i], "data"), want);
	}
	expect_nothing();
	api.sources[0]->left = 2;
	reply_stream_complete(api.sources[0]->request);
	settle();
	expect("stream", "s");
	expect("stream", "s");
	expect_end("s", 200);
	expect_nothing();
	cr_assert_eq(api.closed, 1);
	cr_assert_eq(metrics.streams, 0);
}

Test(control_socket, stream_that_is_complete_at_once)
{
	peer.credit = 0;
	send_request("s", "/stream");
	reply_stream_complete(api.sources[0]->request);
	drain();
	expect_end("s", 200);
	expect_nothing();
	cr_assert_eq(api.closed, 1);
}

Test(control_socket, events_are_read_only_when_there_is_space)
{
	peer.credit = 0;
	send_request("s", "/stream");
	give(0, 100);
	settle();
	cr_assert_eq(api.sources[0]->made, 0);
	peer.credit = 10;
	peer.wanted = true;
	settle();
	cr_assert_eq(api.sources[0]->made, 1);
	cr_assert_eq(peer.count, 0);
	drain();
	cr_assert_eq(api.sources[0]->made, 100);
	cr_assert_eq(peer.count, 100);
}

Test(control_socket, streams_take_turns)
{
	peer.credit = 0;
	send_request("a", "/stream");
	send_request("b", "/stream");
	give(0, 500);
	settle();
	give(1, 5);
	send_request("c", "/x");
	drain();
	/* Streams with few events do not wait for the one with many. */
	unsigned b = 0, answers = 0;
	for (size_t i = 0; i < 13; i++) {
		b += strcmp(text_of(peer.messages[i], "id"), "b") == 0;
		answers += strcmp(text_of(peer.messages[i], "id"), "c") == 0;
	}
	cr_assert_eq(b, 5);
	cr_assert_eq(answers, 1);
	cr_assert_eq(peer.count, 506);
}

Test(control_socket, a_turn_is_bounded)
{
	peer.credit = 0;
	send_request("a", "/stream");
	give(0, 2000);
	settle();
	api.reply_size = 2 * CONTROL_TURN_MAX;
	send_request("big", "/big");
	peer.credit = SIZE_MAX / 2;
	size_t before = peer.frames;
	peer.wanted = false;
	p->writable(c);
	cr_assert(peer.wanted);
	cr_assert_leq(peer.frames - before, CONTROL_TURN_MAX / FRAMES_PAYLOAD_MAX + 3);
	settle();
	cr_assert_eq(peer.count, 2001);
}

Test(control_socket, large_reply_is_sent_in_small_frames)
{
	peer.frame_max = 7;
	api.reply_size = 100000;
	send_request("big", "/big");
	drain();
	cr_assert_eq(
		json_string_length(json_object_get(json_object_get(next(), "body"), "x")), 100000);
	cr_assert_gt(peer.frames, 100000 / 7);
}

Test(control_socket, cancel_ends_a_stream)
{
	send_request("s", "/stream");
	give(0, 2);
	settle();
	expect("stream", "s");
	expect("stream", "s");
	cancel("t");
	expect_nothing();
	cancel("s");
	expect_end("s", 200);
	cr_assert(api.sources[0]->closed);
	cancel("s");
	expect_nothing();
}

Test(control_socket, cancel_works_only_for_the_same_connection)
{
	struct principal owner = {.role = ROLE_OWNER};
	struct control_socket *other = control_socket_open(
		&all, &owner, "10.0.0.1", &transport, NULL);
	static const char text[] = "{\"type\":\"cancel\",\"id\":\"s\"}";
	send_request("s", "/stream");
	p->text(other, text, sizeof text - 1);
	settle();
	cr_assert_not(api.sources[0]->closed);
	p->closed(other);
	cr_assert_not(api.sources[0]->closed);
	expect_nothing();
}

Test(control_socket, cancel_before_the_stream_begins)
{
	send_request("a", "/later");
	send_request("b", "/later");
	cancel("a");
	cancel("b");
	expect_nothing();
	begin_stream(api.later[0]);
	reply_success(api.later[1], NULL);
	settle();
	expect_end("a", 200);
	expect_end("b", 200);
	cr_assert(api.sources[0]->closed);
	cr_assert_eq(api.sources[0]->made, 0);
}

Test(control_socket, cancel_drops_queued_events)
{
	peer.credit = 5;
	send_request("s", "/stream");
	give(0, 10);
	settle();
	cancel("s");
	drain();
	expect("stream", "s");
	expect_end("s", 200);
	expect_nothing();
}

Test(control_socket, queued_replies_are_limited)
{
	char id[20];
	peer.credit = 100;
	api.reply_size = 1 << 20;
	for (unsigned i = 0; i < 100; i++) {
		snprintf(id, sizeof id, "%u", i);
		send_request(id, "/big");
	}
	/* The budget, and the one in transmission. */
	cr_assert_leq(api.handled, (CONTROL_REPLIES_MAX >> 20) + 2);
	drain();
	cr_assert_eq(api.handled, 100);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(id, sizeof id, "%u", i);
		expect_end(id, 200);
	}
	expect_nothing();
}

Test(control_socket, queued_bodies_are_limited)
{
	size_t size = REQUEST_BODY_MAX + 200;
	char *text = malloc(size);
	unsigned refused = 0;
	for (unsigned i = 0; i < 20; i++) {
		int n = snprintf(text, size,
			"{\"type\":\"request\",\"id\":\"%u\",\"method\":\"POST\",\"path\":\"/later\",\"body\":\"",
			i);
		memset(text + n, 'x', REQUEST_BODY_MAX - 100);
		snprintf(text + n + REQUEST_BODY_MAX - 100, 4, "\"}");
		p->text(c, text, strlen(text));
	}
	settle();
	for (; peer.read < peer.count; refused++)
		cr_assert_str_eq(text_of(next(), "code"), "LIMIT_REACHED");
	cr_assert_eq(refused, 20 - CONTROL_BODIES_MAX / REQUEST_BODY_MAX);
	cr_assert_eq(peer.closed, 0);
	free(text);
}

Test(control_socket, client_that_reads_no_errors_is_closed)
{
	peer.credit = 0;
	unsigned sent = 0;
	for (; !peer.closed; sent++) {
		cr_assert_lt(sent, 10000);
		send_text("{}");
	}
	cr_assert_eq(peer.closed, CLOSE_POLICY);
	cr_assert_eq(sent, CONTROL_REFUSALS_MAX + 1);
}

Test(control_socket, cancel_of_a_queued_request)
{
	peer.credit = 10;
	api.reply_size = CONTROL_REPLIES_MAX;
	send_request("big", "/big");
	send_request("bigger", "/big");
	send_request("waits", "/later");
	cr_assert_eq(api.later_count, 0);
	cancel("waits");
	drain();
	expect_end("big", 200);
	expect_error("waits", "OPERATION_INTERRUPTED");
	expect_end("bigger", 200);
	cr_assert_eq(api.later_count, 0);
}

Test(control_socket, lost_connection)
{
	send_request("s", "/stream");
	send_request("l", "/later");
	peer.lost = true;
	give(0, 5);
	settle();
	cr_assert_eq(api.sources[0]->made, 1);
	p->closed(c);
	c = NULL;
	cr_assert(api.sources[0]->closed);
	reply_success(api.later[0], NULL);
	cr_assert_eq(peer.count, 0);
}

Test(control_socket, close_with_everything_open)
{
	char id[20];
	peer.credit = 10;
	api.reply_size = 1000;
	for (unsigned i = 0; i < 60; i++) {
		static const char *const paths[] = {"/stream", "/later", "/big"};
		snprintf(id, sizeof id, "%u", i);
		send_request(id, paths[i % 3]);
	}
	send_text("nonsense");
	for (unsigned i = 0; i < 10; i++)
		give(i, 5);
	p->closed(c);
	c = NULL;
	cr_assert_eq(api.closed, 20);
	cr_assert_eq(metrics.streams, 0);
	/* Later replies are dropped. */
	begin_stream(api.later[0]);
	reply_success(api.later[1], NULL);
	cr_assert_eq(api.closed, 21);
}

Test(control_socket, quiet_stream_gets_keepalives)
{
	send_request("s", "/stream");
	for (unsigned i = 0; i < 3; i++)
		control_sockets_sweep(&all, 3);
	settle();
	expect_nothing();
	control_sockets_sweep(&all, 3);
	settle();
	expect("stream", "s");
	cr_assert_str_eq(text_of(peer.messages[0], "data"), "");
	give(0, 1);
	control_sockets_sweep(&all, 3);
	settle();
	expect("stream", "s");
	expect_nothing();
}

Test(control_socket, keepalive_waits_for_a_client_that_stops_reading)
{
	send_request("s", "/stream");
	peer.credit = 0;
	for (unsigned i = 0; i < 100; i++)
		control_sockets_sweep(&all, 1);
	drain();
	expect("stream", "s");
	expect_nothing();
}

Test(control_socket, end_of_access)
{
	struct principal guest = {.role = ROLE_VIEWER, .link = "abc"};
	p->closed(c);
	c = control_socket_open(&all, &guest, "10.0.0.1", &transport, NULL);
	send_request("s", "/stream");
	control_sockets_revoke(&all, "abd");
	cr_assert_eq(peer.closed, 0);
	control_sockets_revoke(&all, "abc");
	cr_assert_eq(peer.closed, CLOSE_ACCESS_ENDED);
	send_request("t", "/later");
	cr_assert_eq(api.handled, 1, "served after the end");
}

/* Nodes that refuse, fail, or are hostile. The clock of node_link.c is uv_now() below, which tests move on. */
#include "tests/lib/node_client.h"
#include "ws/net/node_link.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static uint64_t skipped_ms;

/* Instead of libuv's; its own timers do not use it. */
uint64_t uv_now(const uv_loop_t *loop)
{
	(void)loop;
	return uv_hrtime() / 1000000 + skipped_ms;
}

static void open_nodes(void)
{
	setenv("http_proxy", "http://127.0.0.1:1", 1); /* is not used */
	node_open(NULL);
}

TestSuite(node_socket_failing, .init = open_nodes, .fini = node_close, .timeout = 60);

/* The client gets an error and is closed. */
static void check_refused(struct node_client *c, unsigned closed, const char *code)
{
	char want[64];
	snprintf(want, sizeof want, "{\"type\":\"error\",\"code\":\"%s\",\"message\":\"", code);
	RUN_UNTIL(c->closed);
	cr_assert_eq(c->closed, closed, "%u", c->closed);
	cr_assert_eq(c->texts, 1);
	cr_assert_eq(strncmp(c->text, want, strlen(want)), 0, "%s", c->text);
	cr_assert_gt(strlen(c->reason), 5);
	client_end(c);
}

static const char *given;

static void answer_as_given(struct ws_peer_conn *c)
{
	ws_peer_send(c, given, strlen(given));
}

Test(node_socket_failing, status_of_a_refusal_is_told)
{
	static const struct {
		const char *status;
		unsigned closed;
		const char *code;
	} cases[] = {
		{"401 Unauthorized", 4401, "UNAUTHENTICATED"},
		{"403 Forbidden", 1008, "PERMISSION_DENIED"},
		{"404 Not Found", 4410, "SESSION_NOT_FOUND"},
		{"429 Too Many Requests", 1001, "LIMIT_REACHED"},
		{"421 Misdirected Request", 1001, "MISDIRECTED"},
		{"500 Internal Server Error", 1001, "INTERNAL_ERROR"},
		{"503 Service Unavailable", 1001, "SERVER_BUSY"},
		{"418 I'm a teapot", 1001, "NODE_UNREACHABLE"},
		{"200 OK", 1001, "NODE_UNREACHABLE"},
	};
	char answer[256];
	peer.answer = answer_as_given;
	given = answer;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(answer, sizeof answer,
			"HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
			"Content-Length: 2\r\n\r\n{}",
			cases[i].status);
		struct node_client *c = client_open();
		client_binary(c, "lost", 4);
		check_refused(c, cases[i].closed, cases[i].code);
	}
}

Test(node_socket_failing, redirect_is_not_followed)
{
	char answer[256];
	peer.answer = answer_as_given;
	given = answer;
	snprintf(answer, sizeof answer, "HTTP/1.1 302 Found\r\nLocation: %s/other\r\n\r\n",
		peer.url);
	check_refused(client_open(), 1001, "NODE_UNREACHABLE");
	for (unsigned i = 0; i < 10; i++)
		node_turn();
	cr_assert_eq(peer.count, 1);
}

/* Handshakes that are not valid; %s is the key's answer. */
static const char *const bad_handshakes[] = {
	"",
	"\r\n\r\n",
	"SSH-2.0-OpenSSH_9.2\r\n",
	"HTTP/1.1 101\r\n\r\n",
	"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
	"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	"Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
	"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
	"HTTP/1.1 99999999999999999999 x\r\nContent-Length: -5\r\n\r\n",
	"GET / HTTP/1.1\r\n\r\n",
};

static void answer_and_hang_up(struct ws_peer_conn *c)
{
	ws_peer_send(c, given, strlen(given));
	ws_peer_hang_up(c);
}

Test(node_socket_failing, invalid_handshake_is_refused)
{
	for (size_t i = 0; i < sizeof bad_handshakes / sizeof *bad_handshakes; i++) {
		given = bad_handshakes[i];
		peer.answer = answer_and_hang_up;
		check_refused(client_open(), 1001, "NODE_UNREACHABLE");
	}
}

static void answer_endlessly(struct ws_peer_conn *c)
{
	static char header[4096];
	memset(header, 'a', sizeof header);
	ws_peer_send(c, "HTTP/1.1 101 x\r\n", 16);
	for (unsigned i = 0; i < 100; i++) {
		memcpy(header, i % 2 ? "\r\nX-A: " : "", i % 2 ? 7 : 0);
		ws_peer_send(c, header, sizeof header);
	}
}

Test(node_socket_failing, endless_answer_is_refused)
{
	peer.answer = answer_endlessly;
	check_refused(client_open(), 1001, "NODE_UNREACHABLE");
}

static void answer_nothing(struct ws_peer_conn *c)
{
	(void)c;
}

Test(node_socket_failing, node_that_does_not_answer_is_given_up)
{
	peer.answer = answer_nothing;
	struct node_client *c = client_open();
	RUN_UNTIL(peer.count == 1 && peer.conns[0]->asked);
	skipped_ms += NODE_LINK_ANSWER_MS - 2000;
	for (unsigned i = 0; i < 20; i++)
		node_turn();
	cr_assert_eq(c->closed, 0);
	skipped_ms += 2000;
	check_refused(c, 1001, "NODE_UNREACHABLE");
	RUN_UNTIL(peer.conns[0]->gone);
}

/* A socket whose kernel ignores further connections, because its queue is full. Writes its URL. */
static int open_full(char *url, size_t size, int *ret_filler)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	cr_assert_eq(listen(fd, 0), 0);
	getsockname(fd, (struct sockaddr *)&address, &length);
	*ret_filler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(connect(*ret_filler, (struct sockaddr *)&address, sizeof address), 0);
	snprintf(url, size, "http://127.0.0.1:%d", ntohs(address.sin_port));
	return fd;
}

Test(node_socket_failing, host_that_does_not_answer_is_given_up)
{
	char url[64];
	int filler, fd = open_full(url, sizeof url, &filler);
	struct node_client *c = client_open_at(0, url, "/ws/pty");
	for (unsigned i = 0; i < 20; i++)
		node_turn();
	cr_assert_eq(c->closed, 0);
	skipped_ms += NODE_LINK_CONNECT_MS;
	check_refused(c, 1001, "NODE_UNREACHABLE");
	/* The client closes first. */
	c = client_open_at(0, url, "/ws/pty");
	client_binary(c, "x", 1);
	node_turn();
	client_end(c);
	skipped_ms += NODE_LINK_CONNECT_MS;
	for (unsigned i = 0; i < 20; i++)
		node_turn();
	close(filler);
	close(fd);
}

Test(node_socket_failing, unreachable_and_invalid_urls_are_refused)
{
	static const char *const urls[] = {"http://127.0.0.1:1", "https://127.0.0.1:1",
		"http://[::1]:1", "http://nodes.invalid", "", "http://", "http:///x",
		"ftp://127.0.0.1", "127.0.0.1:80", "http://127.0.0.1:0", "http://127.0.0.1:65536",
		"http://127.0.0.1:1x", "http://127.0.0.1:", "http://user@127.0.0.1", "http://[::1",
		"http://::1", "http://127.0.0.1/a b", "http://127.0.0.1/a\r\nX: y",
		"http://127.0.0.1/?a", "http://+/tmp/x", "unix:/x"};
	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
		check_refused(client_open_at(0, urls[i], "/ws/pty"), 1001, "NODE_UNREACHABLE");
	check_refused(client_open_at(0, peer.url, "/x HTTP/1.1\r\nY: z"), 1001, "NODE_UNREACHABLE");
	check_refused(client_open_at(0, peer.url, "x"), 1001, "NODE_UNREACHABLE");
	char target[2100] = "/";
	memset(target + 1, 'x', sizeof target - 2);
	check_refused(client_open_at(0, peer.url, target), 1008, "VALIDATION_FAILED");
	cr_assert_eq(peer.count, 0);
}

Test(node_socket_failing, other_addresses_of_a_host_are_tried)
{
	char url[64]; /* the peer listens at 127.0.0.1 alone; localhost is ::1 too */
	snprintf(url, sizeof url, "http://localhost%s", strrchr(peer.url, ':'));
	struct node_client *c = client_open_at(0, url, "/ws/pty");
	client_text(c, "hello");
	RUN_UNTIL(peer.count == 1 && peer.conns[0]->messages == 1);
}

Test(node_socket_failing, client_of_an_unreachable_node_may_move)
{
	struct node_client *c = client_open_at(0, "http://127.0.0.1:1", "/ws/pty");
	cr_assert_eq(c->unreachable, 0);
	c->moves = true;
	client_text(c, "lost");
	RUN_UNTIL(!c->socket);
	cr_assert_eq(c->unreachable, 1);
	cr_assert_eq(c->closed + c->texts, 0);
	/* The registry reports it first. */
	peer.answer = answer_nothing;
	c = client_open();
	c->moves = true;
	node_socket_lose(c->socket);
	cr_assert_null(c->socket);
	cr_assert_eq(c->unreachable, 1);
	/* Not once it has answered. */
	peer.answer = answer_as_given;
	given = "HTTP/1.1 404 Not Found\r\n\r\n";
	c = client_open();
	c->moves = true;
	check_refused(c, 4410, "SESSION_NOT_FOUND");
	cr_assert_eq(c->unreachable, 0);
}

static struct ws_peer_conn *open_accepted(void)
{
	unsigned count = peer.count;
	peer.answer = NULL;
	client_open();
	client_text(&clients[0], "hello");
	RUN_UNTIL(peer.count == count + 1 && peer.conns[count]->messages == 1);
	return peer.conns[count];
}

static void check_gone(void)
{
	RUN_UNTIL(clients[0].closed);
	cr_assert_eq(clients[0].closed, 1001);
	cr_assert_str_eq(clients[0].reason, "the session's node has gone");
	client_end(&clients[0]);
}

Test(node_socket_failing, node_is_killed_in_the_middle)
{
	struct ws_peer_conn *node = open_accepted();
	ws_peer_flood(node, 100000);
	RUN_UNTIL(clients[0].received == 100000);
	ws_peer_reset(node);
	check_gone();
	/* In the middle of a text, of which the client has a part. */
	node = open_accepted();
	ws_peer_frame(node, WS_TEXT, "begin", 5);
	RUN_UNTIL(clients[0].in_text);
	node_socket_lose(clients[0].socket);
	RUN_UNTIL(clients[0].closed == 1001);
	cr_assert(clients[0].in_text, "no error inside of it");
	client_end(&clients[0]);
	/* While the client reads nothing: it gets what the node has sent. */
	node = open_accepted();
	clients[0].room = 0;
	ws_peer_flood(node, 200000);
	RUN_UNTIL(!node->flooding);
	ws_peer_close_frame(node, 4410, "session deleted");
	ws_peer_hang_up(node);
	for (unsigned i = 0; i < 40; i++) {
		skipped_ms += 1000;
		node_turn();
	}
	cr_assert_eq(clients[0].closed, 0);
	clients[0].room = NODE_CLIENT_ROOM;
	RUN_UNTIL(clients[0].closed);
	cr_assert_eq(clients[0].received, 200000);
	cr_assert_eq(clients[0].closed, 4410);
}

Test(node_socket_failing, lost_node_is_told)
{
	struct ws_peer_conn *node = open_accepted();
	node_socket_lose(clients[0].socket);
	RUN_UNTIL(clients[0].closed == 1001);
	cr_assert_not_null(strstr(clients[0].text, "NODE_UNREACHABLE"));
	RUN_UNTIL(node->gone);
}

Test(node_socket_failing, silent_node_is_pinged_and_given_up)
{
	struct ws_peer_conn *node = open_accepted();
	skipped_ms += NODE_LINK_PING_MS;
	RUN_UNTIL(node->pings == 1);
	ws_peer_frame(node, WS_PEER_FIN | WS_PONG, "\0", 1);
	ws_peer_text(node, "pong sent");
	RUN_UNTIL(clients[0].texts == 1);
	skipped_ms += NODE_LINK_PING_MS;
	RUN_UNTIL(node->pings == 2);
	cr_assert_eq(clients[0].closed, 0);
	skipped_ms += NODE_LINK_LOST_MS - NODE_LINK_PING_MS;
	check_gone();
}

Test(node_socket_failing, paused_node_gets_pongs)
{
	struct ws_peer_conn *node = open_accepted();
	clients[0].room = 0;
	ws_peer_text(node, "held");
	ws_peer_frame(node, WS_PEER_FIN | WS_PING, "?", 1);
	RUN_UNTIL(clients[0].wants);
	unsigned pongs = node->pongs;
	for (unsigned i = 1; i <= 3; i++) {
		skipped_ms += NODE_LINK_LOST_MS;
		RUN_UNTIL(node->pongs >= pongs + i);
	}
	cr_assert_eq(clients[0].closed, 0);
	clients[0].room = NODE_CLIENT_ROOM;
	RUN_UNTIL(clients[0].texts == 1);
}

Test(node_socket_failing, invalid_frames_end_the_connection)
{
	static const struct {
		const char *bytes;
		size_t length;
	} frames[] = {
		{"\x81\x02\xc3\x28", 4},                          /* invalid UTF-8 */
		{"\x81\x01\xc3", 3},                              /* incomplete UTF-8 */
		{"\x01\x01\xc3\x80\x01\x28", 6},                  /* the same in fragments */
		{"\x83\x00", 2},                                  /* unknown opcode */
		{"\x8b\x00", 2},                                  /* unknown control frame */
		{"\xf1\x01x", 3},                                 /* reserved bits */
		{"\x80\x01x", 3},                                 /* continuation of nothing */
		{"\x09\x01x", 3},                                 /* fragment of a ping */
		{"\x89\x7e\x00\x80", 4},                          /* ping of 128 bytes */
		{"\x02\x01x\x82\x01y", 6},                        /* a message inside of another */
		{"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10}, /* length with its highest bit */
	};
	for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
		struct ws_peer_conn *node = open_accepted();
		ws_peer_send(node, frames[i].bytes, frames[i].length);
		ws_peer_hang_up(node);
		check_gone();
	}
}

Test(node_socket_failing, oversized_text_ends_the_connection)
{
	unsigned char head[10];
	char *text = calloc(1, NODE_LINK_TEXT_MAX / 4);
	cr_assert_not_null(text);
	struct ws_peer_conn *node = open_accepted();
	size_t length = ws_peer_head(head, WS_PEER_FIN | WS_TEXT, NODE_LINK_TEXT_MAX + 1);
	ws_peer_send(node, head, length);
	ws_peer_send(node, text, 40000); /* it is refused before the rest comes */
	RUN_UNTIL(clients[0].closed);
	cr_assert_eq(clients[0].closed, 1011);
	RUN_UNTIL(node->gone);
	client_end(&clients[0]);
	/* In fragments. */
	node = open_accepted();
	for (unsigned i = 0; i < 5; i++)
		ws_peer_frame(
			node, i == 0 ? WS_TEXT : WS_CONTINUATION, text, NODE_LINK_TEXT_MAX / 4);
	RUN_UNTIL(clients[0].closed);
	cr_assert_eq(clients[0].closed, 1011);
	client_end(&clients[0]);
	/* The largest passes. */
	node = open_accepted();
	for (unsigned i = 0; i < 4; i++)
		ws_peer_frame(node,
			(i == 0 ? WS_TEXT : WS_CONTINUATION) | (i == 3 ? WS_PEER_FIN : 0), text,
			NODE_LINK_TEXT_MAX / 4);
	RUN_UNTIL(clients[0].texts == 1);
	cr_assert_eq(clients[0].text_length, NODE_LINK_TEXT_MAX);
	/* The length of a binary message does not matter. */
	length = ws_peer_head(head, WS_PEER_FIN | WS_BINARY, (uint64_t)1 << 60);
	ws_peer_send(node, head, length);
	ws_peer_send(node, text, 200000);
	RUN_UNTIL(clients[0].received > 160000);
	free(text);
}

Test(node_socket_failing, client_that_sends_too_much_is_closed)
{
	static char bytes[65536];
	peer.answer = answer_nothing;
	struct node_client *c = client_open();
	for (unsigned i = 0; i < 16; i++)
		client_binary(c, bytes, sizeof bytes);
	cr_assert_not(c->wants);
	client_binary(c, bytes, sizeof bytes);
	RUN_UNTIL(c->closed == 1008);
	client_binary(c, bytes, sizeof bytes);
	client_end(c);
	/* Small texts, which take more memory than their length. */
	c = client_open();
	for (unsigned i = 0; i < 30000; i++)
		client_text(c, "x");
	RUN_UNTIL(c->closed == 1008);
	client_end(c);
	/* A message of the largest size fits; what is too big does not. */
	c = client_open();
	char *text = malloc(node_socket_protocol.message_max);
	cr_assert_not_null(text);
	memset(text, 'a', node_socket_protocol.message_max);
	node_socket_protocol.text(c->socket, text, node_socket_protocol.message_max);
	free(text);
	cr_assert_not(c->wants);
	node_socket_protocol.too_big(c->socket);
	RUN_UNTIL(c->closed == 1009);
}

Test(node_socket_failing, node_that_does_not_read_closes_the_client)
{
	static char bytes[65536];
	struct ws_peer_conn *node = open_accepted();
	uv_read_stop((uv_stream_t *)&node->tcp);
	uint64_t sent = 0;
	for (; !clients[0].closed && sent < (uint64_t)64 << 20; sent += sizeof bytes) {
		client_binary(&clients[0], bytes, sizeof bytes);
		node_turn();
	}
	cr_assert_eq(clients[0].closed, 1008);
	client_end(&clients[0]);
}

Test(node_socket_failing, invalid_text_of_a_client_reaches_the_node_empty)
{
	struct ws_peer_conn *node = open_accepted();
	client_text(&clients[0], "\xff\xfe");
	RUN_UNTIL(node->messages == 2);
	cr_assert_str_eq(node->text, "");
	client_text(&clients[0], "valid");
	RUN_UNTIL(node->messages == 3);
	cr_assert_str_eq(node->text, "valid");
}

Test(node_socket_failing, flood_of_pings_costs_no_memory)
{
	struct ws_peer_conn *node = open_accepted();
	for (unsigned i = 0; i < 20000; i++)
		ws_peer_frame(node, WS_PEER_FIN | WS_PING, "0123456789", 10);
	ws_peer_text(node, "after");
	RUN_UNTIL(clients[0].texts == 1);
	RUN_UNTIL(node->pongs > 0);
}

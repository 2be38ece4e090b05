/* Frames that pass between a client and a node; see test_node_socket_failing.c for what goes wrong. */
#include "tests/lib/asan.h"
#include "tests/lib/node_client.h"
#include "tests/lib/open_fds.h"
#include "ws/net/node_link.h"

#include <malloc.h>

#define LARGE ((uint64_t)10 << 20)
#define KERNEL_MAX ((uint64_t)8 << 20) /* that the kernel buffers at both ends */

#ifdef ASAN
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

/* Bytes that this process has allocated. */
static size_t allocated(void)
{
#ifdef ASAN
	return __sanitizer_get_current_allocated_bytes();
#else
	return mallinfo2().uordblks;
#endif
}

static void open_nodes(void)
{
	node_open(NULL);
}

TestSuite(node_socket, .init = open_nodes, .fini = node_close, .timeout = 60);

static void echo(struct ws_peer_conn *c, unsigned opcode, const unsigned char *bytes, size_t length)
{
	ws_peer_frame(c, WS_PEER_FIN | opcode, bytes, length);
}

Test(node_socket, request_has_host_target_and_token)
{
	char url[80], host[80], target[2033] = "/ws/pty?sessionId=a%20b&name=";
	memset(target + strlen(target), 'x', sizeof target - 1 - strlen(target) - strlen("/prefix"));
	snprintf(url, sizeof url, "%s/prefix/", peer.url);
	snprintf(host, sizeof host, "\r\nHost: %s\r\n", peer.url + 7);
	client_open_at(0, url, target);
	RUN_UNTIL(peer.count == 1 && peer.conns[0]->asked);
	const char *head = peer.conns[0]->head;
	cr_assert_eq(strncmp(head, "GET /prefix/ws/pty?sessionId=a%20b&name=xxx", 43), 0);
	cr_assert_eq(strcspn(head + 4, " "), sizeof target - 1);
	cr_assert_eq(strncmp(strchr(head + 4, ' '), " HTTP/1.1\r\n", 11), 0);
	cr_assert_not_null(strstr(head, host));
	cr_assert_not_null(strcasestr(head, "\r\nauthorization: Bearer a.token\r\n"));
	cr_assert_null(strcasestr(head, "\r\norigin:"));
	cr_assert_null(strcasestr(head, "\r\nsec-websocket-protocol:"));
	cr_assert_null(strcasestr(head, "\r\nsec-websocket-extensions:"));
}

Test(node_socket, texts_and_bytes_pass_both_ways)
{
	static const char text[] = "{\"type\":\"ping\",\"t\":\"\xc3\xa4\"}";
	peer.message = echo;
	struct node_client *c = client_open();
	client_text(c, text); /* before it is connected */
	RUN_UNTIL(c->texts == 1);
	cr_assert_str_eq(c->text, text);
	client_text(c, "");
	RUN_UNTIL(c->texts == 2);
	cr_assert_str_eq(c->text, "");
	unsigned char bytes[3000];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = ws_peer_pattern(i);
	client_binary(c, bytes, 1);
	client_binary(c, bytes + 1, 0);
	client_binary(c, bytes + 1, 2);
	client_binary(c, bytes + 3, sizeof bytes - 3);
	RUN_UNTIL(c->received == sizeof bytes);
	cr_assert_not(c->differs);
	cr_assert_eq(c->closed, 0);
}

Test(node_socket, frame_is_sent_at_once)
{
	struct node_client *c = client_open();
	RUN_UNTIL(peer.count == 1 && peer.conns[0]->asked);
	client_text(c, "first");
	RUN_UNTIL(peer.conns[0]->messages == 1);
	client_text(c, "second");
	int fd;
	char buffer[64];
	cr_assert_eq(uv_fileno((uv_handle_t *)&peer.conns[0]->tcp, &fd), 0);
	cr_assert_eq(recv(fd, buffer, sizeof buffer, MSG_PEEK | MSG_DONTWAIT), 2 + 4 + 6,
		"without a turn of the loop");
}

Test(node_socket, large_texts_pass_whole)
{
	static const size_t up = 1 << 20, down = (5 << 20) + 1;
	char *text = malloc(down);
	cr_assert_not_null(text);
	memset(text, 'a', down);
	for (size_t i = 0; i + 1 < down; i += 2) /* cut anywhere, it is inside of a character */
		memcpy(text + i, "\xc3\xa4", 2);
	struct node_client *c = client_open();
	c->room = 5001;
	node_socket_protocol.text(c->socket, text, up);
	RUN_UNTIL(peer.count == 1 && peer.conns[0]->messages == 1);
	cr_assert_eq(peer.conns[0]->text_length, up);
	/* In fragments, with a ping between them. */
	ws_peer_frame(peer.conns[0], WS_TEXT, text, 0);
	ws_peer_frame(peer.conns[0], WS_CONTINUATION, text, 100001);
	ws_peer_frame(peer.conns[0], WS_PEER_FIN | WS_PING, "?", 1);
	ws_peer_frame(peer.conns[0], WS_CONTINUATION, text + 100001, down - 100001);
	ws_peer_frame(peer.conns[0], WS_PEER_FIN | WS_CONTINUATION, "", 0);
	RUN_UNTIL(c->texts == 1);
	cr_assert_eq(c->text_length, down);
	cr_assert_eq(memcmp(c->text, text, down), 0);
	RUN_UNTIL(peer.conns[0]->pongs == 1);
	free(text);
}

Test(node_socket, slow_client_pauses_the_node)
{
	struct node_client *c = client_open();
	c->room = 0;
	RUN_UNTIL(peer.count == 1 && peer.conns[0]->asked);
	struct ws_peer_conn *node = peer.conns[0];
	ws_peer_text(node, "first");
	ws_peer_flood(node, LARGE);
	size_t before = allocated();
	uint64_t written = 0;
	/* Until the node cannot write for 20 turns. */
	for (unsigned still = 0; still < 20; still = written == node->flooded ? still + 1 : 0) {
		written = node->flooded;
		node_turn();
		cr_assert_lt(allocated(), before + ((size_t)300 << 10));
	}
	cr_assert_lt(node->flooded, KERNEL_MAX);
	cr_assert_eq(c->frames, 0);
	for (uint64_t at = 0; at < LARGE; at = c->received) {
		c->room = 7000;
		RUN_UNTIL(c->received >= at + LARGE / 5 || c->received == LARGE);
		c->room = 0; /* it stops again */
		for (unsigned i = 0; i < 3; i++)
			node_turn();
		cr_assert_lt(allocated(), before + ((size_t)300 << 10));
	}
	cr_assert_not(c->differs);
	cr_assert_str_eq(c->text, "first");
	cr_assert_eq(c->closed, 0);
}

Test(node_socket, megabyte_passes_to_the_node)
{
	static const size_t piece = 13001, all = 1 << 20;
	unsigned char *bytes = malloc(all);
	cr_assert_not_null(bytes);
	for (size_t i = 0; i < all; i++)
		bytes[i] = ws_peer_pattern(i);
	struct node_client *c = client_open();
	for (size_t at = 0; at < all; at += piece)
		client_binary(c, bytes + at, at + piece < all ? piece : all - at);
	RUN_UNTIL(peer.count == 1 && peer.conns[0]->received == all);
	cr_assert_not(peer.conns[0]->differs);
	for (size_t at = 0; at < 2000; at++) /* small ones are joined */
		client_binary(c, bytes + (all + at) % 8192 % all, 1);
	RUN_UNTIL(peer.conns[0]->received == all + 2000);
	free(bytes);
}

Test(node_socket, close_frame_of_the_node_reaches_the_client)
{
	static const struct {
		unsigned code;
		const char *reason;
		unsigned want;
		const char *reason_wanted;
	} cases[] = {
		{1000, "bye", 1000, "bye"},
		{1001, "server going away", 1001, "server going away"},
		{1008, "", 1008, ""},
		{1009, "message too big", 1009, "message too big"},
		{1011, "x", 1011, "x"},
		{4401, "access ended", 4401, "access ended"},
		{4409, "replaced", 4409, "replaced"},
		{4410, "session deleted", 4410, "session deleted"},
		{4999, "b\xc3\xa4r\n", 4999, "b??r?"},
		{1002, "protocol", 1001, "the session's node has gone"},
		{1012, "restart", 1001, "the session's node has gone"},
		{1005, "none", 1001, "the session's node has gone"},
		{2000, "reserved", 1001, "the session's node has gone"},
		{65535, "none", 1001, "the session's node has gone"},
	};
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct node_client *c = client_open();
		RUN_UNTIL(peer.count == i + 1 && peer.conns[i]->asked);
		ws_peer_text(peer.conns[i], "last");
		ws_peer_close_frame(peer.conns[i], cases[i].code, cases[i].reason);
		RUN_UNTIL(c->closed);
		cr_assert_str_eq(c->text, "last");
		cr_assert_eq(c->closed, cases[i].want, "%u: %u", cases[i].code, c->closed);
		cr_assert_str_eq(c->reason, cases[i].reason_wanted);
		client_end(c);
	}
}

Test(node_socket, client_that_closes_has_sent_all)
{
	unsigned char *bytes = malloc(600000);
	cr_assert_not_null(bytes);
	for (size_t i = 0; i < 600000; i++)
		bytes[i] = ws_peer_pattern(i);
	struct node_client *c = client_open();
	client_binary(c, bytes, 600000);
	client_end(c); /* before it is connected */
	RUN_UNTIL(peer.count == 1 && peer.conns[0]->close_code);
	cr_assert_eq(peer.conns[0]->close_code, 1000);
	cr_assert_str_eq(peer.conns[0]->close_reason, "the client has closed");
	cr_assert_eq(peer.conns[0]->received, 600000);
	cr_assert_not(peer.conns[0]->differs);
	free(bytes);
	/* While it is paused. */
	c = client_open();
	c->room = 0;
	RUN_UNTIL(peer.count == 2 && peer.conns[1]->asked);
	ws_peer_flood(peer.conns[1], (uint64_t)1 << 20);
	RUN_UNTIL(c->wants);
	client_text(c, "end");
	client_end(c);
	RUN_UNTIL(peer.conns[1]->close_code == 1000);
	cr_assert_str_eq(peer.conns[1]->text, "end");
}

Test(node_socket, unused_connection_is_given_up)
{
	struct node_client *c = client_open();
	node_turn();
	client_end(c);
	RUN_UNTIL(peer.count == 1 && peer.conns[0]->gone);
	cr_assert_eq(peer.conns[0]->messages, 0);
}

Test(node_socket, twenty_at_once)
{
	unsigned fds = open_fds();
	for (unsigned i = 0; i < 20; i++) {
		client_open_at(i, peer.url, "/ws/pty?sessionId=s");
		clients[i].room = 1000 + i;
		client_text(&clients[i], "begin");
	}
	RUN_UNTIL(peer.count == 20);
	for (unsigned i = 0; i < 20; i++)
		RUN_UNTIL(peer.conns[i]->messages == 1);
	for (unsigned i = 0; i < 20; i++)
		ws_peer_flood(peer.conns[i], 200000 + i);
	for (unsigned i = 0; i < 20; i++)
		RUN_UNTIL(clients[i].received >= 200000 && clients[i].received < 200020);
	for (unsigned i = 0; i < 20; i++) {
		cr_assert_not(clients[i].differs);
		client_end(&clients[i]);
	}
	for (unsigned i = 0; i < 20; i++) {
		RUN_UNTIL(peer.conns[i]->close_code == 1000);
		ws_peer_close_frame(peer.conns[i], 1000, "");
		RUN_UNTIL(peer.conns[i]->gone);
	}
	RUN_UNTIL(open_fds() <= fds);
}

Test(node_socket, all_close_in_the_middle)
{
	peer.message = echo;
	for (unsigned i = 0; i < 12; i++) {
		client_open_at(
			i, i == 11 ? "http://nodes.invalid" : peer.url, "/ws/pty?sessionId=s");
		clients[i].room = i % 2 ? 0 : NODE_CLIENT_ROOM;
		client_text(&clients[i], "begin");
	}
	for (unsigned i = 0; i < 6; i++)
		RUN_UNTIL(peer.count > i && peer.conns[i]->asked);
	for (unsigned i = 0; i < 6; i++)
		ws_peer_flood(peer.conns[i], LARGE);
	RUN_UNTIL(clients[0].received > 100000);
	for (unsigned i = 0; i < 12; i += 3)
		client_end(&clients[i]);
	node_sockets_close(node_sockets);
	node_closed = true;
	for (unsigned i = 0; i < NODE_CLIENTS; i++)
		if (clients[i].socket) {
			client_text(&clients[i], "late");
			node_socket_lose(clients[i].socket);
			node_socket_protocol.writable(clients[i].socket);
			client_end(&clients[i]);
		}
}

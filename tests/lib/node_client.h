/* Clients whose frames pass to a node (ws_peer.h) by node_socket: their transports, and the loop. */
#pragma once

#include "tests/lib/until.h"
#include "tests/lib/ws_peer.h"
#include "ws/net/node_socket.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define NODE_CLIENTS 24u
#define NODE_CLIENT_ROOM 65535u

/* A client. */
struct node_client {
	struct node_socket *socket; /* NULL: closed() was called */
	size_t room;                /* of each frame; 0: it reads nothing */
	bool wants;                 /* writable() */
	uint64_t received;          /* bytes of binary frames */
	bool differs;               /* they are not the pattern */
	unsigned frames;
	char *text; /* the latest text, with NUL; owned */
	size_t text_length, text_size;
	bool in_text;         /* it is not complete */
	unsigned texts;       /* complete ones */
	bool moves;           /* something else is done when the node is unreachable */
	unsigned unreachable; /* calls */
	unsigned closed;      /* code; 0: open */
	char reason[128];
};

static uv_loop_t node_loop;
static uv_timer_t node_alive;
static struct node_sockets *node_sockets;
static bool node_closed; /* the test has called node_sockets_close() */
static struct node_client clients[NODE_CLIENTS];

static inline size_t client_room(void *user)
{
	struct node_client *c = user;
	c->wants |= c->room == 0;
	return c->closed ? 0 : c->room;
}

static inline size_t client_queued(void *user)
{
	(void)user;
	return 0;
}

static inline bool client_send(void *user, uint8_t *payload, size_t length, enum frame_kind kind)
{
	struct node_client *c = user;
	bool continues = kind == FRAME_CONTINUATION || kind == FRAME_CONTINUATION_PART;
	cr_assert_eq(c->closed, 0);
	cr_assert_leq(length, c->room);
	memset(payload - FRAMES_HEADROOM, 0xaa, FRAMES_HEADROOM);
	c->frames++;
	if (kind == FRAME_BINARY) {
		cr_assert_not(c->in_text, "not inside of a text");
		for (size_t i = 0; i < length; i++)
			c->differs |= payload[i] != ws_peer_pattern(c->received + i);
		c->received += length;
		return true;
	}
	cr_assert_eq(c->in_text, continues);
	if (!continues)
		c->text_length = 0;
	if (c->text_size < c->text_length + length + 1) {
		c->text_size = (c->text_length + length + 1) * 2;
		c->text = realloc(c->text, c->text_size);
		cr_assert_not_null(c->text);
	}
	memcpy(c->text + c->text_length, payload, length);
	c->text_length += length;
	c->text[c->text_length] = '\0';
	c->in_text = kind == FRAME_TEXT_PART || kind == FRAME_CONTINUATION_PART;
	c->texts += !c->in_text;
	return true;
}

static inline void client_want(void *user)
{
	struct node_client *c = user;
	c->wants = true;
}

static inline void client_close(void *user, enum close_code code, const char *reason)
{
	struct node_client *c = user;
	if (c->closed)
		return;
	c->closed = code;
	snprintf(c->reason, sizeof c->reason, "%s", reason);
}

static const struct frames_transport client_transport = {.room = client_room,
	.queued = client_queued,
	.send = client_send,
	.want = client_want,
	.close = client_close};

static inline bool client_unreachable(void *user)
{
	struct node_client *c = user;
	struct node_socket *socket = c->socket;
	c->unreachable++;
	if (!c->moves)
		return false;
	c->socket = NULL;
	node_socket_protocol.closed(socket);
	return true;
}

/* Run the loop once, and then the clients. */
static inline void node_turn(void)
{
	uv_run(&node_loop, UV_RUN_ONCE);
	for (unsigned i = 0; i < NODE_CLIENTS; i++)
		if (clients[i].wants && clients[i].socket && clients[i].room > 0) {
			clients[i].wants = false;
			node_socket_protocol.writable(clients[i].socket);
		}
}

/* Run the loop until the expression is true. */
#define RUN_UNTIL(expression)                                          \
	do {                                                           \
		long long run_deadline = until_now_ms() + UNTIL_MS;    \
		while (!(expression) && until_now_ms() < run_deadline) \
			node_turn();                                   \
		cr_assert(expression, "in time: " #expression);        \
	} while (0)

/* Open a client of the node at url. */
static inline struct node_client *client_open_at(
	unsigned number, const char *url, const char *target)
{
	struct node_client *c = &clients[number];
	*c = (struct node_client){.room = NODE_CLIENT_ROOM};
	c->socket = node_socket_open(node_sockets,
		&(struct node_socket_options){.url = url,
			.target = target,
			.token = "a.token",
			.transport = &client_transport,
			.transport_user = c,
			.unreachable = client_unreachable,
			.user = c});
	cr_assert_not_null(c->socket);
	return c;
}

/* Open the first client, of the peer. */
static inline struct node_client *client_open(void)
{
	return client_open_at(0, peer.url, "/ws/pty?sessionId=s");
}

static inline void client_text(struct node_client *c, const char *text)
{
	node_socket_protocol.text(c->socket, text, strlen(text));
}

static inline void client_binary(struct node_client *c, const void *bytes, size_t length)
{
	node_socket_protocol.binary(c->socket, bytes, length);
}

/* The transport has closed. */
static inline void client_end(struct node_client *c)
{
	struct node_socket *socket = c->socket;
	c->socket = NULL;
	if (socket)
		node_socket_protocol.closed(socket);
	free(c->text);
	c->text = NULL;
}

/* Open the loop, the peer and the sockets. ca: as of node_sockets_open(). */
static inline void node_open(const char *ca)
{
	signal(SIGPIPE, SIG_IGN);
	until_open_loop(&node_loop, &node_alive, 5);
	ws_peer_open(&node_loop);
	node_sockets = node_sockets_open(&node_loop, ca);
	cr_assert_not_null(node_sockets);
}

/* Close all in the order of the server. */
static inline void node_close(void)
{
	for (unsigned i = 0; i < NODE_CLIENTS; i++)
		client_end(&clients[i]);
	if (!node_closed)
		node_sockets_close(node_sockets);
	ws_peer_close();
	uv_close((uv_handle_t *)&node_alive, NULL);
	uv_run(&node_loop, UV_RUN_DEFAULT);
	node_sockets_free(node_sockets);
	uv_run(&node_loop, UV_RUN_DEFAULT);
	ws_peer_free();
	cr_assert_eq(uv_loop_close(&node_loop), 0);
}

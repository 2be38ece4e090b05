/* Hands admitted WebSockets over to libwebsockets; see handover.h. */
#include "ws/net/handover.h"

#include "ws/net/conn.h"
#include "ws/net/relay.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HANDSHAKE_MAX 256u

/* Write the handshake that libwebsockets reads. Returns its length. */
static size_t write_handshake(char text[HANDSHAKE_MAX], const char *key)
{
	return (size_t)snprintf(text, HANDSHAKE_MAX,
		"GET / HTTP/1.1\r\nHost: ringside\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n",
		key);
}

/* Give a descriptor to libwebsockets, with bytes to read before it. u and fd are taken, also on failure. */
static void adopt(struct server *s, struct upgrade *u, int fd, const char *bytes, size_t length)
{
	s->adopting = u;
	lws_adopt_socket_vhost_readbuf(s->vhost, fd, bytes, length);
	upgrade_free(s->adopting); /* not NULL: libwebsockets failed before on_created() */
	s->adopting = NULL;
}

static void hand_over_plain(struct conn *c, struct upgrade *u, const char *key)
{
	char bytes[HANDSHAKE_MAX + HTTP_HEAD_MAX];
	size_t length = write_handshake(bytes, key);
	int fd = c->fd;
	if (c->in_length > 0)
		memcpy(bytes + length, c->in, c->in_length);
	length += c->in_length;
	conn_unwatch(c);
	c->fd = -1;
	conn_retire(c);
	adopt(c->server, u, fd, bytes, length);
}

static void hand_over_tls(struct conn *c, struct upgrade *u, const char *key)
{
	char handshake[HANDSHAKE_MAX];
	int pair[2], size = SERVER_SNDBUF;
	struct server *s = c->server;
	size_t length = write_handshake(handshake, key);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
		upgrade_free(u);
		conn_drop(c);
		return;
	}
	setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
	if (!relay_tunnel(c, pair[1], u)) {
		close(pair[0]);
		upgrade_free(u);
		conn_drop(c);
		return;
	}
	adopt(s, u, pair[0], handshake, length);
}

void handover_websocket(struct conn *c, struct upgrade *u, const char *key)
{
	if (c->ssl)
		hand_over_tls(c, u, key);
	else
		hand_over_plain(c, u, key);
}

/* Connection of a relay to the program: 127.0.0.1, and if that fails, ::1. */
#include "ws/net/relay.h"

#include "shell/own_error.h"
#include "ws/error.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void on_up_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void close_up(struct relay_up *u)
{
	u->relay = NULL;
	uv_close((uv_handle_t *)&u->poll, on_up_closed);
	close(u->fd);
	u->fd = -1;
}

void relay_close_up(struct relay *r)
{
	if (r->up)
		close_up(r->up);
	r->up = NULL;
}

/* The result of connect(): 0 or a negative errno. */
static int connect_error(int fd)
{
	int error = 0;
	socklen_t length = sizeof error;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
		return -errno;
	return -error;
}

void relay_connect_failed(struct relay *r, int error)
{
	char text[120];
	if (error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -ENOBUFS) {
		relay_fail(r, error_code_of(error), error_text(error));
		return;
	}
	snprintf(text, sizeof text, "Nothing listens on port %u of this machine", r->pass.port);
	relay_fail(r, "PORT_NOT_LISTENING", text);
}

static void on_up(uv_poll_t *poll, int status, int events)
{
	struct relay_up *u = poll->data;
	struct relay *r = u->relay;
	if (!r)
		return;
	/* libuv has stopped polling; reading reports the error. */
	if (status < 0)
		u->watched = 0;
	if (!u->ready) {
		int rc = connect_error(u->fd);
		if (rc == 0 && !(events & UV_WRITABLE) && status >= 0)
			return;
		if (rc < 0) {
			relay_close_up(r);
			if (!r->v6) {
				r->v6 = true;
				rc = relay_connect(r);
			}
			if (rc < 0)
				relay_connect_failed(r, rc);
			return;
		}
		u->ready = true;
		r->state = RELAY_HEAD;
		r->moved_ms = server_now_ms(r->server);
	}
	relay_turn(r);
}

static int open_socket(bool v6, int *ret_fd)
{
	int one = 1, size = SERVER_SNDBUF;
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	/* Limits the kernel memory that a program that never reads can hold. */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
	*ret_fd = fd;
	return 0;
}

static int connect_to(int fd, bool v6, unsigned port)
{
	struct sockaddr_in a4 = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 a6 = {.sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	const struct sockaddr *address = v6 ? (const struct sockaddr *)&a6
					    : (const struct sockaddr *)&a4;
	int rc = connect(fd, address, v6 ? sizeof a6 : sizeof a4);
	return rc == 0 || errno == EINPROGRESS ? 0 : -errno;
}

int relay_adopt(struct relay *r, int fd)
{
	struct relay_up *u = calloc(1, sizeof *u);
	int rc = u ? uv_poll_init(r->server->options.loop, &u->poll, fd) : -ENOMEM;
	if (rc < 0) {
		free(u);
		close(fd);
		return rc;
	}
	u->fd = fd;
	u->poll.data = u;
	u->relay = r;
	u->ready = true;
	r->up = u;
	return 0;
}

static int connect_one(struct relay *r)
{
	int fd = -1, rc = open_socket(r->v6, &fd);
	if (rc < 0)
		return rc;
	rc = connect_to(fd, r->v6, r->pass.port);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	rc = relay_adopt(r, fd);
	if (rc < 0)
		return rc;
	r->up->ready = false;
	r->state = RELAY_CONNECTING;
	relay_watch_up(r, UV_WRITABLE);
	return 0;
}

int relay_connect(struct relay *r)
{
	int rc = connect_one(r);
	if (rc == 0 || r->v6)
		return rc;
	r->v6 = true;
	return connect_one(r);
}

void relay_watch_up(struct relay *r, int events)
{
	struct relay_up *u = r->up;
	if (!u || u->watched == events)
		return;
	u->watched = events;
	if (events == 0)
		uv_poll_stop(&u->poll);
	else
		uv_poll_start(&u->poll, events, on_up);
}

/* The holder of a link: what is known of it without a request, and requests to it, whose answers link.c receives. */
#include "pty/link_internal.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

pid_t link_holder_pid(const struct link *l)
{
	struct ucred peer = {0};
	socklen_t length = sizeof peer;
	if (l->info.holder_pid > 0)
		return l->info.holder_pid;
	/* Before the answer to ATTACH: the pid of the process that called listen(2). */
	if (l->socket_fd >= 0)
		getsockopt(l->socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
	return peer.pid;
}

uid_t link_owner_uid(const struct link *l)
{
	return l->state == LINK_ATTACHED ? l->info.owner : geteuid();
}

int link_request(struct link *l, struct wire_message m)
{
	if (l->socket_fd < 0 || (l->taken && m.type != WIRE_ATTACH))
		return -ENOTCONN;
	m.magic = WIRE_MAGIC;
	m.version = WIRE_VERSION;
	m.serial = ++l->serial;
	ssize_t n = send(l->socket_fd, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	if (l->unanswered++ == 0)
		l->unanswered_ms = uv_now(l->loop);
	return 0;
}

bool link_is_unresponsive(const struct link *l)
{
	return l->unanswered > 0 && uv_now(l->loop) - l->unanswered_ms > LINK_UNRESPONSIVE_MS;
}

int link_resize(struct link *l, unsigned rows, unsigned cols)
{
	int rc = link_request(l, (struct wire_message){.type = WIRE_RESIZE, .a = rows, .b = cols});
	if (rc == 0)
		l->resizing++;
	return rc;
}

int link_open_terminal(struct link *l)
{
	/* Close an open one first; -ENOENT is ignored. */
	int rc = link_request(l, (struct wire_message){.type = WIRE_STDERR_PTY, .a = 0});
	return rc < 0 ? rc : link_request(l, (struct wire_message){.type = WIRE_STDERR_PTY, .a = 1});
}

int link_signal(struct link *l, int signo, enum wire_target target)
{
	return link_request(
		l, (struct wire_message){.type = WIRE_SIGNAL, .a = (uint32_t)signo, .b = target});
}

int link_end(struct link *l, unsigned grace_ms)
{
	return link_request(l, (struct wire_message){.type = WIRE_END, .a = grace_ms});
}

/* The holder's unix socket: see pty/wire.h. */
#include "pty/holder/holder.h"

#include "pty/fdpass.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

/* Most messages of the previous owner that are handled when a new one attaches. */
#define HOLDER_BACKLOG 1024

static void handle(struct holder *h, int index, struct wire_message *m);

/* Returns the bound socket or a negative errno. */
static int bind_socket(const struct holder *h)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Through the directory's descriptor, because a socket's path has at most 107 bytes. */
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" WIRE_SOCKET,
		h->options.dir_fd);
	mode_t mask = umask(0177);
	int rc = bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ? -errno : fd;
	umask(mask);
	if (rc < 0)
		close(fd);
	return rc;
}

/* listen(2) is called here: its caller is the SO_PEERCRED that the server sees. */
int serve_open(struct holder *h)
{
	for (int i = 0; i < HOLDER_CONNECTIONS; i++)
		h->connections[i] = -1;
	h->owner = h->end_connection = h->terminal_connection = -1;
	int fd = bind_socket(h);
	if (fd < 0)
		return fd;
	if (listen(fd, HOLDER_CONNECTIONS) < 0) {
		int rc = -errno;
		close(fd);
		return rc;
	}
	h->listen_fd = fd;
	return 0;
}

static bool peer_is_allowed(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof peer;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

void serve_accept(struct holder *h)
{
	int fd = accept4(h->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	for (int i = 0; i < HOLDER_CONNECTIONS && peer_is_allowed(fd); i++) {
		if (h->connections[i] < 0) {
			h->connections[i] = fd;
			return;
		}
	}
	close(fd);
}

static void drop(struct holder *h, int index)
{
	close(h->connections[index]);
	h->connections[index] = -1;
	if (h->owner == index)
		h->owner = -1;
	if (h->end_connection == index)
		h->end_connection = -1;
	if (h->terminal_connection == index)
		h->terminal_connection = -1;
}

/* On EPIPE the connection stays until its last requests have been read. */
static void send_message(struct holder *h, int index, const struct wire_message *m)
{
	ssize_t n = send(h->connections[index], m, sizeof *m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n != sizeof *m && !(n < 0 && (errno == EPIPE || errno == ECONNRESET)))
		drop(h, index);
}

/* Answer ATTACH with the descriptors of enum wire_fd. */
static void send_descriptors(struct holder *h, int index, struct wire_message *m)
{
	int fds[WIRE_FDS] = {
		[WIRE_FD_RING] = h->ring_fd,
		[WIRE_FD_CONTROL] = h->control_fd,
		[WIRE_FD_WAKE] = h->wake_fd,
		[WIRE_FD_SPACE] = h->space_fd,
		[WIRE_FD_MASTER] = h->sources[EVENT_SOURCE_TERMINAL].fd,
	};
	if (fdpass_send(h->connections[index], m, sizeof *m, fds, WIRE_FDS,
		    MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		drop(h, index);
}

/* Whether only the attached connection may send this. */
static bool needs_attach(const struct wire_message *m)
{
	return m->type != WIRE_HELLO && m->type != WIRE_ATTACH;
}

/* Handle the requests that the owner has already sent, then drop it: servers rely on them. */
static void finish_owner(struct holder *h)
{
	int previous = h->owner;
	struct wire_message m,
		taken = {.magic = WIRE_MAGIC, .version = WIRE_VERSION, .type = WIRE_TAKEN};
	for (int left = HOLDER_BACKLOG; left > 0 && h->owner == previous; left--) {
		ssize_t n = recv(h->connections[previous], &m, sizeof m, MSG_DONTWAIT);
		if (n != sizeof m || m.magic != WIRE_MAGIC)
			break;
		if (needs_attach(&m))
			handle(h, previous, &m);
	}
	if (h->owner == previous)
		send_message(h, previous, &taken);
	if (h->owner == previous)
		drop(h, previous);
}

static void fill_info(const struct holder *h, struct wire_message *m)
{
	m->u.info = (struct wire_info){
		.epoch = h->ring.header->epoch,
		.holder_pid = h->ring.header->holder_pid,
		.shell_pid = h->ring.header->shell_pid,
		.head = stream_head(&h->ring.bytes),
		.owner = h->options.owner,
	};
}

static void attach(struct holder *h, int index, struct wire_message *m)
{
	fill_info(h, m);
	if (h->owner >= 0 && h->owner != index)
		finish_owner(h);
	h->owner = index;
	send_descriptors(h, index, m);
}

/* Signals that TIOCSIG sends to the foreground group, see pty_signal() in Linux. */
static bool is_terminal_signal(int signo)
{
	return signo == SIGINT || signo == SIGQUIT || signo == SIGTSTP;
}

static int signal_shell(int shell_fd, int signo)
{
	return pidfd_send_signal(shell_fd, signo, NULL, 0) < 0 ? -errno : 0;
}

static int send_signal(struct holder *h, int signo, enum wire_target target)
{
	int master = h->sources[EVENT_SOURCE_TERMINAL].fd;
	if (h->shell == 0)
		return -ESRCH;
	if (target == WIRE_TARGET_SHELL)
		return h->shell_fd < 0 ? -ESRCH : signal_shell(h->shell_fd, signo);
	pid_t group = tcgetpgrp(master);
	if (group > 0 && is_terminal_signal(signo))
		return ioctl(master, TIOCSIG, signo) < 0 ? -errno : 0;
	/* The group may have ended and its id been reused: signal only our descendants. */
	return group > 0 && tree_signal_group(group, signo, 0) > 0 ? 0 : -ESRCH;
}

static int second_terminal(struct holder *h, bool open, char *name)
{
	struct source *s = &h->sources[EVENT_SOURCE_STDERR_PTY];
	if (open)
		return terminal_open_second(h, name);
	if (s->fd < 0)
		return -ENOENT;
	feed_all(h);
	close(s->fd);
	*s = (struct source){.fd = -1};
	return h->options.starter ? starter_client_send_terminal(h, -1) : 0;
}

/* Handle WIRE_STDERR_PTY. With a starter, the answer to an open waits for the starter's. */
static void handle_terminal(struct holder *h, int index, struct wire_message *m)
{
	m->status = h->terminal_connection >= 0 ? -EBUSY : second_terminal(h, m->a != 0, m->u.text);
	if (m->status < 0 || !h->options.starter || m->a == 0) {
		send_message(h, index, m);
		return;
	}
	h->terminal_connection = index;
	h->terminal_answer = *m;
}

void serve_answer_terminal(struct holder *h)
{
	int index = h->terminal_connection;
	h->terminal_connection = -1;
	if (index >= 0)
		send_message(h, index, &h->terminal_answer);
}

/* With a starter, it sends the signal: the processes between holder and starter must not get it. */
static void signal_all(struct holder *h, int signo)
{
	if (h->starter_fd < 0 || starter_client_send(h, STARTER_SIGNAL, signo) < 0)
		tree_signal(signo);
}

/* The latest request is answered: an earlier one is that of an owner that is gone. */
static void start_end(struct holder *h, int index, const struct wire_message *m)
{
	uint64_t kill_at_ms = holder_now_ms() + m->a;
	h->end_connection = index;
	h->end_serial = m->serial;
	if (h->ending && kill_at_ms >= h->kill_at_ms)
		return;
	h->kill_at_ms = kill_at_ms;
	h->give_up_at_ms = kill_at_ms + HOLDER_KILL_TIMEOUT_MS;
	if (h->ending)
		return;
	h->ending = true;
	signal_all(h, SIGHUP);
	signal_all(h, SIGCONT);
}

static void handle(struct holder *h, int index, struct wire_message *m)
{
	m->version = WIRE_VERSION;
	m->status = 0;
	switch (m->type) {
	case WIRE_HELLO:
		fill_info(h, m);
		break;
	case WIRE_ATTACH:
		attach(h, index, m);
		return;
	case WIRE_RESIZE:
		m->status = terminal_resize(h, m->a, m->b);
		break;
	case WIRE_SIGNAL:
		m->status = send_signal(h, (int)m->a, (enum wire_target)m->b);
		break;
	case WIRE_STDERR_PTY:
		handle_terminal(h, index, m);
		return;
	case WIRE_END:
		start_end(h, index, m);
		return;
	default:
		m->status = -EOPNOTSUPP;
	}
	send_message(h, index, m);
}

/* Receive one message, possibly truncated. *ret_has_fds: it came with descriptors, now closed. */
static ssize_t receive(int fd, struct wire_message *m, bool *ret_has_fds)
{
	struct iovec data = {.iov_base = m, .iov_len = sizeof *m};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	*ret_has_fds = n >= 0 && (message.msg_flags & MSG_CTRUNC) != 0;
	return n;
}

void serve_connection(struct holder *h, int index)
{
	struct wire_message m = {0};
	bool has_fds;
	ssize_t n = receive(h->connections[index], &m, &has_fds);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != sizeof m || m.magic != WIRE_MAGIC || has_fds) {
		drop(h, index);
		return;
	}
	if (needs_attach(&m) && index != h->owner) {
		m.status = -EPERM;
		send_message(h, index, &m);
		return;
	}
	handle(h, index, &m);
}

void serve_answer_end(struct holder *h, int survivors)
{
	struct wire_message m = {
		.magic = WIRE_MAGIC,
		.version = WIRE_VERSION,
		.type = WIRE_END,
		.serial = h->end_serial,
		.status = survivors > 0 ? -EBUSY : 0,
		.a = (uint32_t)survivors,
	};
	if (h->end_connection >= 0)
		send_message(h, h->end_connection, &m);
}

/*
 * The holder's end of the starter (see pty/starter.h): executes it and sends and handles messages.
 * Its messages concern only its own session, so only one thing is checked: that the shell's pid,
 * which the kernel adds, is a descendant of the holder.
 */
#include "pty/holder/holder.h"
#include "pty/holder/shell.h"
#include "pty/fdpass.h"
#include "pty/proc/proc.h"
#include "pty/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: execute the starter. The holder sees a failure as the end of the socket. */
static _Noreturn void run(const struct holder *h, int socket_fd, int slave)
{
	const struct holder_options *o = &h->options;
	shell_reset_signals();
	setsid();
	shell_limit_descriptors(o->nofile);
	if (enter_limits(&o->limits) < 0 || dup2(slave, STDOUT_FILENO) < 0 ||
		dup2(socket_fd, STARTER_SOCKET_FD) < 0)
		_exit(ENTER_EXIT);
	fcntl(WIRE_FIXED_FD_SCRIPT, F_SETFD, 0);
	fcntl(WIRE_FIXED_FD_STATE, F_SETFD, 0);
	for (int i = 0; i < HOLDER_FIFOS; i++)
		if (dup2(h->starter_fifos[i], WIRE_FIXED_FD_FIFO + i) < 0)
			_exit(ENTER_EXIT);
	if (o->filter_fd >= 0)
		fcntl(o->filter_fd, F_SETFD, 0);
	execv(o->argv[0], o->argv);
	_exit(ENTER_EXIT);
}

/* The sender's pid, added by the kernel (SO_PASSCRED); 0: none. */
static pid_t sender_of(struct msghdr *message)
{
	struct ucred sender = {0};
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&sender, CMSG_DATA(c), sizeof sender);
	return sender.pid;
}

static ssize_t receive(int fd, struct starter_message *m, pid_t *ret_sender)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec data = {.iov_base = m, .iov_len = sizeof *m};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control};
	ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	*ret_sender = n > 0 ? sender_of(&message) : 0;
	return n;
}

static void close_shell(struct holder *h)
{
	if (h->shell_fd >= 0)
		close(h->shell_fd);
	h->shell_fd = -1;
	h->shell = 0;
}

/* Open a pidfd of the process that becomes the shell, if it is a descendant. */
static void note_entered(struct holder *h, pid_t pid)
{
	if (!h->starting || pid <= 0)
		return;
	close_shell(h);
	h->shell_fd = pidfd_open(pid, 0);
	if (h->shell_fd >= 0 && proc_is_descendant(pid, getpid())) {
		h->shell = pid;
		return;
	}
	struct proc_status s;
	close_shell(h);
	if (!proc_status(pid, &s))
		h->shell = pid; /* it has ended already; STARTER_ENDED follows */
}

static void note_started(struct holder *h)
{
	if (!h->starting)
		return;
	h->starting = false;
	h->start_error = h->shell > 0 ? 0 : -ECHILD;
	h->start_stage = REPORT_EXEC;
	/* Without its pid, STARTER_ENDED would be ignored. */
	if (h->shell_ended && h->start_error == 0)
		feed_shell_restarted(h);
}

static void note_failed(struct holder *h, int stage, int error)
{
	if (!h->starting)
		return;
	h->starting = false;
	h->start_stage = stage >= REPORT_SETUP && stage <= REPORT_EXEC ? (enum report_stage)stage
								       : REPORT_SETUP;
	h->start_error = error < 0 ? error : -EIO;
	close_shell(h);
}

static void note_ended(struct holder *h, int status)
{
	if (h->shell == 0 || h->starting || h->shell_ended)
		return;
	close_shell(h);
	h->shell_ended = true;
	h->exit_status = status;
}

/* The starter has exited or was killed. */
static void lose_starter(struct holder *h)
{
	close(h->starter_fd);
	h->starter_fd = -1;
	note_failed(h, REPORT_SETUP, -ECHILD);
	h->terminal_answer.status = -ESRCH;
	serve_answer_terminal(h);
	/* Its parent's end sends SIGHUP to the shell, or the shell was killed with the sandbox. */
	note_ended(h, SIGHUP);
}

void starter_client_receive(struct holder *h)
{
	struct starter_message m;
	pid_t sender;
	ssize_t n = receive(h->starter_fd, &m, &sender);
	/* ECONNRESET: it ended with unread messages; comes once, before its last messages. */
	if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNRESET))
		return;
	if (n != sizeof m) {
		lose_starter(h);
		return;
	}
	switch (m.type) {
	case STARTER_READY:
		h->starter_pid = m.value;
		break;
	case STARTER_ENTERED:
		note_entered(h, sender);
		break;
	case STARTER_STARTED:
		note_started(h);
		break;
	case STARTER_FAILED:
		note_failed(h, m.value, m.error);
		break;
	case STARTER_ENDED:
		note_ended(h, m.value);
		break;
	case STARTER_STDERR_PTY:
		if (m.value)
			serve_answer_terminal(h);
		break;
	default:
		break;
	}
}

static int wait_for_message(struct holder *h)
{
	struct pollfd p = {.fd = h->starter_fd, .events = POLLIN};
	if (h->starter_fd < 0)
		return -ECHILD;
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	starter_client_receive(h);
	return 0;
}

int starter_client_open(struct holder *h, int slave)
{
	int fds[2], on = 1, rc = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	if (setsockopt(fds[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ||
		fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
		rc = -errno;
	pid_t pid = rc == 0 ? fork() : -1;
	if (pid == 0)
		run(h, fds[1], slave);
	if (rc == 0 && pid < 0)
		rc = -errno;
	close(fds[1]);
	for (int i = 0; i < HOLDER_FIFOS; i++)
		close(h->starter_fifos[i]);
	if (rc < 0) {
		close(fds[0]);
		return rc;
	}
	h->starter_fd = fds[0];
	while (rc == 0 && h->starter_pid == 0)
		rc = wait_for_message(h);
	return rc;
}

int starter_client_send(struct holder *h, enum starter_type type, int value)
{
	const struct starter_message m = {.type = (uint32_t)type, .value = value};
	if (h->starter_fd < 0)
		return -ESRCH;
	return send(h->starter_fd, &m, sizeof m, MSG_NOSIGNAL) == sizeof m ? 0 : -errno;
}

int starter_client_send_terminal(struct holder *h, int slave)
{
	const struct starter_message m = {.type = STARTER_STDERR_PTY};
	if (h->starter_fd < 0)
		return -ESRCH;
	return fdpass_send(h->starter_fd, &m, sizeof m, &slave, slave >= 0, MSG_NOSIGNAL) == sizeof m
		? 0
		: -errno;
}

int starter_client_start_shell(struct holder *h, bool wait)
{
	int rc = starter_client_send(h, STARTER_START, 0);
	if (rc < 0)
		return rc;
	h->starting = true;
	while (wait && h->starting && rc == 0)
		rc = wait_for_message(h);
	return wait ? rc < 0 ? rc : h->start_error : 0;
}

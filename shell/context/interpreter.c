/*
 * The executor's pid comes from the credentials that the kernel attaches to its messages: a wrapper may be
 * between it and the server, and it may be in another pid namespace.
 */
#include "shell/context/interpreter.h"

#include "pty/outbox.h"
#include "shell/json_read.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK ((size_t)32 << 10)         /* bytes of a read */
#define ANSWERS_MAX ((size_t)2 << 20)    /* bytes that wait to be sent */
#define WAKEUP_BYTES ((size_t)256 << 10) /* bytes to read before returning to the loop */

struct interpreter {
	const struct interpreter_callbacks *callbacks;
	void *user;
	struct run *run; /* NULL: it has ended */
	int fd;          /* the server's end */
	uv_poll_t poll;
	struct executor_records in;
	struct outbox out;
	pid_t pid; /* in the server's pid namespace; 0: not known yet */
	int pidfd; /* or -1 */
	bool paused, killed, broken;
};

static void on_poll(uv_poll_t *poll, int status, int events);

static void watch(struct interpreter *e)
{
	int events = e->paused ? 0 : UV_READABLE;
	if (outbox_queued(&e->out) > 0)
		events |= UV_WRITABLE;
	if (events == 0 || e->killed)
		uv_poll_stop(&e->poll);
	else
		uv_poll_start(&e->poll, events, on_poll);
}

void interpreter_kill(struct interpreter *e)
{
	if (e->killed)
		return;
	e->killed = true;
	watch(e);
	if (e->run)
		run_cancel(e->run, 0);
}

static void fail(struct interpreter *e)
{
	e->broken = true;
	interpreter_kill(e);
}

static int send_frame(
	struct interpreter *e, enum executor_record_type type, const char *body, size_t length)
{
	uint8_t header[EXECUTOR_RECORD_HEADER];
	executor_record_header(type, length, header);
	int rc = outbox_put(&e->out, header, sizeof header);
	return rc < 0 ? rc : outbox_put(&e->out, body, length);
}

static void flush(struct interpreter *e)
{
	ssize_t rc = outbox_queued(&e->out) > 0 ? outbox_flush(&e->out, e->fd) : 0;
	if (rc < 0 && rc != -EAGAIN)
		interpreter_kill(e); /* it has closed the socket */
	else
		watch(e);
}

/* Acknowledge a result. An executor that sends results without reading acknowledgements fails. */
static void acknowledge(struct interpreter *e)
{
	if (outbox_queued(&e->out) > ANSWERS_MAX || send_frame(e, EXECUTOR_ACKNOWLEDGE, "", 0) < 0)
		fail(e);
	else
		flush(e);
}

/* Receiving */

static bool on_record(void *user, enum executor_record_type type, const char *body, size_t length)
{
	struct interpreter *e = user;
	if (type == EXECUTOR_HELLO) {
		e->callbacks->ready(e->user);
		return !e->killed;
	}
	run_drain(e->run);
	if (e->killed)
		return false;
	json_t *record = json_read(body, length, JSON_ALLOW_NUL, NULL);
	if (record && !json_is_object(record)) {
		json_decref(record);
		record = NULL;
	}
	e->callbacks->record(e->user, type, record);
	json_decref(record);
	if (!e->killed && type == EXECUTOR_RESULT)
		acknowledge(e);
	return !e->killed;
}

/* The sender of the first message is the executor: no other process has the socket before it runs code. */
static void note_sender(struct interpreter *e, struct msghdr *message)
{
	struct ucred credentials;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c && e->pid == 0;
		c = CMSG_NXTHDR(message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&credentials, CMSG_DATA(c), sizeof credentials);
			e->pid = credentials.pid;
			e->pidfd = e->pid > 0 ? pidfd_open(e->pid, 0) : -1;
		}
}

/* Close descriptors that user code has sent. */
static void close_sent(struct msghdr *message)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len; at += sizeof(int)) {
			int fd;
			memcpy(&fd, (char *)c + at, sizeof fd);
			close(fd);
		}
	}
}

/* Returns the number of bytes, 0 if there are none now, or a negative errno; -EPIPE: end of file. */
static ssize_t receive(struct interpreter *e, uint8_t chunk[CHUNK])
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {.iov_base = chunk, .iov_len = CHUNK};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control};
	ssize_t n;
	do
		n = recvmsg(e->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	close_sent(&message);
	note_sender(e, &message);
	return n == 0 ? -EPIPE : n;
}

static void read_records(struct interpreter *e)
{
	uint8_t chunk[CHUNK];
	for (size_t left = WAKEUP_BYTES; left >= CHUNK && !e->paused && !e->killed; left -= CHUNK) {
		ssize_t n = receive(e, chunk);
		if (n == 0)
			return;
		if (n < 0) {
			interpreter_kill(e); /* it has closed the socket */
			return;
		}
		int rc = executor_records_feed(&e->in, chunk, (size_t)n, on_record, e);
		if (rc < 0 && rc != -ECANCELED)
			fail(e);
	}
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct interpreter *e = poll->data;
	(void)status; /* reading or writing returns the error */
	if (events & UV_WRITABLE)
		flush(e);
	if (!e->killed && (events & UV_READABLE || status < 0))
		read_records(e);
}

static void on_output(void *user, enum run_stream stream, const void *bytes, size_t length)
{
	struct interpreter *e = user;
	e->callbacks->output(e->user, stream, bytes, length);
}

/* The end */

static void on_poll_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void close_all(struct interpreter *e)
{
	uv_close((uv_handle_t *)&e->poll, on_poll_closed);
	close(e->fd);
	if (e->pidfd >= 0)
		close(e->pidfd);
	executor_records_finish(&e->in);
	outbox_drop(&e->out);
}

static void on_done(void *user, const struct run_result *result)
{
	struct interpreter *e = user;
	e->run = NULL;
	e->killed = true;
	e->callbacks->ended(e->user, run_exit_code(result), e->broken);
	close_all(e);
}

/* Starting */

static int put_sources(struct interpreter *e, enum language language)
{
	size_t length;
	const char *source = language_source(language, &length);
	int rc = send_frame(e, EXECUTOR_SOURCE, source, length);
	const char *more = language_extra_source(language, &length);
	return rc == 0 && more ? send_frame(e, EXECUTOR_SOURCE, more, length) : rc;
}

/* Open both ends of the protocol's socket. */
static int open_pair(int *ret_server, int *ret_executor)
{
	int fds[2], on = 1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ||
		setsockopt(fds[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0) {
		int rc = -errno;
		close(fds[0]);
		close(fds[1]);
		return rc;
	}
	*ret_server = fds[0];
	*ret_executor = fds[1];
	return 0;
}

static int start_run(struct interpreter *e, struct runs *runs, const struct interpreter_options *o,
	int executor_fd)
{
	static const struct run_callbacks callbacks = {.output = on_output, .done = on_done};
	const char *command = language_command(o->language);
	const struct run_options options = {.command = command,
		.command_length = strlen(command),
		.cwd = o->cwd,
		.found = o->found,
		.env_names = o->env_names,
		.env_values = o->env_values,
		.env_count = o->env_count,
		.input_fd = executor_fd,
		.whole = true};
	return run_start(runs, &options, &callbacks, e, &e->run);
}

int interpreter_start(uv_loop_t *loop, struct runs *runs, const struct interpreter_options *o,
	const struct interpreter_callbacks *callbacks, void *user, struct interpreter **ret)
{
	struct interpreter *e = calloc(1, sizeof *e);
	int executor_fd = -1;
	if (!e)
		return -ENOMEM;
	e->callbacks = callbacks;
	e->user = user;
	e->pidfd = -1;
	int rc = put_sources(e, o->language);
	if (rc == 0)
		rc = open_pair(&e->fd, &executor_fd);
	if (rc < 0)
		goto err_memory;
	rc = start_run(e, runs, o, executor_fd);
	close(executor_fd);
	if (rc < 0)
		goto err_fd;
	/* This fails only if out of memory, and then libuv aborts. */
	rc = uv_poll_init(loop, &e->poll, e->fd);
	assert(rc == 0);
	e->poll.data = e;
	watch(e);
	*ret = e;
	return 0;
err_fd:
	close(e->fd);
err_memory:
	outbox_drop(&e->out);
	free(e);
	return rc;
}

int interpreter_execute(struct interpreter *e, uint64_t run, const char *code, size_t length)
{
	json_t *request = json_pack(
		"{s:I, s:o}", "run", (json_int_t)run, "code", json_stringn(code, length));
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	json_decref(request);
	int rc = text ? send_frame(e, EXECUTOR_EXECUTE, text, strlen(text)) : -ENOMEM;
	free(text);
	if (rc == 0 && !e->killed)
		flush(e);
	return rc;
}

void interpreter_interrupt(struct interpreter *e, uint64_t run)
{
	char body[48];
	int length = snprintf(body, sizeof body, "{\"run\":%" PRIu64 "}", run);
	/* If the pidfd is alive, the pid was not reused. */
	if (e->killed || e->pidfd < 0 || pidfd_send_signal(e->pidfd, 0, NULL, 0) < 0)
		return;
	if (outbox_queued(&e->out) < ANSWERS_MAX &&
		send_frame(e, EXECUTOR_INTERRUPT, body, (size_t)length) == 0)
		flush(e);
	if (e->killed)
		return;
	if (getpgid(e->pid) == e->pid)
		kill(-e->pid, SIGINT);
	else
		pidfd_send_signal(e->pidfd, SIGINT, NULL, 0);
}

void interpreter_pause(struct interpreter *e, bool pause)
{
	if (e->paused == pause || !e->run)
		return;
	e->paused = pause;
	run_pause(e->run, pause);
	if (!e->killed)
		watch(e);
}

/*
 * Starts a holder, attaches to it and closes the connection; see link.h for the states. All
 * descriptors are watched with uv_poll: libuv's pipes do not keep message boundaries, and the
 * master is never read here. A failure before the link is attached calls failed(), one afterwards
 * lost(), each once.
 */
#include "pty/link_internal.h"
#include "pty/packet.h"
#include "ring/receipts.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void attach_started(struct link *l);

int link_init(struct link *l, uv_loop_t *loop, int dir_fd, const struct link_callbacks *callbacks,
	void *user)
{
	*l = (struct link){
		.callbacks = callbacks,
		.user = user,
		.loop = loop,
		.guard_fd = -1,
		.dir_fd = dir_fd,
		.report_fd = -1,
		.socket_fd = -1,
		.wake_fd = -1,
		.space_fd = -1,
		.master_fd = -1,
	};
	memset(l->spare_fds, -1, sizeof l->spare_fds);
	int rc = uv_timer_init(loop, &l->timer);
	if (rc < 0)
		return rc;
	l->timer.data = l;
	l->open_handles = 1;
	return 0;
}

/* Open a poll handle for fd. It polls nothing before uv_poll_start(). */
static int open_poll(struct link *l, uv_poll_t *poll, int fd, bool *open)
{
	int rc = uv_poll_init(l->loop, poll, fd);
	if (rc < 0)
		return rc;
	poll->data = l;
	l->open_handles++;
	*open = true;
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void release_spare(struct link *l, unsigned count)
{
	for (unsigned i = 0; i < LINK_SPARE_FDS && count > 0; i++)
		if (l->spare_fds[i] >= 0) {
			close_fd(&l->spare_fds[i]);
			count--;
		}
}

/* Reserve descriptors before the shell runs: then attaching cannot fail for lack of them. */
static int reserve_spare(struct link *l)
{
	for (unsigned i = 0; i < LINK_SPARE_FDS; i++) {
		l->spare_fds[i] = fcntl(l->dir_fd, F_DUPFD_CLOEXEC, 0);
		if (l->spare_fds[i] < 0) {
			int rc = -errno;
			release_spare(l, LINK_SPARE_FDS);
			return rc;
		}
	}
	return 0;
}

static void maybe_closed(struct link *l)
{
	if (!l->closing || l->open_handles > 0)
		return;
	l->close_cb(l->user); /* last: it may free l */
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct link *l = handle->data;
	l->open_handles--;
	maybe_closed(l);
}

static void close_poll(uv_poll_t *poll, bool *open, int *fd)
{
	if (*open) {
		uv_close((uv_handle_t *)poll, on_handle_closed);
		*open = false;
	}
	close_fd(fd);
}

/* Kill a started holder that cannot be attached to. On SIGTERM its guard kills it and its descendants. */
static void kill_new_holder(struct link *l)
{
	if (l->guard_fd >= 0)
		(void)pidfd_send_signal(l->guard_fd, SIGTERM, NULL, 0);
	close_fd(&l->guard_fd);
}

/* Starting or attaching has failed. */
static void fail_link(struct link *l, enum report_stage stage, int error)
{
	kill_new_holder(l);
	release_spare(l, LINK_SPARE_FDS);
	l->state = LINK_LOST;
	uv_timer_stop(&l->timer);
	l->callbacks->failed(l->user, stage, error);
}

/* The connection has ended: starting or attaching has failed with error, or the holder is lost. */
static void end_connection(struct link *l, int error, bool taken)
{
	bool was_attached = l->state == LINK_ATTACHED;
	if (l->state == LINK_LOST)
		return;
	close_poll(&l->socket, &l->socket_open, &l->socket_fd);
	/* Close the master, so that the terminal hangs up when the holder is gone. */
	close_poll(&l->master, &l->master_open, &l->master_fd);
	if (!was_attached) {
		fail_link(l, REPORT_SETUP, error);
		return;
	}
	l->state = LINK_LOST;
	l->callbacks->lost(l->user, taken);
}

/* The holder is gone, or (taken) another process keeps it. */
static void lose_link(struct link *l, bool taken)
{
	end_connection(l, -ECONNRESET, taken);
}

static void on_timeout(uv_timer_t *timer)
{
	fail_link(timer->data, REPORT_SETUP, -ETIMEDOUT);
}

static void on_report(uv_poll_t *poll, int status, int events)
{
	struct link *l = poll->data;
	struct report report;
	(void)status;
	(void)events;
	ssize_t n = read(l->report_fd, &report, sizeof report);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	close_poll(&l->report, &l->report_open, &l->report_fd);
	if (n != sizeof report || report.error < 0)
		close_fd(&l->guard_fd); /* the holder exits by itself: do not kill it */
	if (n != sizeof report)
		fail_link(l, REPORT_SETUP, -ECHILD);
	else if (report.error < 0)
		fail_link(l, (enum report_stage)report.stage, report.error);
	else
		attach_started(l);
}

/*
 * Open the directory again, locked, for the holder and its guard. flock(2) locks belong to the open
 * file: if the server shared it, the lock would not show whether they are alive. Returns a
 * descriptor or a negative errno.
 */
static int open_directory(int dir_fd)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/self/fd/%d", dir_fd);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void)flock(dir_fd, LOCK_UN);
	(void)flock(fd, LOCK_EX | LOCK_NB); /* no other process competes for it */
	return fd;
}

static int spawn(struct link *l, const struct spawn_options *options, pid_t *ret_pid)
{
	struct spawn_options o = *options;
	o.dir_fd = open_directory(options->dir_fd);
	if (o.dir_fd < 0)
		return o.dir_fd;
	int rc = spawn_holder(&o, ret_pid, &l->report_fd);
	close(o.dir_fd);
	return rc;
}

int link_start(struct link *l, const struct spawn_options *options, struct reaper *reaper)
{
	pid_t pid;
	assert(l->state == LINK_IDLE);
	int rc = reaper_reserve(reaper);
	if (rc < 0)
		return rc;
	rc = reserve_spare(l);
	if (rc < 0)
		return rc;
	rc = spawn(l, options, &pid);
	if (rc < 0) {
		release_spare(l, LINK_SPARE_FDS);
		return rc;
	}
	/* Before it is added to the reaper: until then the pid is not reused. */
	l->guard_fd = pidfd_open(pid, 0);
	rc = l->guard_fd < 0 ? -errno : 0;
	if (rc < 0)
		kill(pid, SIGTERM); /* the guard kills its descendants */
	reaper_add(reaper, pid);
	if (rc == 0)
		rc = open_poll(l, &l->report, l->report_fd, &l->report_open);
	if (rc == 0)
		rc = uv_poll_start(&l->report, UV_READABLE | UV_DISCONNECT, on_report);
	if (rc < 0) {
		kill_new_holder(l);
		return rc;
	}
	l->state = LINK_STARTING;
	return uv_timer_start(&l->timer, on_timeout, LINK_TIMEOUT_MS, 0);
}

static bool peer_has_our_uid(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof peer;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

/* Connect through the directory's descriptor, because a socket's path has at most 107 bytes. */
static int connect_holder(const struct link *l, int *ret_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" WIRE_SOCKET,
		l->dir_fd);
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
		int rc = -errno;
		close(fd);
		return rc;
	}
	if (!peer_has_our_uid(fd)) {
		close(fd);
		return -EPERM;
	}
	*ret_fd = fd;
	return 0;
}

static void on_wake(uv_poll_t *poll, int status, int events)
{
	struct link *l = poll->data;
	uint64_t count;
	(void)status;
	(void)events;
	(void)!read(l->wake_fd, &count, sizeof count); /* EAGAIN is harmless */
	l->callbacks->wake(l->user);
}

/* Map or watch the descriptors that came with the answer to ATTACH. Takes them. */
static int install_descriptors(struct link *l, const int *fds)
{
	l->wake_fd = fds[WIRE_FD_WAKE];
	l->space_fd = fds[WIRE_FD_SPACE];
	l->master_fd = fds[WIRE_FD_MASTER];
	int rc = ring_open(&l->ring, fds[WIRE_FD_RING]);
	if (rc == 0)
		rc = control_open(&l->control, fds[WIRE_FD_CONTROL]);
	close(fds[WIRE_FD_RING]);
	close(fds[WIRE_FD_CONTROL]);
	if (rc == 0)
		rc = open_poll(l, &l->wake, l->wake_fd, &l->wake_open);
	if (rc == 0)
		rc = uv_poll_start(&l->wake, UV_READABLE, on_wake);
	if (rc == 0)
		rc = open_poll(l, &l->master, l->master_fd, &l->master_open);
	return rc;
}

static void on_attached(struct link *l, struct packet *p)
{
	const struct wire_message *m = &p->message;
	int rc = m->status < 0 ? m->status : p->count < WIRE_FDS ? -EPROTO : 0;
	if (rc == 0) {
		rc = install_descriptors(l, p->fds);
		packet_close_fds(p, WIRE_FDS);
		p->count = 0;
	}
	if (rc < 0) {
		fail_link(l, REPORT_SETUP, rc);
		return;
	}
	uv_timer_stop(&l->timer);
	close_fd(&l->guard_fd);
	l->info = m->u.info;
	l->tail = control_tail(&l->control, stream_head(&l->ring.bytes));
	l->events_tail = control_events_tail(&l->control, stream_head(&l->ring.events));
	receipts_settle(&l->control);
	l->state = LINK_ATTACHED;
	l->callbacks->attached(l->user);
}

/* The link is attached again; its mappings have stayed. */
static void on_regained(struct link *l, const struct wire_message *m)
{
	if (m->status < 0 || m->u.info.epoch != l->info.epoch) {
		lose_link(l, true);
		return;
	}
	l->taken = false;
	l->resizing = 0; /* older resizes will not be answered */
	link_resume_input(l);
	if (l->callbacks->regained)
		l->callbacks->regained(l->user);
}

static void on_resized(struct link *l)
{
	if (l->resizing > 0 && --l->resizing == 0)
		link_resume_input(l);
}

static void on_terminal(struct link *l, struct wire_message *m)
{
	m->u.text[sizeof m->u.text - 1] = '\0';
	l->callbacks->terminal(l->user, m->status == 0 ? m->u.text : NULL);
}

/* The socket's handle is closed, so taken() may call link_reattach(), which opens it again. */
static void on_taken_closed(uv_handle_t *handle)
{
	struct link *l = handle->data;
	bool notify = !l->closing && l->state == LINK_ATTACHED;
	on_handle_closed(handle); /* may free l if it is closing */
	if (notify)
		l->callbacks->taken(l->user);
}

/* Another process has attached. */
static void on_taken(struct link *l)
{
	if (l->state != LINK_ATTACHED) {
		end_connection(l, -EPROTO, false);
		return;
	}
	if (!l->callbacks->taken) {
		lose_link(l, true);
		return;
	}
	l->taken = true;
	l->unanswered = 0;
	l->socket_open = false;
	close_fd(&l->socket_fd);
	uv_close((uv_handle_t *)&l->socket, on_taken_closed);
}

/* The first answer on a new connection, which must be that to ATTACH. */
static void on_first_answer(struct link *l, struct packet *p)
{
	bool attached = p->message.type == WIRE_ATTACH;
	if (l->taken && attached)
		on_regained(l, &p->message);
	else if (l->taken)
		lose_link(l, true);
	else if (attached)
		on_attached(l, p);
	else
		fail_link(l, REPORT_SETUP, -EPROTO);
}

static void on_request_answered(struct link *l, struct wire_message *m)
{
	bool opens = m->a != 0; /* of WIRE_STDERR_PTY: otherwise it closes */
	if (m->type == WIRE_STDERR_PTY && opens && l->callbacks->terminal)
		on_terminal(l, m);
	else if (m->type == WIRE_RESIZE)
		on_resized(l);
	else if (m->type == WIRE_END)
		l->callbacks->ended(l->user, m->status);
}

static void on_message(uv_poll_t *poll, int status, int events)
{
	struct link *l = poll->data;
	struct packet p;
	(void)status;
	(void)events;
	if (l->state == LINK_ATTACHING)
		release_spare(l, LINK_SPARE_FDS); /* for the descriptors of the answer */
	int rc = packet_receive(l->socket_fd, &p);
	if (rc == -EAGAIN)
		return;
	if (rc == 0 && p.message.type != WIRE_TAKEN && l->unanswered > 0)
		l->unanswered--;
	l->unanswered_ms = uv_now(l->loop);
	if (rc < 0)
		end_connection(l, rc == -EPROTO ? rc : -ECONNRESET, false);
	else if (p.message.type == WIRE_TAKEN)
		on_taken(l);
	else if (l->state == LINK_ATTACHING || l->taken)
		on_first_answer(l, &p);
	else
		on_request_answered(l, &p.message);
	if (rc == 0)
		packet_close_fds(&p, 0);
}

static int connect_and_attach(struct link *l)
{
	int rc = connect_holder(l, &l->socket_fd);
	if (rc < 0)
		return rc;
	rc = open_poll(l, &l->socket, l->socket_fd, &l->socket_open);
	if (rc == 0)
		rc = uv_poll_start(&l->socket, UV_READABLE | UV_DISCONNECT, on_message);
	if (rc == 0)
		rc = link_request(l, (struct wire_message){.type = WIRE_ATTACH});
	if (rc < 0)
		close_poll(&l->socket, &l->socket_open, &l->socket_fd);
	return rc;
}

int link_adopt(struct link *l)
{
	release_spare(l, 1); /* for the socket */
	int rc = connect_and_attach(l);
	if (rc == 0)
		l->state = LINK_ATTACHING;
	return rc;
}

int link_reattach(struct link *l)
{
	if (l->state != LINK_ATTACHED || !l->taken)
		return -EINVAL;
	return l->socket_open ? 0 : connect_and_attach(l);
}

void link_abandon(struct link *l, bool taken)
{
	lose_link(l, taken);
}

static void attach_started(struct link *l)
{
	int rc = link_adopt(l);
	if (rc == 0)
		rc = uv_timer_start(&l->timer, on_timeout, LINK_TIMEOUT_MS, 0);
	if (rc < 0)
		fail_link(l, REPORT_SETUP, rc);
}

void link_close(struct link *l, void (*close_cb)(void *user))
{
	assert(!l->closing);
	l->closing = true;
	l->state = LINK_LOST; /* refuses requests and holds */
	l->close_cb = close_cb;
	close_poll(&l->report, &l->report_open, &l->report_fd);
	close_poll(&l->socket, &l->socket_open, &l->socket_fd);
	close_poll(&l->wake, &l->wake_open, &l->wake_fd);
	close_poll(&l->master, &l->master_open, &l->master_fd);
	close_fd(&l->space_fd);
	close_fd(&l->guard_fd);
	close_fd(&l->dir_fd);
	release_spare(l, LINK_SPARE_FDS);
	uv_close((uv_handle_t *)&l->timer, on_handle_closed);
	while (l->holds.first)
		holds_remove(&l->holds, l->holds.first);
	ring_close(&l->ring);
	control_close(&l->control);
	outbox_drop(&l->input);
}

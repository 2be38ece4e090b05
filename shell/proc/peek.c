/* See peek.h. idle -> asked -> idle, or -> hung: then the next request starts another helper. */
#include "shell/proc/peek.h"

#include "pty/fdpass.h"
#include "pty/peeker.h"
#include "pty/proc/proc.h"
#include "pty/spawn.h"
#include "shell/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEEK_NAME_MAX 32u

/* A free entry of p->hung; reaps hung helpers that have exited. NULL: there is none. */
static pid_t *find_hung_slot(struct peek *p)
{
	for (unsigned i = 0; i < PEEK_HUNG_MAX; i++) {
		if (p->hung[i] > 0 && waitpid(p->hung[i], NULL, WNOHANG) != 0)
			p->hung[i] = 0;
		if (p->hung[i] == 0)
			return &p->hung[i];
	}
	return NULL;
}

static void kill_helper(struct peek *p)
{
	if (p->socket_fd > 0)
		close(p->socket_fd);
	p->socket_fd = 0;
	p->waiting = false;
	if (p->pid > 0)
		kill(p->pid, SIGKILL); /* not reaped yet, so the pid cannot have been reused */
}

/* Kill the helper and forget it. If it has not exited yet, find_hung_slot() reaps it later. */
static void discard_helper(struct peek *p)
{
	kill_helper(p);
	if (p->pid > 0 && waitpid(p->pid, NULL, WNOHANG) == 0) {
		pid_t *slot = find_hung_slot(p);
		if (slot)
			*slot = p->pid;
	}
	p->pid = 0;
}

void peek_finish(struct peek *p)
{
	attempts_finish(&p->attempts);
	discard_helper(p);
}

static int fill_actions(posix_spawn_file_actions_t *actions, const void *user)
{
	const int *socket_fd = user;
	int rc = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);
	for (int fd = 1; rc == 0 && fd < 3; fd++)
		rc = posix_spawn_file_actions_adddup2(actions, 0, fd);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, *socket_fd, PEEKER_SOCKET_FD);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, PEEKER_SOCKET_FD + 1);
	return -rc;
}

static int start(struct peek *p)
{
	char *words[] = {(char *)"ringside-holder", (char *)PEEKER_OPTION, NULL}, *none[] = {NULL};
	int fds[2], high[2];
	if (!p->holder)
		return -ENOSYS;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	for (int i = 0; i < 2; i++)
		high[i] = spawn_move_fd_high(fds[i]);
	int rc = high[0] < 0 || high[1] < 0
		? -EMFILE
		: spawn_program(p->holder, words, none, fill_actions, &high[1], &p->pid);
	if (high[1] >= 0)
		close(high[1]);
	if (rc == 0)
		p->socket_fd = high[0];
	else if (high[0] >= 0)
		close(high[0]);
	return rc;
}

void peek_init(struct peek *p)
{
	p->attempts.share_ms = PEEK_SHARE_MS;
	(void)start(p); /* the first request tries again and reports the error */
}

/*
 * Wait up to wait_ms for the answer to the last request; late answers to earlier ones are dropped.
 */
static bool receive_answer(struct peek *p, struct peeker_answer *answer, int wait_ms)
{
	struct pollfd s = {.fd = p->socket_fd, .events = POLLIN};
	while (poll(&s, 1, wait_ms) > 0) {
		ssize_t n = recv(p->socket_fd, answer, sizeof *answer, MSG_DONTWAIT);
		if (n < (ssize_t)offsetof(struct peeker_answer, bytes)) {
			discard_helper(p); /* it has been killed */
			return false;
		}
		if (answer->serial == p->serial) {
			p->waiting = false;
			return true;
		}
	}
	return false;
}

/* Ensure a helper that can take a request. Returns 0 or a negative errno. */
static int prepare(struct peek *p)
{
	struct peeker_answer late;
	if (p->socket_fd > 0 && p->waiting && !receive_answer(p, &late, 0) && p->socket_fd > 0) {
		pid_t *slot = find_hung_slot(p);
		if (!slot || clock_monotonic_ms() < p->asked_ms + PEEK_HUNG_MS)
			return -EBUSY;
		kill_helper(p);
		*slot = p->pid;
		p->pid = 0;
	}
	return p->socket_fd > 0 ? 0 : start(p);
}

static ssize_t ask(struct peek *p, int fd, uint64_t offset, void *dst, size_t length)
{
	struct peeker_request request = {.length = (uint32_t)length, .offset = offset};
	struct peeker_answer answer;
	int rc = prepare(p);
	if (rc < 0)
		return rc;
	request.serial = ++p->serial;
	if (fdpass_send(p->socket_fd, &request, sizeof request, &fd, 1,
		    MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno != ETOOMANYREFS) /* too many descriptors in flight anywhere */
			discard_helper(p);
		return -EAGAIN;
	}
	p->waiting = true;
	p->asked_ms = clock_monotonic_ms();
	if (!receive_answer(p, &answer, PEEK_WAIT_MS))
		return -EAGAIN;
	if (answer.result > 0 && (uint32_t)answer.result > length)
		return -EPROTO;
	if (answer.result > 0)
		memcpy(dst, answer.bytes, (size_t)answer.result);
	return answer.result;
}

/* Opening */

/* A file to open or a link to follow, and the result. */
struct opening {
	struct peek_target target;
	char name[PEEK_NAME_MAX];
	bool any_owner; /* a program of any user */
	int result;     /* a descriptor, the length of the path, or a negative errno */
	uint64_t program;
	char path[PATH_MAX];
};

/* Open the program's /proc directory if its user is ours or the session's, or fail. */
static int open_process(const struct opening *o)
{
	struct proc_status s;
	int fd = proc_open(o->target.pid);
	if (fd < 0 || o->any_owner)
		return fd;
	if (proc_status_at(fd, &s) && (s.owner == geteuid() || s.owner == o->target.owner))
		return fd;
	close(fd);
	return -EACCES;
}

static void open_file(struct attempt *t, void *data)
{
	struct opening *o = data;
	int process = open_process(o);
	(void)t;
	o->result = process;
	if (process < 0)
		return;
	int fd = openat(process, o->name, O_RDONLY | O_CLOEXEC);
	o->result = fd < 0 ? -errno : fd;
	close(process);
}

static void close_file(void *data)
{
	const struct opening *o = data;
	if (o->result >= 0)
		close(o->result);
}

static void follow_link(struct attempt *t, void *data)
{
	struct opening *o = data;
	(void)t;
	o->result = (int)proc_read_link(o->target.pid, o->name, o->path, sizeof o->path);
}

/*
 * AT_STATX_DONT_SYNC: the inode number is in the kernel's cache, so the file system is not asked.
 */
static void find_program(struct attempt *t, void *data)
{
	char path[32];
	struct statx st;
	struct opening *o = data;
	(void)t;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)o->target.pid);
	int rc = statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, &st);
	o->result = rc < 0 ? -errno : 0;
	o->program = rc < 0
		? 0
		: st.stx_ino ^ (uint64_t)makedev(st.stx_dev_major, st.stx_dev_minor) << 40;
}

/* Do one of these in an attempt: the caller's, or a new one. */
static int make_attempt(struct peek *p, struct opening *o,
	void (*work)(struct attempt *t, void *data), void (*discard)(void *data))
{
	const struct attempt_call call = {o->target.session, work, discard};
	o->result = -ECANCELED;
	if (o->target.attempt) {
		work(o->target.attempt, o);
		return o->result;
	}
	int rc = attempt_run(&p->attempts, &call, o, sizeof *o);
	return rc < 0 ? rc : o->result;
}

static int open_in(struct peek *p, struct peek_target target, const char *name)
{
	struct opening o = {.target = target};
	if ((size_t)snprintf(o.name, sizeof o.name, "%s", name) >= sizeof o.name)
		return -ENAMETOOLONG;
	return make_attempt(p, &o, open_file, close_file);
}

ssize_t peek_link(
	struct peek *p, struct peek_target target, const char *name, char *ret_path, size_t size)
{
	struct opening o = {.target = target};
	snprintf(o.name, sizeof o.name, "%s", name);
	int length = target.pid > 0 ? make_attempt(p, &o, follow_link, NULL) : 0;
	size_t copied = length > 0 && (size_t)length < size ? (size_t)length : 0;
	memcpy(ret_path, o.path, copied);
	ret_path[copied] = '\0';
	return length < 0 ? length : (ssize_t)copied;
}

uint64_t peek_program(struct peek *p, struct peek_target target)
{
	struct opening o = {.target = target};
	return make_attempt(p, &o, find_program, NULL) == 0 ? o.program : 0;
}

/* Reading */

/* Fails in an attempt that has been abandoned or has taken too long. */
static ssize_t read_at(struct peek *p, const struct peek_target *target, int fd, uint64_t offset,
	void *dst, size_t length)
{
	if (attempt_age_ms(target->attempt) >= PEEK_LOOK_MS)
		return -EBUSY;
	if (!attempt_lock(target->attempt))
		return -ECANCELED;
	ssize_t n = ask(p, fd, offset, dst, length);
	attempt_unlock(target->attempt);
	return n;
}

bool peek_memory(
	struct peek *p, struct peek_target target, uint64_t address, void *dst, size_t length)
{
	int fd = length <= PEEKER_BYTES_MAX ? open_in(p, target, "mem") : -1;
	if (fd < 0)
		return false;
	ssize_t n = read_at(p, &target, fd, address, dst, length);
	close(fd);
	return n == (ssize_t)length;
}

/*
 * Read the beginning of an open file and close it. fd: may be a negative errno, which is returned.
 */
static ssize_t read_beginning(
	struct peek *p, const struct peek_target *target, int fd, unsigned char *dst, size_t size)
{
	size_t done = 0;
	ssize_t n = fd < 0 ? fd : 1;
	while (n > 0 && done < size) {
		size_t most = size - done < PEEKER_BYTES_MAX ? size - done : PEEKER_BYTES_MAX;
		n = read_at(p, target, fd, done, dst + done, most);
		done += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return n < 0 ? n : (ssize_t)done;
}

ssize_t peek_file(
	struct peek *p, struct peek_target target, const char *name, void *dst, size_t size)
{
	return read_beginning(p, &target, open_in(p, target, name), dst, size);
}

/* "cmdline" can be opened without an attempt: that never blocks. */
ssize_t peek_arguments(struct peek *p, struct peek_target target, void *dst, size_t size)
{
	struct opening o = {.target = target, .name = "cmdline", .any_owner = true};
	open_file(target.attempt, &o);
	return read_beginning(p, &target, o.result, dst, size);
}

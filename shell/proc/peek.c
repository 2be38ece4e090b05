/* See peek.h. idle -> asked -> idle, or -> hung: then another process is started at the next question. */
#include "shell/proc/peek.h"

#include "pty/pass.h"
#include "pty/peeker.h"
#include "pty/proc/proc.h"
#include "pty/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIRST_FREE_FD 16 /* our own ends lie above, so that dup2 in the child overwrites none */

static uint64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A place for one that hangs; those that have ended after all give theirs back. NULL: there is none. */
static pid_t *free_place(struct peek *p)
{
	for (unsigned i = 0; i < PEEK_HUNG_MAX; i++)
		if (p->hung[i] == 0 || waitpid(p->hung[i], NULL, WNOHANG) != 0)
			return &p->hung[i];
	return NULL;
}

static void drop(struct peek *p)
{
	if (p->socket_fd > 0)
		close(p->socket_fd);
	p->socket_fd = 0;
	p->waiting = false;
	if (p->pid > 0)
		kill(p->pid, SIGKILL); /* not waited for yet, so the pid is its own */
}

/* Another one may be started. That one is reaped when a place is wanted, if it has not ended yet. */
static void replace(struct peek *p)
{
	drop(p);
	if (p->pid > 0 && waitpid(p->pid, NULL, WNOHANG) == 0) {
		pid_t *place = free_place(p);
		if (place)
			*place = p->pid;
	}
	p->pid = 0;
}

void peek_finish(struct peek *p)
{
	replace(p);
}

static int fill_actions(posix_spawn_file_actions_t *actions, int socket_fd)
{
	int rc = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);
	for (int fd = 1; rc == 0 && fd < 3; fd++)
		rc = posix_spawn_file_actions_adddup2(actions, 0, fd);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, socket_fd, PEEKER_SOCKET);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, PEEKER_SOCKET + 1);
	return -rc;
}

static int spawn_with(const char *holder, int socket_fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char *words[] = {(char *)"ringside-holder", (char *)PEEKER_OPTION, NULL}, *none[] = {NULL};
	int rc = -posix_spawn_file_actions_init(&actions);
	if (rc < 0)
		return rc;
	rc = -posix_spawnattr_init(&attributes);
	if (rc == 0) {
		rc = fill_actions(&actions, socket_fd);
		if (rc == 0)
			rc = spawn_attributes(&attributes);
		if (rc == 0)
			rc = -posix_spawn(ret_pid, holder, &actions, &attributes, words, none);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static int start(struct peek *p)
{
	int fds[2], high[2];
	if (!p->holder)
		return -ENOSYS;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
		close(fds[i]);
	}
	int rc = high[0] < 0 || high[1] < 0 ? -EMFILE : spawn_with(p->holder, high[1], &p->pid);
	if (high[1] >= 0)
		close(high[1]);
	if (rc == 0)
		p->socket_fd = high[0];
	else if (high[0] >= 0)
		close(high[0]);
	return rc;
}

void peek_begin(struct peek *p)
{
	(void)start(p); /* the first question tries again, and says why not */
}

/* Take an answer, if it is there within so long. Returns whether it is that to the last request. */
static bool hear(struct peek *p, struct peeker_answer *answer, int wait_ms)
{
	struct pollfd s = {.fd = p->socket_fd, .events = POLLIN};
	while (poll(&s, 1, wait_ms) > 0) {
		ssize_t n = recv(p->socket_fd, answer, sizeof *answer, MSG_DONTWAIT);
		if (n < (ssize_t)offsetof(struct peeker_answer, bytes)) {
			replace(p); /* it has been killed */
			return false;
		}
		if (answer->serial == p->serial) {
			p->waiting = false;
			return true;
		}
	}
	return false;
}

/* Have a process that can be asked. */
static int prepare(struct peek *p)
{
	struct peeker_answer late;
	if (p->socket_fd > 0 && p->waiting && !hear(p, &late, 0) && p->socket_fd > 0) {
		pid_t *place = free_place(p);
		if (!place || now_ms() < p->asked_ms + PEEK_HUNG_MS)
			return -EBUSY;
		drop(p);
		*place = p->pid;
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
	if (pass_send(p->socket_fd, &request, sizeof request, fd, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		replace(p);
		return -EAGAIN;
	}
	p->waiting = true;
	p->asked_ms = now_ms();
	if (!hear(p, &answer, PEEK_WAIT_MS))
		return -EAGAIN;
	if (answer.result > 0 && (uint32_t)answer.result <= length)
		memcpy(dst, answer.bytes, (size_t)answer.result);
	return answer.result;
}

/* owner: see peek.h; only of programs of these users. NULL: of any. */
static int open_file(pid_t pid, const char *name, const uid_t *owner)
{
	struct stat st;
	int process = proc_open(pid);
	if (process < 0)
		return process;
	int rc = fstat(process, &st) < 0 ? -errno : 0;
	if (rc == 0 && owner && st.st_uid != geteuid() && st.st_uid != *owner)
		rc = -EACCES;
	if (rc == 0) {
		rc = openat(process, name, O_RDONLY | O_CLOEXEC);
		rc = rc < 0 ? -errno : rc;
	}
	close(process);
	return rc;
}

bool peek_memory(
	struct peek *p, struct peek_target target, uint64_t address, void *dst, size_t length)
{
	int fd = length <= PEEKER_BYTES_MAX ? open_file(target.pid, "mem", &target.owner) : -1;
	if (fd < 0)
		return false;
	ssize_t n = ask(p, fd, address, dst, length);
	close(fd);
	return n == (ssize_t)length;
}

/* Read the beginning of an open file. Takes the descriptor, or passes a negative errno on. */
static ssize_t read_beginning(struct peek *p, int fd, unsigned char *dst, size_t size)
{
	size_t done = 0;
	ssize_t n = fd < 0 ? fd : 1;
	while (n > 0 && done < size) {
		size_t most = size - done < PEEKER_BYTES_MAX ? size - done : PEEKER_BYTES_MAX;
		n = ask(p, fd, done, dst + done, most);
		done += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return n < 0 ? n : (ssize_t)done;
}

ssize_t peek_file(
	struct peek *p, struct peek_target target, const char *name, void *dst, size_t size)
{
	return read_beginning(p, open_file(target.pid, name, &target.owner), dst, size);
}

ssize_t peek_arguments(struct peek *p, pid_t pid, void *dst, size_t size)
{
	return read_beginning(p, open_file(pid, "cmdline", NULL), dst, size);
}

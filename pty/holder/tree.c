/*
 * Ending a session's processes. The holder is their subreaper: whoever loses its parent becomes our
 * child. So it is enough to signal our children, again and again until none is left; however deep
 * the tree, its orphans come to us. That none is left is what waitpid(2) says; who they are is found in
 * /proc, read with plain system calls.
 *
 * Who forks all the time must not get away between two looks. All are stopped before the first is killed,
 * so that nobody answers another's end with a new process. And the group of each gets the signal as well:
 * the kernel does that in one go with regard to fork(2), so a chain of processes that each fork and end is
 * caught whole. Everything in the group of a child is ours, for it has never left a kernel session that began
 * with one of ours; our own group is spared.
 */
#include "pty/holder/holder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUFFER 8192
#define DEPTH_MAX 64 /* of what is below a holder or a runner */
#define TERMINATE_DEPTH_MAX 32u
#define CHILDREN_TEXT 4096 /* bytes of a list of children that are read */
#define GROUPS \
	16 /* that are remembered, so that a big one does not get the signal for each of its members */

/* As getdents64(2) lays it out. */
struct entry {
	uint64_t inode;
	int64_t next;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* What each child is to get. */
struct call {
	int signo;
	bool groups; /* and so is its group */
	pid_t own;   /* our group */
	pid_t done[GROUPS];
	unsigned next;
	int count; /* of children */
};

static bool is_done(const struct call *c, pid_t group)
{
	for (unsigned i = 0; i < GROUPS; i++)
		if (c->done[i] == group)
			return true;
	return false;
}

/* Nobody else reaps our children, so the number cannot have changed hands. */
static void call_child(struct call *c, pid_t pid)
{
	pid_t group = c->groups ? getpgid(pid) : 0;
	c->count++;
	if (c->signo == 0)
		return;
	if (group > 1 && group != c->own && !is_done(c, group)) {
		kill(-group, c->signo);
		c->done[c->next++ % GROUPS] = group;
	}
	kill(pid, c->signo);
}

/* The parent of a process, or -1. See proc(5), /proc/PID/stat. */
static pid_t parent_of(int proc_fd, const char *name)
{
	char path[64], text[512];
	snprintf(path, sizeof path, "%.32s/stat", name);
	int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	/* The command's name may contain anything, so look for the last parenthesis: ") S PPID". */
	const char *end = strrchr(text, ')');
	if (!end || strlen(end) < 5)
		return -1;
	return (pid_t)strtol(end + 4, NULL, 10);
}

bool tree_is_below(pid_t pid, pid_t root)
{
	char name[16];
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return false;
	for (int steps = 0; pid > 1 && pid != root && steps < DEPTH_MAX; steps++) {
		snprintf(name, sizeof name, "%d", (int)pid);
		pid = parent_of(proc_fd, name);
	}
	close(proc_fd);
	return pid == root;
}

/* Look at all processes of the machine, where the kernel does not tell who the children are. */
static void search(struct call *c)
{
	_Alignas(struct entry) char buffer[BUFFER];
	pid_t self = getpid();
	long n;
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return;
	while ((n = syscall(SYS_getdents64, proc_fd, buffer, sizeof buffer)) > 0) {
		for (long at = 0; at < n;) {
			const struct entry *e = (const struct entry *)(const void *)(buffer + at);
			at += e->length;
			if (e->name[0] >= '1' && e->name[0] <= '9' &&
				parent_of(proc_fd, e->name) == self)
				call_child(c, (pid_t)strtol(e->name, NULL, 10));
		}
	}
	close(proc_fd);
}

/* Numbers, each with a space behind it. Who is missed because others end meanwhile is found the next time. */
static void read_children(struct call *c, int fd)
{
	char buffer[BUFFER];
	pid_t pid = 0;
	ssize_t n;
	while ((n = read(fd, buffer, sizeof buffer)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (buffer[i] >= '0' && buffer[i] <= '9') {
				pid = 10 * pid + (buffer[i] - '0');
			} else if (pid > 0) {
				call_child(c, pid);
				pid = 0;
			}
		}
	}
	if (pid > 0)
		call_child(c, pid);
}

/* We have one thread, so its children are all that we have. Returns false where it took a search. */
static bool call_children(struct call *c)
{
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		search(c);
		return false;
	}
	read_children(c, fd);
	close(fd);
	return true;
}

/* SIGTERM to everything below a process, the deepest first; and SIGCONT, so that it is seen. */
static void terminate_below(pid_t pid, unsigned depth)
{
	char path[64], text[CHILDREN_TEXT];
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	char *at = text, *end;
	for (long child; (child = strtol(at, &end, 10)) > 0 && end != at; at = end) {
		int pidfd = pidfd_open((pid_t)child, 0);
		/* The descriptor came first: it is of the child, or of nothing. */
		if (pidfd >= 0 && tree_is_below((pid_t)child, getpid())) {
			if (depth < TERMINATE_DEPTH_MAX)
				terminate_below((pid_t)child, depth + 1);
			(void)pidfd_send_signal(pidfd, SIGTERM, NULL, 0);
			(void)pidfd_send_signal(pidfd, SIGCONT, NULL, 0);
		}
		if (pidfd >= 0)
			close(pidfd);
	}
}

void tree_terminate(void)
{
	terminate_below(getpid(), 0);
}

int tree_signal(int signo)
{
	struct call c = {.signo = signo};
	call_children(&c);
	return c.count;
}

bool tree_kill(void)
{
	struct call stop = {.signo = SIGSTOP, .groups = true, .own = getpgrp()};
	struct call end = {.signo = SIGKILL, .groups = true, .own = stop.own};
	call_children(&stop);
	return call_children(&end);
}

/* See proc.h. Plain system calls: the holder, which uses this, allocates nothing. */
#include "pty/proc/proc.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUFFER 8192

/* Fields of "stat" behind the name, by their numbers in proc(5). */
enum {
	FIELD_PARENT = 4,
	FIELD_GROUP = 5,
	FIELD_TTY = 7,
	FIELD_UTIME = 14,
	FIELD_STIME = 15,
	FIELD_THREADS = 20,
	FIELD_START = 22,
	FIELDS
};

/* As getdents64(2) lays it out. */
struct entry {
	uint64_t inode;
	int64_t next;
	unsigned short length;
	unsigned char type;
	char name[];
};

bool proc_parse(const char *text, struct proc_stat *ret_stat)
{
	unsigned long long field[FIELDS];
	struct proc_stat s = {0};
	char *at;
	/* The name is in parentheses and may have anything in it. */
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	s.pid = (pid_t)strtol(text, &at, 10);
	if (at == text || !open || !close || close < open || close[1] != ' ' || !close[2])
		return false;
	size_t length = (size_t)(close - open - 1);
	if (length >= sizeof s.name)
		length = sizeof s.name - 1;
	memcpy(s.name, open + 1, length);
	s.state = close[2];
	const char *from = close + 3;
	for (int i = FIELD_PARENT; i < FIELDS; i++, from = at) {
		field[i] = strtoull(from, &at, 10); /* a negative one wraps, and back again */
		if (at == from)
			return false;
	}
	s.parent = (pid_t)field[FIELD_PARENT];
	s.group = (pid_t)field[FIELD_GROUP];
	s.terminal = (unsigned)field[FIELD_TTY];
	s.threads = (unsigned)field[FIELD_THREADS];
	s.cpu_ticks = (uint64_t)(field[FIELD_UTIME] + field[FIELD_STIME]);
	s.start_ticks = (uint64_t)field[FIELD_START];
	*ret_stat = s;
	return true;
}

int proc_open(pid_t pid)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

ssize_t proc_read(int process_fd, const char *name, char *text, size_t size)
{
	int fd = openat(process_fd, name, O_RDONLY | O_CLOEXEC);
	text[0] = '\0';
	if (fd < 0)
		return -errno;
	ssize_t n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

bool proc_stat_at(int process_fd, struct proc_stat *ret_stat)
{
	char text[PROC_STAT_MAX];
	return proc_read(process_fd, "stat", text, sizeof text) > 0 && proc_parse(text, ret_stat);
}

bool proc_stat(pid_t pid, struct proc_stat *ret_stat)
{
	char path[32], text[PROC_STAT_MAX];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	return proc_read(AT_FDCWD, path, text, sizeof text) > 0 && proc_parse(text, ret_stat);
}

bool proc_is_living(const struct proc_stat *s)
{
	/* What has other threads lives on when the first one has ended. */
	return (s->state != 'Z' || s->threads > 1) && s->state != 'X' && s->state != 'x';
}

size_t proc_link(pid_t pid, const char *name, char *ret_path, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%.20s", (int)pid, name);
	ssize_t n = pid > 0 ? readlink(path, ret_path, size) : 0;
	size_t length = n > 0 && (size_t)n < size ? (size_t)n : 0;
	ret_path[length] = '\0';
	return length;
}

bool proc_is_below(pid_t pid, pid_t root)
{
	struct proc_stat s;
	for (unsigned steps = 0; pid > 1 && pid != root && steps < PROC_DEPTH_MAX; steps++)
		pid = proc_stat(pid, &s) ? s.parent : 0;
	return pid == root;
}

pid_t proc_inner_pid(pid_t pid)
{
	char path[32], text[PROC_STATUS_MAX];
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	ssize_t n = proc_read(AT_FDCWD, path, text, sizeof text);
	char *line = n > 0 ? strstr(text, "\nNSpid:") : NULL;
	if (!line)
		return 0;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	const char *last = strrchr(line, '\t');
	return last ? (pid_t)strtol(last + 1, NULL, 10) : 0;
}

/* Children */

bool proc_lists_children(void)
{
	return access("/proc/thread-self/children", F_OK) == 0;
}

size_t proc_children(pid_t pid, const char *thread, pid_t *ret_list, size_t max, bool *ret_more)
{
	char path[80], text[PROC_CHILDREN_MAX + 1] = "";
	size_t count = 0;
	if (thread)
		snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, thread);
	else
		snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
	ssize_t n = proc_read(AT_FDCWD, path, text, sizeof text);
	*ret_more = n == PROC_CHILDREN_MAX;
	while (n > 0 && count < max) {
		while (n > 0 && !isdigit((unsigned char)text[n - 1]))
			text[--n] = '\0';
		while (n > 0 && isdigit((unsigned char)text[n - 1]))
			n--;
		if (isdigit((unsigned char)text[n]))
			ret_list[count++] = (pid_t)strtol(text + n, NULL, 10);
	}
	*ret_more = *ret_more || n > 0;
	return count;
}

/* Numbers, each with a space behind it. Returns whether to go on. */
static bool visit_numbers(int fd, bool (*visit)(void *user, pid_t pid), void *user)
{
	char buffer[BUFFER];
	pid_t pid = 0;
	ssize_t n;
	while ((n = read(fd, buffer, sizeof buffer)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (isdigit((unsigned char)buffer[i])) {
				pid = 10 * pid + (buffer[i] - '0');
			} else if (pid > 0) {
				if (!visit(user, pid))
					return false;
				pid = 0;
			}
		}
	}
	return pid == 0 || visit(user, pid);
}

/* Those entries of a directory that are numbers. */
static int each_number(const char *path, bool (*visit)(void *user, pid_t pid), void *user)
{
	_Alignas(struct entry) char buffer[BUFFER];
	bool on = true;
	long n;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (on && (n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
		for (long at = 0; on && at < n;) {
			const struct entry *e = (const struct entry *)(const void *)(buffer + at);
			at += e->length;
			if (isdigit((unsigned char)e->name[0]))
				on = visit(user, (pid_t)strtol(e->name, NULL, 10));
		}
	}
	close(fd);
	return 0;
}

struct threads {
	pid_t pid;
	bool (*visit)(void *user, pid_t child);
	void *user;
};

static bool visit_thread(void *user, pid_t thread)
{
	const struct threads *t = user;
	char path[80];
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)t->pid, (int)thread);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	bool on = visit_numbers(fd, t->visit, t->user);
	close(fd);
	return on;
}

void proc_each_child(pid_t pid, bool (*visit)(void *user, pid_t child), void *user)
{
	char path[40];
	struct threads t = {pid, visit, user};
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	(void)each_number(path, visit_thread, &t);
}

int proc_each(bool (*visit)(void *user, pid_t pid), void *user)
{
	return each_number("/proc", visit, user);
}

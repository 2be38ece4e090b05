/* See proc.h. System calls instead of readdir(3), because the holder must not allocate memory. */
#include "pty/proc/proc.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUFFER 8192

/* Fields of "stat", see proc(5): the first after the name, and the start time. */
#define FIELD_STATE 3
#define FIELD_START 22

/* struct linux_dirent64 of getdents64(2). */
struct entry {
	uint64_t inode;
	int64_t next;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* Value of a line of "status". name: from the newline before it to the tab. NULL: no such line. */
static const char *value_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	return at ? at + strlen(name) : NULL;
}

/* The kernel escapes backslashes and newlines in the name. */
static void parse_name(const char *text, char ret_name[PROC_NAME])
{
	size_t length = 0;
	for (; *text && *text != '\n' && length < PROC_NAME - 1; text++) {
		bool escaped = *text == '\\' && (text[1] == '\\' || text[1] == 'n');
		text += escaped;
		ret_name[length++] = (char)(escaped && *text == 'n' ? '\n' : *text);
	}
	ret_name[length] = '\0';
}

bool proc_parse_status(const char *text, struct proc_status *ret_status)
{
	struct proc_status s = {0};
	const char *state = value_of(text, "\nState:\t"), *pid = value_of(text, "\nPid:\t"),
		   *parent = value_of(text, "\nPPid:\t"), *owner = value_of(text, "\nUid:\t"),
		   *threads = value_of(text, "\nThreads:\t");
	char *end;
	if (strncmp(text, "Name:\t", 6) != 0 || !state || !*state || !pid || !parent || !owner)
		return false;
	parse_name(text + 6, s.name);
	s.state = *state;
	s.pid = (pid_t)strtol(pid, NULL, 10);
	s.parent = (pid_t)strtol(parent, NULL, 10);
	(void)strtoul(owner, &end, 10); /* the real uid */
	s.owner = (uid_t)strtoul(end, NULL, 10);
	s.threads = threads ? (unsigned)strtoul(threads, NULL, 10) : 0;
	if (s.pid <= 0 || s.parent < 0)
		return false;
	*ret_status = s;
	return true;
}

bool proc_parse_start_time(const char *text, uint64_t *ret_ticks)
{
	/* The name is in parentheses and may contain parentheses. */
	const char *close = strrchr(text, ')');
	unsigned long long value = 0;
	if (!close || close[1] != ' ' || !close[2])
		return false;
	const char *from = close + 3;
	for (int i = FIELD_STATE + 1; i <= FIELD_START; i++) {
		char *end;
		value = strtoull(from, &end, 10); /* negative fields wrap */
		if (end == from)
			return false;
		from = end;
	}
	*ret_ticks = value;
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

/* status, task: paths relative to dir_fd. */
static bool read_status(
	int dir_fd, const char *status, const char *task, struct proc_status *ret_status)
{
	char text[PROC_STATUS_MAX] = "";
	struct stat st;
	if (proc_read(dir_fd, status, text, sizeof text) <= 0 ||
		!proc_parse_status(text, ret_status))
		return false;
	/* A long list of groups may hide "Threads". Each thread is a directory. */
	if (ret_status->threads == 0 && fstatat(dir_fd, task, &st, 0) == 0 && st.st_nlink > 2)
		ret_status->threads = (unsigned)st.st_nlink - 2;
	return true;
}

bool proc_status_at(int process_fd, struct proc_status *ret_status)
{
	return read_status(process_fd, "status", "task", ret_status);
}

bool proc_status(pid_t pid, struct proc_status *ret_status)
{
	char status[32], task[32];
	snprintf(status, sizeof status, "/proc/%d/status", (int)pid);
	snprintf(task, sizeof task, "/proc/%d/task", (int)pid);
	return read_status(AT_FDCWD, status, task, ret_status);
}

bool proc_start_time_at(int process_fd, uint64_t *ret_ticks)
{
	char text[PROC_STAT_MAX];
	return proc_read(process_fd, "stat", text, sizeof text) > 0 &&
		proc_parse_start_time(text, ret_ticks);
}

bool proc_is_alive(const struct proc_status *s)
{
	/* A zombie main thread may have live siblings. */
	return (s->state != 'Z' || s->threads > 1) && s->state != 'X' && s->state != 'x';
}

size_t proc_read_link(pid_t pid, const char *name, char *ret_path, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%.20s", (int)pid, name);
	ssize_t n = pid > 0 ? readlink(path, ret_path, size) : 0;
	size_t length = n > 0 && (size_t)n < size ? (size_t)n : 0;
	ret_path[length] = '\0';
	return length;
}

bool proc_is_descendant(pid_t pid, pid_t root)
{
	struct proc_status s;
	for (unsigned steps = 0; pid > 1 && pid != root && steps < PROC_DEPTH_MAX; steps++)
		pid = proc_status(pid, &s) ? s.parent : 0;
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

bool proc_can_list_children(void)
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

/* Visit pids, each followed by a space. Returns whether to go on. */
static bool visit_pids(int fd, bool (*visit)(void *user, pid_t pid), void *user)
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

/* Visit the entries of a directory that are pids. */
static int each_pid(const char *path, bool (*visit)(void *user, pid_t pid), void *user)
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

/* For visit_thread(). */
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
	bool on = visit_pids(fd, t->visit, t->user);
	close(fd);
	return on;
}

void proc_each_child(pid_t pid, bool (*visit)(void *user, pid_t child), void *user)
{
	char path[40];
	struct threads t = {pid, visit, user};
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	(void)each_pid(path, visit_thread, &t);
}

int proc_each(bool (*visit)(void *user, pid_t pid), void *user)
{
	return each_pid("/proc", visit, user);
}

/*
 * See foreground.h. There is no list of a process group's members: they are found from the group's leader, its
 * brothers (a pipeline) and all their children; when the leader has ended, from the session's processes downwards.
 */
#include "shell/proc/foreground.h"

#include "shell/proc/peek.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PTS_MAJOR 136u         /* devices.txt of Linux: Unix98 PTY slaves */
#define DESCENT_MAX 8u         /* of children's children */
#define CHILDREN_MAX 4096u     /* bytes of a list of children that are read */
#define START_PRECISION_MS 12u /* of when a process was started: a tick, and reading clocks */

/* proc(5): fields of "stat" behind the name, by number. */
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

/* A look that is under way. */
struct look {
	struct foreground *f;
	struct peek *peek;
	uid_t owner;
	dev_t terminal;
	unsigned terminal_number;         /* as "stat" has it */
	pid_t seen[FOREGROUND_PROCESSES]; /* those before `done` have been looked at */
	unsigned count, done;
	unsigned threads; /* that may still be looked at */
	unsigned members, stopped;
	bool through; /* also below those that do not belong to the group */
};

bool foreground_parse(const char *text, struct foreground_stat *ret_stat)
{
	long long field[FIELDS];
	struct foreground_stat stat = {0};
	char *at;
	/* The name is in parentheses and may have anything in it. */
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	stat.pid = (pid_t)strtol(text, &at, 10);
	if (at == text || !open || !close || close < open || close[1] != ' ' || !close[2])
		return false;
	size_t length = (size_t)(close - open - 1);
	if (length >= sizeof stat.name)
		length = sizeof stat.name - 1;
	memcpy(stat.name, open + 1, length);
	stat.state = close[2];
	const char *from = close + 3;
	for (int i = FIELD_PARENT; i < FIELDS; i++, from = at) {
		field[i] = strtoll(from, &at, 10);
		if (at == from)
			return false;
	}
	stat.parent = (pid_t)field[FIELD_PARENT];
	stat.group = (pid_t)field[FIELD_GROUP];
	stat.terminal = (unsigned)field[FIELD_TTY];
	stat.threads = (unsigned)field[FIELD_THREADS];
	stat.cpu_ticks = (uint64_t)(field[FIELD_UTIME] + field[FIELD_STIME]);
	stat.start_ticks = (uint64_t)field[FIELD_START];
	*ret_stat = stat;
	return true;
}

static int open_process(pid_t pid)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static ssize_t read_file(int dir_fd, const char *name, char *text, size_t size)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, text, size);
	close(fd);
	return n;
}

static bool read_stat(int process_fd, struct foreground_stat *ret_stat)
{
	char text[1024];
	ssize_t n = read_file(process_fd, "stat", text, sizeof text - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return foreground_parse(text, ret_stat);
}

static void add(struct look *l, pid_t pid)
{
	for (unsigned i = 0; i < l->count; i++)
		if (l->seen[i] == pid)
			return;
	if (l->count == FOREGROUND_PROCESSES)
		l->f->truncated = true;
	else
		l->seen[l->count++] = pid;
}

/* The numbers of a list of children, the youngest first. Returns how many; *ret_more: there may be others. */
static size_t read_children(
	int process_fd, const char *name, pid_t *ret_list, size_t max, bool *ret_more)
{
	char text[CHILDREN_MAX + 1];
	size_t count = 0;
	ssize_t n = read_file(process_fd, name, text, CHILDREN_MAX);
	if (n <= 0)
		return 0;
	*ret_more = n == CHILDREN_MAX;
	text[n] = '\0';
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

static void add_children(struct look *l, int process_fd, const char *name)
{
	pid_t list[FOREGROUND_PROCESSES];
	bool more = false;
	size_t count = read_children(process_fd, name, list, FOREGROUND_PROCESSES, &more);
	for (size_t i = 0; i < count; i++)
		add(l, list[i]);
	if (more)
		l->f->truncated = true;
}

static void add_children_of(struct look *l, pid_t pid)
{
	char name[64];
	int fd = open_process(pid);
	if (fd < 0)
		return;
	snprintf(name, sizeof name, "task/%d/children", (int)pid);
	add_children(l, fd, name);
	close(fd);
}

/* One thread. thread: as blocked_look() has it. */
static void look_at_thread(struct look *l, struct blocked_process *p,
	const struct foreground_stat *s, const char *thread)
{
	struct foreground *f = l->f;
	enum blocked b = blocked_look(p, thread);
	if (b == BLOCKED_UNKNOWN)
		f->hidden = true;
	if (f->waits != BLOCKED_NO || (b != BLOCKED_READ && b != BLOCKED_EVENT))
		return;
	f->waits = b;
	f->waiter = s->pid;
	f->guessed = p->guessed;
	memcpy(f->waiter_name, s->name, sizeof s->name);
}

/* All threads of a process: any of them may wait, and have children. */
static void look_at_threads(
	struct look *l, struct blocked_process *p, const struct foreground_stat *s, bool member)
{
	char name[64];
	int fd = s->threads > 1 ? openat(p->fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !dir)
		close(fd);
	if (member)
		look_at_thread(l, p, s, "");
	snprintf(name, sizeof name, "task/%d/children", (int)s->pid);
	add_children(l, p->fd, name);
	while (dir && l->f->waits == BLOCKED_NO) {
		const struct dirent *d = readdir(dir);
		if (!d)
			break;
		if (d->d_name[0] == '.' || strtol(d->d_name, NULL, 10) == s->pid)
			continue;
		if (l->threads == 0) {
			l->f->truncated = true;
			break;
		}
		l->threads--;
		snprintf(name, sizeof name, "task/%.20s/", d->d_name);
		if (member)
			look_at_thread(l, p, s, name);
		snprintf(name, sizeof name, "task/%.20s/children", d->d_name);
		add_children(l, p->fd, name);
	}
	if (dir)
		closedir(dir);
}

static uint64_t clock_ms(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Wall clock, up to a tick too early. */
static uint64_t started_ms(const struct foreground_stat *s)
{
	uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
	return clock_ms(CLOCK_REALTIME) - (clock_ms(CLOCK_BOOTTIME) - s->start_ticks * 1000 / ticks);
}

static void describe(struct foreground *f, struct peek *peek, const struct foreground_stat *s)
{
	uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
	f->pid = s->pid;
	memcpy(f->name, s->name, sizeof s->name);
	f->cpu_ms = s->cpu_ticks * 1000 / ticks;
	f->started_ms = started_ms(s);
	ssize_t n = peek ? peek_arguments(peek, s->pid, f->argv, sizeof f->argv) : 0;
	f->argv_length = n > 0 ? (size_t)n : 0;
	f->argv_cut = f->argv_length == sizeof f->argv;
	if (f->argv_length > 0)
		f->argv[f->argv_length - 1] = '\0';
}

/* A process, if it belongs to the group or may lead to some that do. */
static void look_at(struct look *l, pid_t pid)
{
	struct foreground *f = l->f;
	struct foreground_stat s = {.state = 'X'};
	int fd = open_process(pid);
	if (fd < 0)
		return;
	bool living = read_stat(fd, &s) && s.state != 'Z' && s.state != 'X';
	bool member = living && s.group == f->group;
	if (!living || (!member && !l->through))
		goto out;
	if (member && f->pid == 0)
		describe(f, l->peek, &s);
	l->members += member;
	l->stopped += member && (s.state == 'T' || s.state == 't');
	struct blocked_process p = {.peek = l->peek,
		.pid = pid,
		.owner = l->owner,
		.fd = fd,
		.terminal = l->terminal,
		.controlling = s.terminal == l->terminal_number,
		.looks = BLOCKED_LOOKS_MAX};
	look_at_threads(l, &p, &s, member);
out:
	close(fd);
}

static void look_on(struct look *l)
{
	while (l->done < l->count && l->f->waits == BLOCKED_NO)
		look_at(l, l->seen[l->done++]);
}

/* The group's leader and all below it; then its brothers, and those that have lost their parents. */
static void look_from_leader(struct look *l, const struct foreground_target *t)
{
	struct foreground_stat s;
	int fd = open_process(l->f->group);
	bool found = fd >= 0 && read_stat(fd, &s);
	if (fd >= 0)
		close(fd);
	if (!found)
		return;
	add(l, s.pid);
	look_on(l);
	/* The shell's brothers are no part of a pipeline. */
	if (l->f->waits == BLOCKED_NO && s.pid != t->shell && s.parent > 1)
		add_children_of(l, s.parent);
	if (l->f->waits == BLOCKED_NO && s.parent != t->holder)
		add_children_of(l, t->holder);
	look_on(l);
}

static void look_from_holder(struct look *l, const struct foreground_target *t)
{
	l->through = true;
	l->count = l->done = 0;
	add(l, t->holder);
	look_on(l);
}

static void look_at_terminal(const struct foreground_target *t, struct foreground *f)
{
	struct termios modes;
	f->modes_known = tcgetattr(t->master_fd, &modes) == 0;
	if (!f->modes_known)
		return;
	f->line = modes.c_lflag & ICANON;
	f->echo = modes.c_lflag & ECHO;
}

void foreground_look(const struct foreground_target *t, struct foreground *f)
{
	unsigned number;
	*f = (struct foreground){0};
	look_at_terminal(t, f);
	pid_t group = tcgetpgrp(t->master_fd);
	if (group <= 0 || ioctl(t->master_fd, TIOCGPTN, &number) < 0)
		return;
	f->group = group;
	struct look l = {.f = f,
		.peek = t->peek,
		.owner = t->owner,
		.terminal = makedev(PTS_MAJOR, number),
		/* new_encode_dev() in linux/kdev_t.h */
		.terminal_number = (number & 0xff) | PTS_MAJOR << 8 | (number & ~0xffu) << 12,
		.threads = FOREGROUND_THREADS};
	look_from_leader(&l, t);
	if (l.members == 0)
		look_from_holder(&l, t);
	f->stopped = l.members > 0 && l.members == l.stopped;
}

void foreground_descend(struct foreground *f, struct peek *peek)
{
	pid_t pid = f->pid, child;
	for (unsigned depth = 0; depth < DESCENT_MAX && (child = foreground_youngest(pid)) > 0;
		depth++)
		pid = child;
	if (pid == f->pid || pid <= 0)
		return;
	struct foreground_stat s;
	int fd = open_process(pid);
	if (fd >= 0 && read_stat(fd, &s) && s.state != 'Z' && s.state != 'X')
		describe(f, peek, &s);
	if (fd >= 0)
		close(fd);
}

unsigned foreground_stopped_jobs(pid_t shell)
{
	char name[64];
	pid_t list[FOREGROUND_PROCESSES], groups[FOREGROUND_PROCESSES];
	bool more;
	unsigned jobs = 0;
	snprintf(name, sizeof name, "/proc/%d/task/%d/children", (int)shell, (int)shell);
	size_t count = read_children(AT_FDCWD, name, list, FOREGROUND_PROCESSES, &more);
	for (size_t i = 0; i < count; i++) {
		struct foreground_stat s;
		int fd = open_process(list[i]);
		bool stopped = fd >= 0 && read_stat(fd, &s) && s.state == 'T';
		if (fd >= 0)
			close(fd);
		for (unsigned k = 0; stopped && k < jobs; k++)
			stopped = groups[k] != s.group;
		if (stopped)
			groups[jobs++] = s.group;
	}
	return jobs;
}

pid_t foreground_youngest(pid_t parent)
{
	char name[64];
	pid_t youngest;
	bool more;
	snprintf(name, sizeof name, "/proc/%d/task/%d/children", (int)parent, (int)parent);
	return read_children(AT_FDCWD, name, &youngest, 1, &more) == 1 ? youngest : 0;
}

bool foreground_sleeps(pid_t pid)
{
	struct foreground_stat s;
	int fd = open_process(pid);
	bool sleeps = fd >= 0 && read_stat(fd, &s) && s.state == 'S';
	if (fd >= 0)
		close(fd);
	return sleeps;
}

bool foreground_awaits(pid_t parent, uint64_t time_ms)
{
	struct foreground_stat s;
	pid_t youngest;
	int fd = open_process(parent);
	bool waits = fd >= 0 && blocked_for_child(fd);
	if (fd >= 0)
		close(fd);
	if (!waits || (youngest = foreground_youngest(parent)) == 0)
		return false;
	fd = open_process(youngest);
	waits = fd >= 0 && read_stat(fd, &s) && started_ms(&s) + START_PRECISION_MS < time_ms;
	if (fd >= 0)
		close(fd);
	return waits;
}

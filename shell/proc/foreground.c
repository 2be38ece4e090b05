/*
 * See foreground.h. The kernel has no list of a process group's members. They are found from the
 * group's leader, its siblings (a pipeline) and all their children; if the leader has exited, among
 * all processes below the holder.
 */
#include "shell/proc/foreground.h"

#include "shell/dir.h"

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
#define DESCENT_MAX 8u         /* generations of children */
#define START_PRECISION_MS 12u /* of a start time: a clock tick and the time to read clocks */

/* A look in progress. */
struct look {
	struct foreground *f;
	struct peek *peek;
	struct peek_target target; /* pid: of the process that is examined */
	bool blind;                /* skip everything that may block (pty/proc/proc.h) */
	dev_t terminal;
	pid_t kernel_session;             /* session id (setsid(2)) of the terminal */
	pid_t seen[FOREGROUND_PROCESSES]; /* the first `done` of them have been examined */
	unsigned count, done;
	unsigned threads; /* that may still be examined */
	unsigned members, stopped;
	bool through; /* also examine children of processes outside the group */
};

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

/* Add the children of one thread. thread: NULL for the main one. */
static void add_children(struct look *l, pid_t pid, const char *thread)
{
	pid_t list[FOREGROUND_PROCESSES];
	bool more = false;
	size_t count = proc_children(pid, thread, list, FOREGROUND_PROCESSES, &more);
	for (size_t i = 0; i < count; i++)
		add(l, list[i]);
	if (more)
		l->f->truncated = true;
}

/* Examine one thread. thread: as for blocked_check_thread(). */
static void look_at_thread(
	struct look *l, struct blocked_process *p, const struct proc_status *s, const char *thread)
{
	struct foreground *f = l->f;
	enum blocked b = l->blind ? BLOCKED_UNKNOWN : blocked_check_thread(p, thread);
	if (b == BLOCKED_UNKNOWN)
		f->hidden = true;
	if (f->waits != BLOCKED_NO || (b != BLOCKED_READ && b != BLOCKED_EVENT))
		return;
	f->waits = b;
	f->waiter = s->pid;
	f->guessed = p->guessed;
	memcpy(f->waiter_name, s->name, sizeof s->name);
}

/* Examine all threads of a process: any of them may wait or have children. */
static void look_at_threads(
	struct look *l, struct blocked_process *p, const struct proc_status *s, bool member)
{
	char name[64];
	DIR *dir = s->threads > 1 ? dir_open(p->fd, "task") : NULL;
	if (member)
		look_at_thread(l, p, s, "");
	add_children(l, s->pid, NULL);
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
		add_children(l, s->pid, d->d_name);
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

/* Wall clock, up to a tick too early; 0: not known. May block. */
static uint64_t started_ms(pid_t pid)
{
	uint64_t ticks, hz = (uint64_t)sysconf(_SC_CLK_TCK);
	int fd = proc_open(pid);
	bool known = fd >= 0 && proc_start_time_at(fd, &ticks);
	if (fd >= 0)
		close(fd);
	return known ? clock_ms(CLOCK_REALTIME) - (clock_ms(CLOCK_BOOTTIME) - ticks * 1000 / hz) : 0;
}

static uint64_t cpu_ms(pid_t pid)
{
	clockid_t clock;
	return clock_getcpuclockid(pid, &clock) == 0 ? clock_ms(clock) : 0;
}

static void describe(struct look *l, const struct proc_status *s)
{
	struct foreground *f = l->f;
	struct peek_target target = l->target;
	target.pid = f->pid = s->pid;
	memcpy(f->name, s->name, sizeof s->name);
	f->cpu_ms = cpu_ms(s->pid);
	f->started_ms = l->blind ? 0 : started_ms(s->pid);
	ssize_t n = l->peek ? peek_arguments(l->peek, target, f->argv, sizeof f->argv) : 0;
	f->argv_length = n > 0 ? (size_t)n : 0;
	if (f->argv_length > 0)
		f->argv[f->argv_length - 1] = '\0';
}

/* Examine a process if it belongs to the group or its descendants may. */
static void look_at(struct look *l, pid_t pid)
{
	struct foreground *f = l->f;
	struct proc_status s = {.state = 'X'};
	int fd = proc_open(pid);
	if (fd < 0)
		return;
	bool living = proc_status_at(fd, &s) && proc_is_alive(&s);
	bool member = living && getpgid(pid) == f->group;
	if (!living || (!member && !l->through))
		goto out;
	if (member && f->pid == 0)
		describe(l, &s);
	l->members += member;
	l->stopped += member && (s.state == 'T' || s.state == 't');
	struct blocked_process p = {.peek = l->peek,
		.target = l->target,
		.fd = fd,
		.terminal = l->terminal,
		.controlling = l->kernel_session > 0 && getsid(pid) == l->kernel_session,
		.looks = BLOCKED_LOOKS_MAX};
	p.target.pid = pid;
	look_at_threads(l, &p, &s, member);
out:
	close(fd);
}

/* Examine the processes that were added and those that they lead to, until one waits for input. */
static void look_at_added(struct look *l)
{
	while (l->done < l->count && l->f->waits == BLOCKED_NO)
		look_at(l, l->seen[l->done++]);
}

/* Examine the group's leader and its descendants; then its siblings, and orphans. */
static void look_from_leader(struct look *l, const struct foreground_target *t)
{
	struct proc_status s, shell;
	if (!proc_status(l->f->group, &s))
		return;
	add(l, s.pid);
	look_at_added(l);
	/* Orphans are reparented to the shell's parent: the holder, or its starter. */
	pid_t reaper = proc_status(t->shell, &shell) ? shell.parent : t->holder;
	/* The shell's siblings are not part of a pipeline. */
	if (l->f->waits == BLOCKED_NO && s.pid != t->shell && s.parent > 1)
		add_children(l, s.parent, NULL);
	if (l->f->waits == BLOCKED_NO && s.parent != reaper)
		add_children(l, reaper, NULL);
	look_at_added(l);
}

static void look_from_holder(struct look *l, const struct foreground_target *t)
{
	l->through = true;
	l->count = l->done = 0;
	add(l, t->holder);
	look_at_added(l);
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

/* Input and result of an attempt. */
struct task {
	struct foreground_target target;
	bool blind;
	pid_t pid; /* for foreground_descend(): the process to describe */
	struct foreground found;
};

static struct look begin_look(struct task *j, struct attempt *attempt)
{
	const struct foreground_target *t = &j->target;
	return (struct look){.f = &j->found,
		.peek = t->peek,
		.target = {.owner = t->owner, .session = t->holder, .attempt = attempt},
		.blind = j->blind,
		.threads = FOREGROUND_THREADS};
}

static void look(struct attempt *attempt, void *data)
{
	struct task *j = data;
	struct foreground *f = &j->found;
	const struct foreground_target *t = &j->target;
	struct look l = begin_look(j, attempt);
	unsigned number;
	*f = (struct foreground){0};
	look_at_terminal(t, f);
	pid_t group = tcgetpgrp(t->master_fd);
	if (group <= 0 || ioctl(t->master_fd, TIOCGPTN, &number) < 0)
		return;
	f->group = group;
	l.terminal = makedev(PTS_MAJOR, number);
	l.kernel_session = tcgetsid(t->master_fd);
	look_from_leader(&l, t);
	if (l.members == 0)
		look_from_holder(&l, t);
	f->stopped = l.members > 0 && l.members == l.stopped;
}

static void describe_other(struct attempt *attempt, void *data)
{
	struct task *j = data;
	struct look l = begin_look(j, attempt);
	struct proc_status s;
	if (proc_status(j->pid, &s) && proc_is_alive(&s))
		describe(&l, &s);
}

/* Do the work in an attempt. If that hangs, do it again without what may block. */
static void do_task(struct task *j, void (*work)(struct attempt *attempt, void *data))
{
	const struct attempt_call call = {.key = j->target.holder, .work = work};
	if (attempt_run(&j->target.peek->attempts, &call, j, sizeof *j) == 0)
		return;
	j->blind = true;
	work(NULL, j);
}

void foreground_look(const struct foreground_target *t, struct foreground *f)
{
	struct task j = {.target = *t};
	do_task(&j, look);
	*f = j.found;
}

void foreground_descend(const struct foreground_target *t, struct foreground *f)
{
	struct task j = {.target = *t, .pid = f->pid, .found = *f};
	pid_t child;
	for (unsigned depth = 0;
		depth < DESCENT_MAX && (child = foreground_youngest_child(j.pid)) > 0; depth++)
		j.pid = child;
	if (j.pid == f->pid || j.pid <= 0)
		return;
	do_task(&j, describe_other);
	*f = j.found;
}

unsigned foreground_count_stopped_jobs(pid_t shell)
{
	pid_t list[FOREGROUND_PROCESSES], groups[FOREGROUND_PROCESSES];
	bool more;
	unsigned jobs = 0;
	size_t count = proc_children(shell, NULL, list, FOREGROUND_PROCESSES, &more);
	for (size_t i = 0; i < count; i++) {
		struct proc_status s;
		pid_t group = getpgid(list[i]);
		bool stopped = proc_status(list[i], &s) && s.state == 'T';
		for (unsigned k = 0; stopped && k < jobs; k++)
			stopped = groups[k] != group;
		if (stopped)
			groups[jobs++] = group;
	}
	return jobs;
}

pid_t foreground_youngest_child(pid_t parent)
{
	pid_t youngest;
	bool more;
	return proc_children(parent, NULL, &youngest, 1, &more) == 1 ? youngest : 0;
}

bool foreground_is_sleeping(pid_t pid)
{
	struct proc_status s;
	return proc_status(pid, &s) && s.state == 'S';
}

/* Input and result of foreground_is_awaiting_child(). */
struct awaiting {
	pid_t parent;
	uint64_t time_ms;
	bool awaits;
};

static void look_at_awaiting(struct attempt *attempt, void *data)
{
	struct awaiting *a = data;
	pid_t youngest;
	int fd = proc_open(a->parent);
	(void)attempt;
	a->awaits = fd >= 0 && blocked_is_awaiting_child(fd);
	if (fd >= 0)
		close(fd);
	if (!a->awaits)
		return;
	youngest = foreground_youngest_child(a->parent);
	uint64_t started = youngest > 0 ? started_ms(youngest) : 0;
	a->awaits = started > 0 && started + START_PRECISION_MS < a->time_ms;
}

bool foreground_is_awaiting_child(const struct foreground_target *t, uint64_t time_ms)
{
	struct awaiting a = {t->shell, time_ms, false};
	/* The shell, not the session, is the key: other programs that hang do not matter here. */
	const struct attempt_call call = {.key = t->shell, .work = look_at_awaiting};
	if (foreground_youngest_child(t->shell) == 0)
		return false;
	int rc = attempt_run(&t->peek->attempts, &call, &a, sizeof a);
	return rc == -EBUSY || rc == -ETIMEDOUT || a.awaits;
}

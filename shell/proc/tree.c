/*
 * Processes are found from parent to child, or among all of /proc where the kernel does not list children; no
 * state. One that cannot be read counts as gone: looking fails only without /proc or memory.
 */
#include "shell/proc/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

/* In /proc/PID/stat the state is field 3 and the start is field 22. See proc(5). */
#define FIELDS_TO_START 19

bool tree_parse(const char *text, struct tree_entry *e)
{
	unsigned long long start = 0;
	char *end;
	/* The command's name is in parentheses and may contain anything, parentheses too. */
	const char *close = strrchr(text, ')');
	long pid = strtol(text, &end, 10), parent;
	if (end == text || *end != ' ' || !close || close[1] != ' ' || !close[2] || close[3] != ' ')
		return false;
	const char *at = close + 4;
	parent = strtol(at, &end, 10);
	if (end == at)
		return false;
	for (int field = 1; field < FIELDS_TO_START; field++) {
		at = strchr(at, ' ');
		if (!at)
			return false;
		at++;
	}
	start = strtoull(at, &end, 10);
	if (end == at)
		return false;
	*e = (struct tree_entry){
		.pid = (pid_t)pid, .parent = (pid_t)parent, .state = close[2], .start = start};
	return true;
}

static bool read_entry(int proc_fd, const char *name, struct tree_entry *e)
{
	char path[64], text[1024];
	snprintf(path, sizeof path, "%.32s/stat", name);
	int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return tree_parse(text, e);
}

bool tree_read(pid_t pid, struct tree_entry *e)
{
	char name[32];
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return false;
	snprintf(name, sizeof name, "%d", (int)pid);
	bool found = read_entry(proc_fd, name, e);
	close(proc_fd);
	return found;
}

bool tree_is_living(const struct tree_entry *e)
{
	return e->state != 'Z' && e->state != 'X' && e->state != 'x';
}

struct list {
	struct tree_entry *entries;
	size_t count, capacity;
};

/* Room for one more at the end. Returns 0 or -ENOMEM. */
static int make_room(struct list *l)
{
	if (l->count < l->capacity)
		return 0;
	size_t capacity = l->capacity ? 2 * l->capacity : 64;
	struct tree_entry *entries = realloc(l->entries, capacity * sizeof *entries);
	if (!entries)
		return -ENOMEM;
	l->entries = entries;
	l->capacity = capacity;
	return 0;
}

/* Add the process of this name in /proc. */
static int add(struct list *l, int proc_fd, const char *name)
{
	int rc = l->count < TREE_MAX ? make_room(l) : 0;
	if (rc == 0 && l->count < l->capacity && read_entry(proc_fd, name, &l->entries[l->count]))
		l->count++;
	return rc;
}

/*
 * Add the children of one thread: numbers with spaces between them. Returns -ENOENT when the kernel does
 * not tell (CONFIG_PROC_CHILDREN), or the process is gone.
 */
static int add_children_of_thread(struct list *l, int proc_fd, pid_t pid, const char *tid)
{
	char path[80], *text = NULL;
	size_t size = 0;
	int rc = 0;
	snprintf(path, sizeof path, "%d/task/%.20s/children", (int)pid, tid);
	int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	while (rc == 0 && getdelim(&text, &size, ' ', f) > 0) {
		text[strcspn(text, " \n")] = '\0';
		if (*text)
			rc = add(l, proc_fd, text);
	}
	free(text);
	fclose(f);
	return rc;
}

static int add_children(struct list *l, int proc_fd, pid_t pid)
{
	char path[64];
	int rc = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	if (!dir)
		return -errno;
	for (struct dirent *d; rc != -ENOMEM && (d = readdir(dir));)
		if (d->d_name[0] != '.')
			rc = add_children_of_thread(l, proc_fd, pid, d->d_name);
	closedir(dir);
	return rc;
}

/* From parents to children: takes time for those below root only. */
static int walk(struct list *l, int proc_fd, pid_t root)
{
	int rc = add_children(l, proc_fd, root);
	for (size_t i = 0; rc != -ENOMEM && i < l->count; i++)
		if (add_children(l, proc_fd, l->entries[i].pid) == -ENOMEM)
			rc = -ENOMEM;
	for (size_t i = 0; i < l->count; i++)
		l->entries[i].below = true;
	return rc;
}

static int compare(const void *a, const void *b)
{
	const struct tree_entry *x = a, *y = b;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Mark who is below root, going up from each. Numbers that were reused in between could form a circle. */
static void mark(struct list *l, pid_t root)
{
	if (l->count == 0)
		return;
	qsort(l->entries, l->count, sizeof *l->entries, compare);
	for (size_t i = 0; i < l->count; i++) {
		const struct tree_entry *e = &l->entries[i];
		for (size_t steps = 0; e && e->parent != root && steps < l->count; steps++) {
			struct tree_entry parent = {.pid = e->parent};
			e = bsearch(&parent, l->entries, l->count, sizeof *l->entries, compare);
		}
		l->entries[i].below = e && e->parent == root;
	}
}

/* From all processes of the machine. */
static int search(struct list *l, int proc_fd, pid_t root)
{
	int rc = 0;
	DIR *dir = opendir("/proc");
	if (!dir)
		return -errno;
	for (struct dirent *d; rc == 0 && (d = readdir(dir));)
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			rc = add(l, proc_fd, d->d_name);
	closedir(dir);
	if (rc == 0)
		mark(l, root);
	return rc;
}

/* Keep those that live; the list is the caller's then. */
static void give(struct list *l, pid_t except, struct tree_entry **ret_list, size_t *ret_count)
{
	size_t kept = 0;
	for (size_t i = 0; i < l->count; i++)
		if (l->entries[i].below && l->entries[i].pid != except &&
			tree_is_living(&l->entries[i]))
			l->entries[kept++] = l->entries[i];
	*ret_list = l->entries;
	*ret_count = kept;
}

int tree_list(pid_t root, pid_t except, struct tree_entry **ret_list, size_t *ret_count)
{
	struct list l = {0};
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return -errno;
	int rc = walk(&l, proc_fd, root);
	if (rc == -ENOENT && l.count == 0)
		rc = search(&l, proc_fd, root);
	close(proc_fd);
	if (rc == -ENOMEM) {
		free(l.entries);
		return rc;
	}
	give(&l, except, ret_list, ret_count);
	return 0;
}

/* A descriptor of the process that e was, or a negative errno. */
static int open_entry(const struct tree_entry *e)
{
	struct tree_entry now;
	int fd = pidfd_open(e->pid, 0);
	if (fd < 0)
		return -errno;
	/* It is that of the process we mean if this is still the one that began then. */
	if (tree_read(e->pid, &now) && now.start == e->start)
		return fd;
	close(fd);
	return -ESRCH;
}

/* Signal the process that e was, unless it is gone. */
static int signal_entry(const struct tree_entry *e, int signo)
{
	int fd = open_entry(e);
	if (fd < 0)
		return fd;
	int rc = pidfd_send_signal(fd, signo, NULL, 0) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

static bool holds(const pid_t *groups, size_t count, pid_t group)
{
	for (size_t i = 0; i < count; i++)
		if (groups[i] == group)
			return true;
	return false;
}

void tree_call(struct tree_call *c, const struct tree_entry *e)
{
	const size_t remembered = sizeof c->done / sizeof *c->done;
	int fd = open_entry(e);
	if (fd < 0)
		return;
	pid_t group = getpgid(e->pid);
	/* That it is still there to be signalled means that the group was its own. */
	bool sent = pidfd_send_signal(fd, c->signo, NULL, 0) == 0;
	if (sent && group > 1 && group != getpgrp() &&
		!holds(c->spared, sizeof c->spared / sizeof *c->spared, group) &&
		!holds(c->done, remembered, group)) {
		kill(-group, c->signo);
		c->done[c->next++ % remembered] = group;
	}
	close(fd);
}

int tree_signal_below(pid_t root, pid_t except, int signo)
{
	struct tree_entry *entries = NULL;
	size_t count = 0;
	int rc = tree_list(root, except, &entries, &count);
	if (rc < 0)
		return rc;
	for (size_t i = 0; signo > 0 && i < count; i++)
		(void)signal_entry(&entries[i], signo); /* it may be gone, which is as good */
	free(entries);
	return (int)count;
}

/* Signal the process that e was, if it is in a group. */
static int signal_member(const struct tree_entry *e, pid_t group, int signo)
{
	int fd = open_entry(e);
	if (fd < 0)
		return fd;
	bool member = getpgid(e->pid) == group;
	/* That it is still there to be signalled means that the group was its own. */
	int rc = !member ? -ESRCH : pidfd_send_signal(fd, signo, NULL, 0) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

int tree_signal_group(pid_t root, pid_t group, int signo)
{
	struct tree_entry *entries = NULL;
	size_t count = 0;
	int sent = 0, error = -ESRCH;
	int rc = tree_list(root, 0, &entries, &count);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++) {
		rc = signal_member(&entries[i], group, signo);
		sent += rc == 0;
		if (rc < 0 && rc != -ESRCH)
			error = rc;
	}
	free(entries);
	return sent > 0 ? sent : error;
}

static int call_below(pid_t root, pid_t except, int signo)
{
	struct tree_call c = {.signo = signo, .spared = {getpgid(root)}};
	struct tree_entry *entries = NULL;
	size_t count = 0;
	if (except > 0)
		c.spared[1] = getpgid(except);
	int rc = tree_list(root, except, &entries, &count);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++)
		tree_call(&c, &entries[i]);
	free(entries);
	return (int)count;
}

static uint64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int tree_end_below(pid_t root, pid_t except)
{
	uint64_t until = now_ms() + TREE_END_MS;
	int left;
	do {
		left = call_below(root, except, SIGSTOP);
		if (left > 0)
			left = call_below(root, except, SIGKILL);
	} while (left > 0 && now_ms() < until);
	return left;
}

/* The pid in the innermost namespace of a process; 0: it is no more. */
static pid_t inner_pid(pid_t pid)
{
	char path[32], line[256];
	pid_t inside = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && inside == 0 && fgets(line, sizeof line, f)) {
		const char *last = strncmp(line, "NSpid:", 6) == 0 ? strrchr(line, '\t') : NULL;
		if (last)
			inside = (pid_t)strtol(last + 1, NULL, 10);
	}
	if (f)
		fclose(f);
	return inside;
}

pid_t tree_find_child(pid_t parent, pid_t inside)
{
	struct tree_entry *entries = NULL;
	size_t count = 0;
	pid_t found = 0;
	if (tree_list(parent, 0, &entries, &count) < 0)
		return 0;
	for (size_t i = 0; i < count && found == 0; i++)
		if (entries[i].parent == parent && inner_pid(entries[i].pid) == inside)
			found = entries[i].pid;
	free(entries);
	return found;
}

int tree_signal_child(pid_t pid, pid_t parent, int signo)
{
	struct tree_entry e;
	bool found = tree_read(pid, &e) && e.parent == parent && tree_is_living(&e);
	return found ? signal_entry(&e, signo) : -ESRCH;
}

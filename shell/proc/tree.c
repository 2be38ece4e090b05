/*
 * Processes are found from parent to child, or among all of the machine where the kernel does not list children; no
 * state. One that cannot be read counts as gone: looking fails only without /proc or memory.
 */
#include "shell/proc/tree.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>
#include <uv.h>

#define GROUP_LOOKS 5u /* for a group that is killed */

struct list {
	struct proc_status *entries;
	size_t count, capacity;
	pid_t root; /* of a search */
	int error;
};

/* Room for one more at the end. Returns 0 or -ENOMEM. */
static int make_room(struct list *l)
{
	if (l->count < l->capacity)
		return 0;
	size_t capacity = l->capacity ? 2 * l->capacity : 64;
	struct proc_status *entries = realloc(l->entries, capacity * sizeof *entries);
	if (!entries)
		return -ENOMEM;
	l->entries = entries;
	l->capacity = capacity;
	return 0;
}

/* Add a process. Returns whether there is room for more. */
static bool add(void *user, pid_t pid)
{
	struct list *l = user;
	if (l->count == TREE_MAX)
		return false;
	l->error = make_room(l);
	if (l->error == 0 && proc_status(pid, &l->entries[l->count]))
		l->count++;
	return l->error == 0;
}

static bool add_below(void *user, pid_t pid)
{
	const struct list *l = user;
	return pid == l->root || !proc_is_below(pid, l->root) || add(user, pid);
}

/* Keep those that live; the list is the caller's then. */
static void give(struct list *l, pid_t except, struct proc_status **ret_list, size_t *ret_count)
{
	size_t kept = 0;
	for (size_t i = 0; i < l->count; i++)
		if (l->entries[i].pid != except && proc_is_living(&l->entries[i]))
			l->entries[kept++] = l->entries[i];
	*ret_list = l->entries;
	*ret_count = kept;
}

int tree_list(pid_t root, pid_t except, struct proc_status **ret_list, size_t *ret_count)
{
	struct list l = {.root = root};
	if (proc_lists_children()) {
		/* From parents to children: takes time for those below root only. */
		proc_each_child(root, add, &l);
		for (size_t i = 0; l.error == 0 && i < l.count; i++)
			proc_each_child(l.entries[i].pid, add, &l);
	} else {
		int rc = proc_each(add_below, &l);
		l.error = l.error < 0 ? l.error : rc;
	}
	if (l.error < 0) {
		free(l.entries);
		return l.error;
	}
	give(&l, except, ret_list, ret_count);
	return 0;
}

/* A descriptor of the process that e was, below root, or a negative errno. */
static int open_entry(const struct proc_status *e, pid_t root)
{
	struct proc_status now;
	int fd = pidfd_open(e->pid, 0);
	if (fd < 0)
		return -errno;
	/* It came first. So it is of a child of the same process still, or of one that is below root in another way. */
	if (proc_status(e->pid, &now) && (now.parent == e->parent || proc_is_below(e->pid, root)))
		return fd;
	close(fd);
	return -ESRCH;
}

/* Signal the process that e was, unless it is gone. */
static int signal_entry(const struct proc_status *e, pid_t root, int signo)
{
	int fd = open_entry(e, root);
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

/* A signal for many, and for their groups. */
struct call {
	int signo;
	pid_t root;
	pid_t spared[3]; /* groups that do not get it */
	pid_t done[16];  /* groups that have got it */
	unsigned next;
};

/* Signal the process that e was, unless it is gone, and its group. */
static void call_entry(struct call *c, const struct proc_status *e)
{
	const size_t remembered = sizeof c->done / sizeof *c->done;
	int fd = open_entry(e, c->root);
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
	struct proc_status *entries = NULL;
	size_t count = 0;
	int rc = tree_list(root, except, &entries, &count);
	if (rc < 0)
		return rc;
	for (size_t i = 0; signo > 0 && i < count; i++)
		(void)signal_entry(&entries[i], root, signo); /* it may be gone, which is as good */
	free(entries);
	return (int)count;
}

/* Signal the process that e was, if it is in a group. */
static int signal_member(const struct proc_status *e, pid_t root, pid_t group, int signo)
{
	int fd = open_entry(e, root);
	if (fd < 0)
		return fd;
	bool member = getpgid(e->pid) == group;
	/* That it is still there to be signalled means that the group was its own. */
	int rc = !member ? -ESRCH : pidfd_send_signal(fd, signo, NULL, 0) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

static int signal_members(pid_t root, pid_t group, int signo)
{
	struct proc_status *entries = NULL;
	size_t count = 0;
	int sent = 0, error = -ESRCH;
	int rc = tree_list(root, 0, &entries, &count);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++) {
		rc = signal_member(&entries[i], root, group, signo);
		sent += rc == 0;
		if (rc < 0 && rc != -ESRCH)
			error = rc;
	}
	free(entries);
	return sent > 0 ? sent : error;
}

int tree_signal_group(pid_t root, pid_t group, int signo)
{
	int rc = signal_members(root, group, signo);
	/* Who forks and ends all the time may have got away between two looks. */
	for (unsigned i = 1; i < GROUP_LOOKS && signo == SIGKILL && rc > 0; i++)
		if (signal_members(root, group, signo) <= 0)
			break;
	return rc;
}

static int call_below(pid_t root, pid_t except, int signo)
{
	struct call c = {.signo = signo, .root = root, .spared = {getpgid(root)}};
	struct proc_status *entries = NULL;
	size_t count = 0;
	if (except > 0)
		c.spared[1] = getpgid(except);
	int rc = tree_list(root, except, &entries, &count);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++)
		call_entry(&c, &entries[i]);
	free(entries);
	return (int)count;
}

static uint64_t now_ms(void)
{
	return uv_hrtime() / 1000000;
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

pid_t tree_find_child(pid_t parent, pid_t inside)
{
	struct proc_status *entries = NULL;
	size_t count = 0;
	pid_t found = 0;
	if (tree_list(parent, 0, &entries, &count) < 0)
		return 0;
	for (size_t i = 0; i < count && found == 0; i++)
		if (entries[i].parent == parent && proc_inner_pid(entries[i].pid) == inside)
			found = entries[i].pid;
	free(entries);
	return found;
}

int tree_signal_child(pid_t pid, pid_t parent, int signo)
{
	struct proc_status s;
	int fd = pidfd_open(pid, 0), rc = -ESRCH;
	if (fd < 0)
		return errno == EINVAL || errno == ENOENT ? -ESRCH : -errno; /* a thread */
	if (proc_status(pid, &s) && s.parent == parent && proc_is_living(&s))
		rc = pidfd_send_signal(fd, signo, NULL, 0) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

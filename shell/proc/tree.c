/*
 * Processes are found from parent to child, or among all processes if the kernel does not list
 * children. One that cannot be read counts as gone: a search fails only without /proc or memory.
 */
#include "shell/proc/tree.h"

#include "shell/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define GROUP_LOOKS 5u /* searches for members of a group that is killed */

struct list {
	struct proc_status *entries;
	size_t count, capacity;
	pid_t root; /* of the search */
	int error;
};

/* Make space for one more entry. Returns 0 or -ENOMEM. */
static int reserve(struct list *l)
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

/* Add a process. Returns whether there is space for more. */
static bool add(void *user, pid_t pid)
{
	struct list *l = user;
	if (l->count == TREE_MAX)
		return false;
	l->error = reserve(l);
	if (l->error == 0 && proc_status(pid, &l->entries[l->count]))
		l->count++;
	return l->error == 0;
}

static bool add_below(void *user, pid_t pid)
{
	const struct list *l = user;
	return pid == l->root || !proc_is_descendant(pid, l->root) || add(user, pid);
}

/* Return the living processes as a list that the caller owns. */
static void return_living(
	struct list *l, pid_t except, struct proc_status **ret_list, size_t *ret_count)
{
	size_t kept = 0;
	for (size_t i = 0; i < l->count; i++)
		if (l->entries[i].pid != except && proc_is_alive(&l->entries[i]))
			l->entries[kept++] = l->entries[i];
	*ret_list = l->entries;
	*ret_count = kept;
}

int tree_list(pid_t root, pid_t except, struct proc_status **ret_list, size_t *ret_count)
{
	struct list l = {.root = root};
	if (proc_can_list_children()) {
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
	return_living(&l, except, ret_list, ret_count);
	return 0;
}

/* Open a pidfd of the process that e describes, if it is still below root, or fail. */
static int open_entry(const struct proc_status *e, pid_t root)
{
	struct proc_status now;
	int fd = pidfd_open(e->pid, 0);
	if (fd < 0)
		return -errno;
	/* The pidfd was opened first, so these checks are about its process. */
	if (proc_status(e->pid, &now) &&
		(now.parent == e->parent || proc_is_descendant(e->pid, root)))
		return fd;
	close(fd);
	return -ESRCH;
}

/* Signal the process that e describes, unless it is gone. */
static int signal_entry(const struct proc_status *e, pid_t root, int signo)
{
	int fd = open_entry(e, root);
	if (fd < 0)
		return fd;
	int rc = pidfd_send_signal(fd, signo, NULL, 0) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

static bool contains(const pid_t *groups, size_t count, pid_t group)
{
	for (size_t i = 0; i < count; i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* A signal to many processes and their groups. */
struct broadcast {
	int signo;
	pid_t root;
	pid_t spared[3]; /* groups that must not get it */
	pid_t done[16];  /* the last groups that have got it */
	unsigned next;
};

/* Signal the process that e describes, unless it is gone, and its group. */
static void signal_with_group(struct broadcast *c, const struct proc_status *e)
{
	const size_t remembered = sizeof c->done / sizeof *c->done;
	int fd = open_entry(e, c->root);
	if (fd < 0)
		return;
	pid_t group = getpgid(e->pid);
	/* If it can be signalled, its pid was not reused, so the group is its own. */
	bool sent = pidfd_send_signal(fd, c->signo, NULL, 0) == 0;
	if (sent && group > 1 && group != getpgrp() &&
		!contains(c->spared, sizeof c->spared / sizeof *c->spared, group) &&
		!contains(c->done, remembered, group)) {
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
		(void)signal_entry(&entries[i], root, signo); /* it may have exited */
	free(entries);
	return (int)count;
}

/* Signal the process that e describes, if it is in the group. */
static int signal_member(const struct proc_status *e, pid_t root, pid_t group, int signo)
{
	int fd = open_entry(e, root);
	if (fd < 0)
		return fd;
	bool member = getpgid(e->pid) == group;
	/* If it can be signalled, its pid was not reused, so the group is its own. */
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
	/* A member that forks and exits all the time may have been missed. */
	for (unsigned i = 1; i < GROUP_LOOKS && signo == SIGKILL && rc > 0; i++)
		if (signal_members(root, group, signo) <= 0)
			break;
	return rc;
}

static int signal_below_with_groups(pid_t root, pid_t except, int signo)
{
	struct broadcast c = {.signo = signo, .root = root, .spared = {getpgid(root)}};
	struct proc_status *entries = NULL;
	size_t count = 0;
	if (except > 0)
		c.spared[1] = getpgid(except);
	int rc = tree_list(root, except, &entries, &count);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++)
		signal_with_group(&c, &entries[i]);
	free(entries);
	return (int)count;
}

int tree_kill_below(pid_t root, pid_t except)
{
	uint64_t until = clock_monotonic_ms() + TREE_KILL_MS;
	int left;
	do {
		left = signal_below_with_groups(root, except, SIGSTOP);
		if (left > 0)
			left = signal_below_with_groups(root, except, SIGKILL);
	} while (left > 0 && clock_monotonic_ms() < until);
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
		return errno == EINVAL || errno == ENOENT ? -ESRCH : -errno; /* pid is a thread */
	if (proc_status(pid, &s) && s.parent == parent && proc_is_alive(&s))
		rc = pidfd_send_signal(fd, signo, NULL, 0) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

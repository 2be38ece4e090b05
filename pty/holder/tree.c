/*
 * Ending a session's processes. The holder is their subreaper: whoever loses its parent becomes our
 * child. So it is enough to signal our children, again and again until none is left; however deep
 * the tree, its orphans come to us. That none is left is what waitpid(2) says.
 *
 * Who forks all the time must not get away between two looks. All are stopped before the first is killed,
 * so that nobody answers another's end with a new process. And the group of each gets the signal as well:
 * the kernel does that in one go with regard to fork(2), so a chain of processes that each fork and end is
 * caught whole. Everything in the group of a child is ours, for it has never left a kernel session that began
 * with one of ours; our own group is spared.
 */
#include "pty/holder/holder.h"

#include "pty/proc/proc.h"

#include <signal.h>
#include <stddef.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define AIM_DEPTH_MAX 32u
#define GROUPS \
	16 /* that are remembered, so that a big one does not get the signal for each of its members */

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

static bool visit_child(void *user, pid_t pid)
{
	call_child(user, pid);
	return true;
}

/* Of all processes of the machine, where the kernel does not tell who the children are. */
static bool visit_any(void *user, pid_t pid)
{
	struct proc_status s;
	if (proc_status(pid, &s) && s.parent == getpid())
		call_child(user, pid);
	return true;
}

/* Returns false where it took a search. */
static bool call_children(struct call *c)
{
	bool listed = proc_lists_children();
	if (listed)
		proc_each_child(getpid(), visit_child, c);
	else
		(void)proc_each(visit_any, c);
	return listed;
}

/* What some of those below us are to get, through all generations. */
struct aim {
	int signo;
	pid_t group;  /* 0: of any */
	pid_t spared; /* does not get it; 0: none */
	bool listed;  /* children are, by the kernel */
	unsigned depth;
	int count; /* of living processes that have got it */
};

static void hit(struct aim *a, pid_t pid, int pidfd)
{
	struct proc_status s;
	if (pid == a->spared || !proc_status(pid, &s) || !proc_is_living(&s) ||
		(a->group > 0 && getpgid(pid) != a->group))
		return;
	a->count += pidfd_send_signal(pidfd, a->signo, NULL, 0) == 0;
	/* It has left the group meanwhile, and is not found there again to be continued. */
	if (a->signo == SIGSTOP && a->group > 0 && getpgid(pid) != a->group)
		(void)pidfd_send_signal(pidfd, SIGCONT, NULL, 0);
}

/*
 * The deepest first: the children of a process that has died are not below it any more. SIGSTOP the other way round: a shell with
 * job control goes on when its child is stopped.
 */
static bool aim_at(void *user, pid_t pid)
{
	struct aim *a = user;
	int pidfd = pidfd_open(pid, 0);
	/* The descriptor came first: it is of one that is below us, or of nothing. */
	if (pidfd >= 0 && proc_is_below(pid, getpid())) {
		if (a->signo == SIGSTOP)
			hit(a, pid, pidfd);
		if (a->listed && a->depth < AIM_DEPTH_MAX) {
			a->depth++;
			proc_each_child(pid, aim_at, a);
			a->depth--;
		}
		if (a->signo != SIGSTOP)
			hit(a, pid, pidfd);
	}
	if (pidfd >= 0)
		close(pidfd);
	return true;
}

/* Of all processes of the machine, where the kernel does not tell who the children are. */
static void aim(struct aim *a)
{
	a->listed = proc_lists_children();
	if (a->listed)
		proc_each_child(getpid(), aim_at, a);
	else
		(void)proc_each(aim_at, a);
}

int tree_signal_group(pid_t group, int signo, pid_t spared)
{
	struct aim a = {.signo = signo, .group = group, .spared = spared};
	aim(&a);
	return a.count;
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

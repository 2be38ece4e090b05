/*
 * Kills a session's processes. The holder is their subreaper, so orphans become our children. It is
 * enough to signal our children again and again, until waitpid(2) says that none is left.
 *
 * A process that forks all the time must not escape between two rounds. So all children are stopped
 * before the first is killed, and none can react to another's death with a new process. The process
 * group of each child gets the signal too, because kill(2) of a group is atomic with regard to
 * fork(2): it catches a chain of processes that each fork and exit. All members of a child's group
 * are our descendants: a process can join only groups of its kernel session, which a descendant of
 * ours has started. Our own group is excluded.
 */
#include "pty/holder/holder.h"

#include "pty/proc/proc.h"

#include <signal.h>
#include <stddef.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define WALK_DEPTH_MAX 32u
/* Groups remembered, so that each gets the signal only once. */
#define GROUPS 16

/* A signal to all children. */
struct round {
	int signo;
	bool groups; /* signal their process groups too */
	pid_t own;   /* our group */
	pid_t done[GROUPS];
	unsigned next;
	int count; /* of children found */
};

static bool is_done(const struct round *r, pid_t group)
{
	for (unsigned i = 0; i < GROUPS; i++)
		if (r->done[i] == group)
			return true;
	return false;
}

/* Only we reap our children, so the pid cannot have been reused. */
static void signal_child(struct round *r, pid_t pid)
{
	pid_t group = r->groups ? getpgid(pid) : 0;
	r->count++;
	if (r->signo == 0)
		return;
	if (group > 1 && group != r->own && !is_done(r, group)) {
		kill(-group, r->signo);
		r->done[r->next++ % GROUPS] = group;
	}
	kill(pid, r->signo);
}

static bool visit_child(void *user, pid_t pid)
{
	signal_child(user, pid);
	return true;
}

/* For kernels that do not list children: check any process. */
static bool visit_any(void *user, pid_t pid)
{
	struct proc_status s;
	if (proc_status(pid, &s) && s.parent == getpid())
		signal_child(user, pid);
	return true;
}

/* Returns false if the kernel does not list children. */
static bool signal_children(struct round *r)
{
	bool listed = proc_can_list_children();
	if (listed)
		proc_each_child(getpid(), visit_child, r);
	else
		(void)proc_each(visit_any, r);
	return listed;
}

/* A signal to descendants. */
struct walk {
	int signo;
	pid_t group;  /* only in this process group; 0: any */
	pid_t spared; /* not to this process; 0: none */
	bool listed;  /* the kernel lists children */
	unsigned depth;
	int count; /* of live processes that got it */
};

static void signal_process(struct walk *w, pid_t pid, int pidfd)
{
	struct proc_status s;
	if (pid == w->spared || !proc_status(pid, &s) || !proc_is_alive(&s) ||
		(w->group > 0 && getpgid(pid) != w->group))
		return;
	w->count += pidfd_send_signal(pidfd, w->signo, NULL, 0) == 0;
	/* If it has left the group meanwhile, the later SIGCONT would not reach it. */
	if (w->signo == SIGSTOP && w->group > 0 && getpgid(pid) != w->group)
		(void)pidfd_send_signal(pidfd, SIGCONT, NULL, 0);
}

/*
 * Children first, because a dead process has no children any more. For SIGSTOP parents first,
 * because a shell with job control continues when its child is stopped.
 */
static bool visit_descendant(void *user, pid_t pid)
{
	struct walk *w = user;
	int pidfd = pidfd_open(pid, 0);
	/* Checked after the pidfd was opened: it refers to a descendant or to a dead process. */
	if (pidfd >= 0 && proc_is_descendant(pid, getpid())) {
		if (w->signo == SIGSTOP)
			signal_process(w, pid, pidfd);
		if (w->listed && w->depth < WALK_DEPTH_MAX) {
			w->depth++;
			proc_each_child(pid, visit_descendant, w);
			w->depth--;
		}
		if (w->signo != SIGSTOP)
			signal_process(w, pid, pidfd);
	}
	if (pidfd >= 0)
		close(pidfd);
	return true;
}

static void walk_descendants(struct walk *w)
{
	w->listed = proc_can_list_children();
	if (w->listed)
		proc_each_child(getpid(), visit_descendant, w);
	else
		(void)proc_each(visit_descendant, w);
}

int tree_signal_group(pid_t group, int signo, pid_t spared)
{
	struct walk w = {.signo = signo, .group = group, .spared = spared};
	walk_descendants(&w);
	return w.count;
}

int tree_signal(int signo)
{
	struct round r = {.signo = signo};
	signal_children(&r);
	return r.count;
}

bool tree_kill(void)
{
	struct round stop = {.signo = SIGSTOP, .groups = true, .own = getpgrp()};
	struct round end = {.signo = SIGKILL, .groups = true, .own = stop.own};
	signal_children(&stop);
	return signal_children(&end);
}

/* See removal.h. One timer for a whole table; every step is bounded, and repeated until no process is left. */
#include "shell/held/removal.h"

#include "pty/proc/proc.h"
#include "pty/spawn.h"
#include "shell/held/table.h"
#include "shell/proc/tree.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#define STEP_MS 10u
#define HOLDER_NAME "ringside-holder" /* name in the kernel, complete */
#define GUARD_NAME "ringside-guard"

bool removal_is_stopped(pid_t holder)
{
	struct proc_status s;
	return holder > 0 && proc_status(holder, &s) && (s.state == 'T' || s.state == 't');
}

/* A pidfd of the process if it has this name, otherwise -1. The pidfd is opened first: it is of what was checked. */
static int open_named(pid_t pid, const char *name)
{
	struct proc_status s;
	int pidfd = pid > 1 ? pidfd_open(pid, 0) : -1;
	if (pidfd < 0)
		return -1;
	if (proc_status(pid, &s) && strcmp(s.name, name) == 0)
		return pidfd;
	close(pidfd);
	return -1;
}

int removal_open_guard(pid_t holder)
{
	struct proc_status s;
	return holder > 0 && proc_status(holder, &s) ? open_named(s.parent, GUARD_NAME) : -1;
}

void removal_continue(pid_t holder)
{
	int fd = removal_is_stopped(holder) ? open_named(holder, HOLDER_NAME) : -1;
	if (fd < 0)
		return;
	(void)pidfd_send_signal(fd, SIGCONT, NULL, 0);
	close(fd);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void signal_one(int fd, int signo)
{
	if (fd >= 0)
		(void)pidfd_send_signal(fd, signo, NULL, 0);
}

/* Whether the process has ended; then its pidfd is closed. */
static bool is_gone(int *fd)
{
	struct pollfd p = {.fd = *fd, .events = POLLIN};
	if (*fd >= 0 && poll(&p, 1, 0) <= 0)
		return false;
	close_fd(fd);
	return true;
}

static void forget(struct removal *r)
{
	assert(r->table);
	DL_DELETE(r->table->list, r);
	r->table = NULL;
	close_fd(&r->guard_fd);
	close_fd(&r->holder_fd);
}

/* The number of processes below a process with an open pidfd; 0 if it is gone. */
static unsigned count_below(pid_t pid)
{
	struct proc_status *entries = NULL;
	size_t count = 0;
	if (pid <= 0 || tree_list(pid, 0, &entries, &count) < 0)
		return 0;
	free(entries);
	return (unsigned)count;
}

/* Without a guard: stop the holder, so that it starts nothing; kill what is below it, and then the holder. */
static void kill_without_guard(struct removal *r)
{
	signal_one(r->holder_fd, SIGSTOP);
	int below = tree_kill_below(r->holder, 0);
	/* If the tree could not be read, its processes would be out of reach without the holder. */
	if (below == 0)
		signal_one(r->holder_fd, SIGKILL);
	r->survivors = 1 + (below > 0 ? (unsigned)below : 0);
}

/* A search for the guard or the holder of a directory. */
struct search {
	struct removal *r;
	struct statx directory;
};

/* A process to check. */
struct suspect {
	pid_t pid;
	bool has;
	struct statx directory;
};

/* AT_STATX_DONT_SYNC: the program of a FUSE file system may never answer. */
static void check_directory(struct attempt *attempt, void *data)
{
	struct suspect *s = data;
	char path[40];
	struct statx st;
	(void)attempt;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)s->pid, SPAWN_DIR_FD);
	s->has = statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, &st) == 0 &&
		st.stx_ino == s->directory.stx_ino &&
		st.stx_dev_major == s->directory.stx_dev_major &&
		st.stx_dev_minor == s->directory.stx_dev_minor;
}

/* Whether our user owns the process, and the directory is at its SPAWN_DIR_FD. The name alone can be faked. */
static bool has_directory(struct search *f, pid_t pid)
{
	struct proc_status process;
	struct suspect s = {.pid = pid, .directory = f->directory};
	const struct attempt_call call = {.key = pid, .work = check_directory};
	return proc_status(pid, &process) && process.owner == geteuid() &&
		attempt_run(&f->r->table->attempts, &call, &s, sizeof s) == 0 && s.has;
}

static bool visit(void *user, pid_t pid)
{
	struct search *f = user;
	struct removal *r = f->r;
	int guard = open_named(pid, GUARD_NAME);
	int holder = guard < 0 ? open_named(pid, HOLDER_NAME) : -1;
	if ((guard >= 0 || holder >= 0) && has_directory(f, pid)) {
		close_fd(guard >= 0 ? &r->guard_fd : &r->holder_fd);
		if (guard >= 0) {
			r->guard_fd = guard;
			return false;
		}
		r->holder = pid;
		r->holder_fd = holder;
		return true;
	}
	close_fd(&guard);
	close_fd(&holder);
	return true;
}

/* Neither pidfd is known: check whether a process has the directory's lock, and search for it if so. */
static bool is_locked(struct removal *r)
{
	struct search f = {.r = r};
	uint64_t now = uv_now(r->table->loop);
	if (r->dir_fd == 0 || flock(r->dir_fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return false;
	if (now >= r->search_at_ms &&
		statx(r->dir_fd, "", AT_EMPTY_PATH, STATX_INO, &f.directory) == 0) {
		r->search_at_ms = now + REMOVAL_SEARCH_MS;
		(void)proc_each(visit, &f);
	}
	return true;
}

/* Returns whether no process is left. */
static bool step(struct removal *r)
{
	if (r->table->held && r->directory)
		held_kill_group(r->table->held, r->directory);
	bool has_guard = !is_gone(&r->guard_fd), has_holder = !is_gone(&r->holder_fd);
	if (has_guard) {
		signal_one(r->guard_fd, SIGTERM);
		signal_one(r->guard_fd, SIGCONT);
		r->survivors = 1 + count_below(has_holder ? r->holder : 0);
	} else if (has_holder) {
		kill_without_guard(r);
	} else {
		r->survivors = is_locked(r);
	}
	return r->survivors == 0;
}

static void on_timer(uv_timer_t *timer);

static void schedule(struct removals *t, uint64_t now)
{
	const struct removal *r;
	uint64_t next = UINT64_MAX;
	DL_FOREACH (t->list, r) {
		uint64_t at = r->forced ? now + STEP_MS : r->force_at_ms;
		next = at < next ? at : next;
	}
	if (t->list)
		uv_timer_start(&t->timer, on_timer, next > now ? next - now : 0, 0);
	else
		uv_timer_stop(&t->timer);
}

/* Check each removal that is forced. Moves those that are over to `over`; returns how many. */
static size_t check_all(struct removals *t, struct removal **over, uint64_t now)
{
	struct removal *r, *next;
	size_t count = 0;
	DL_FOREACH_SAFE (t->list, r, next) {
		if (!r->forced && now >= r->force_at_ms) {
			r->forced = true;
			r->give_up_at_ms = now + REMOVAL_GIVE_UP_MS;
		}
		if (!r->forced || (!step(r) && now < r->give_up_at_ms))
			continue;
		forget(r);
		over[count++] = r;
	}
	return count;
}

static void on_timer(uv_timer_t *timer)
{
	struct removals *t = timer->data;
	struct removal *r, **over;
	uint64_t now = uv_now(t->loop);
	size_t count = 0;
	DL_COUNT(t->list, r, count);
	over = count > 0 ? calloc(count, sizeof(*over)) : NULL;
	if (count > 0 && !over) {
		uv_timer_start(timer, on_timer, STEP_MS, 0); /* memory is short */
		return;
	}
	count = over ? check_all(t, over, now) : 0;
	schedule(t, now);
	for (size_t i = 0; i < count; i++)
		over[i]->done(over[i]->user, over[i]->survivors > 0 ? -EBUSY : 0);
	free(over);
}

void removals_open(struct removals *t, uv_loop_t *loop)
{
	*t = (struct removals){.loop = loop};
	uv_timer_init(loop, &t->timer); /* cannot fail */
	t->timer.data = t;
}

void removals_close(struct removals *t)
{
	while (t->list)
		forget(t->list);
	attempts_finish(&t->attempts);
	uv_close((uv_handle_t *)&t->timer, NULL);
}

void removal_start(struct removals *t, struct removal *r, int guard_fd, unsigned wait_ms)
{
	uint64_t now = uv_now(t->loop);
	assert(!r->table);
	r->table = t;
	r->guard_fd = guard_fd >= 0 ? fcntl(guard_fd, F_DUPFD_CLOEXEC, 0)
				    : removal_open_guard(r->holder);
	r->holder_fd = open_named(r->holder, HOLDER_NAME);
	r->forced = false;
	r->survivors = 0;
	r->search_at_ms = 0;
	r->force_at_ms = now + wait_ms;
	DL_APPEND(t->list, r);
	removal_continue(r->holder);
	schedule(t, now);
}

void removal_force(struct removal *r)
{
	if (!r->table || r->forced)
		return;
	r->force_at_ms = 0;
	schedule(r->table, uv_now(r->table->loop));
}

void removal_finish(struct removal *r)
{
	if (!r->table)
		return;
	signal_one(r->guard_fd, SIGTERM);
	signal_one(r->guard_fd, SIGCONT);
	removal_cancel(r);
}

void removal_cancel(struct removal *r)
{
	struct removals *t = r->table;
	if (!t)
		return;
	forget(r);
	schedule(t, uv_now(t->loop));
}

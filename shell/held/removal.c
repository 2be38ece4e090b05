/* See removal.h. One timer for all of a table; every step is bounded, and repeated until nobody is left. */
#include "shell/held/removal.h"

#include "pty/spawn.h"
#include "pty/theirs.h"
#include "shell/held/orphans.h"
#include "shell/held/remains.h"
#include "shell/held/table.h"
#include "shell/proc/tree.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#define STEP_MS 10u
#define MARK_DIGITS 16u
#define HOLDER_NAME \
	"ringside-holder\n" /* in /proc/PID/comm, which has at most 15 characters of it */

uint64_t removal_mark(const char *directory)
{
	const char *random = strrchr(directory, '+');
	char *end;
	if (!random || strlen(random + 1) != MARK_DIGITS || !isxdigit((unsigned char)random[1]))
		return 0;
	uint64_t mark = strtoull(random + 1, &end, 16);
	/* A limit, so neither infinite nor in the way of anybody who counts. */
	return *end ? 0 : (mark & SPAWN_MARK_BITS) | SPAWN_MARK_LEAST;
}

uint64_t removal_ticks(void)
{
	struct timespec now;
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * per_second + (uint64_t)now.tv_nsec * per_second / 1000000000u;
}

bool removal_is_stopped(pid_t holder)
{
	struct tree_entry e;
	return holder > 0 && tree_read(holder, &e) && (e.state == 'T' || e.state == 't');
}

/* The holder */

/* Whether pid is the holder with this directory. */
static bool is_holder(pid_t pid, const struct stat *directory)
{
	char path[64], name[32];
	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, name, sizeof name - 1);
	close(fd);
	name[n > 0 ? n : 0] = '\0';
	if (strncmp(name, HOLDER_NAME, sizeof HOLDER_NAME - 1) != 0)
		return false;
	return theirs_is(pid, SPAWN_DIR_FD, directory) > 0;
}

/* Open pid if it is the holder. The descriptor came first, so it is that of whom was looked at, or of nobody. */
static bool open_holder(struct removal *r, pid_t pid, const struct stat *directory)
{
	int fd = pidfd_open(pid, 0);
	if (fd < 0)
		return false;
	if (!is_holder(pid, directory)) {
		close(fd);
		return false;
	}
	r->holder = pid;
	r->holder_fd = fd;
	return true;
}

/* Leaves r->holder -1 when there is none. */
static void find_holder(struct removal *r)
{
	struct stat directory;
	pid_t told = r->holder;
	r->searched = true;
	r->holder = -1;
	if (told < 0 || r->dir_fd < 0 || fstat(r->dir_fd, &directory) < 0)
		return;
	if (told > 0) {
		open_holder(r, told, &directory);
		return;
	}
	DIR *dir = opendir("/proc");
	for (struct dirent *d; dir && r->holder < 0 && (d = readdir(dir));)
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			open_holder(r, (pid_t)strtol(d->d_name, NULL, 10), &directory);
	if (dir)
		closedir(dir);
}

static void signal_holder(const struct removal *r, int signo)
{
	if (r->holder_fd >= 0)
		(void)pidfd_send_signal(r->holder_fd, signo, NULL, 0);
}

static void signal_found(pid_t holder, int dir_fd, int signo)
{
	struct removal r = {.holder = holder, .dir_fd = dir_fd, .holder_fd = -1};
	find_holder(&r);
	signal_holder(&r, signo);
	if (r.holder_fd >= 0)
		close(r.holder_fd);
}

void removal_continue(pid_t holder, int dir_fd)
{
	if (removal_is_stopped(holder))
		signal_found(holder, dir_fd, SIGCONT);
}

void removal_finish(struct removal *r)
{
	if (r->holder > 0)
		signal_found(r->holder, r->dir_fd, SIGKILL);
	removal_cancel(r);
}

static bool holder_is_gone(struct removal *r)
{
	struct pollfd p = {.fd = r->holder_fd, .events = POLLIN};
	if (r->holder_fd < 0)
		return true;
	if (poll(&p, 1, 0) <= 0)
		return false;
	close(r->holder_fd);
	r->holder_fd = -1;
	r->holder = -1;
	return true;
}

/* Steps */

static void forget(struct removal *r)
{
	assert(r->table);
	DL_DELETE(r->table->list, r);
	r->table = NULL;
	if (r->holder_fd >= 0)
		close(r->holder_fd);
	r->holder_fd = -1;
}

/* Whoever is below the holders, and then the marked ones of all. Sets survivors. */
static void end_all(struct removal **forced, struct orphans *sets, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct removal *r = forced[i];
		if (r->table->held && r->directory)
			held_kill_group(r->table->held, r->directory);
		int below = r->holder > 0 ? tree_end_below(r->holder, 0) : 0;
		r->survivors = below > 0 ? (unsigned)below : 0;
		sets[i] = (struct orphans){
			.mark = r->mark, .session = r->session, .lost_ticks = r->lost_ticks};
	}
	if (orphans_end(sets, count) < 0)
		return; /* no memory, or no descriptor: there is a next time */
	for (size_t i = 0; i < count; i++)
		forced[i]->survivors += sets[i].count;
}

/* One look at those that are forced. Returns how many are over. */
static size_t step(struct removal **forced, size_t count, uint64_t now)
{
	size_t over = 0;
	struct orphans *sets = calloc(count, sizeof *sets);
	bool *gone = calloc(count, sizeof *gone);
	if (!sets || !gone)
		goto out;
	for (size_t i = 0; i < count; i++) {
		if (!forced[i]->searched)
			find_holder(forced[i]);
		gone[i] = holder_is_gone(forced[i]);
		/* So that it starts nobody else. */
		signal_holder(forced[i], SIGSTOP);
	}
	end_all(forced, sets, count);
	for (size_t i = 0; i < count; i++) {
		struct removal *r = forced[i];
		bool done = gone[i] && r->survivors == 0;
		if (r->survivors == 0 && !gone[i])
			signal_holder(r, SIGKILL);
		r->survivors += !gone[i];
		if (!done && now < r->give_up_at_ms)
			continue;
		forget(r);
		forced[over++] = r;
	}
out:
	free(sets);
	free(gone);
	return over;
}

static void begin(struct removal *r, uint64_t now)
{
	r->forced = true;
	r->give_up_at_ms = now + REMOVAL_GIVE_UP_MS;
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

static void on_timer(uv_timer_t *timer)
{
	struct removals *t = timer->data;
	struct removal *r, **forced = NULL;
	uint64_t now = uv_now(t->loop);
	size_t count = 0, used = 0, over = 0;
	DL_COUNT(t->list, r, count);
	forced = count > 0 ? calloc(count, sizeof(*forced)) : NULL;
	DL_FOREACH (t->list, r) {
		if (!r->forced && now >= r->force_at_ms)
			begin(r, now);
		if (r->forced && forced)
			forced[used++] = r;
	}
	if (used > 0)
		over = step(forced, used, now);
	schedule(t, now);
	for (size_t i = 0; i < over; i++)
		forced[i]->done(forced[i]->user, forced[i]->survivors > 0 ? -EBUSY : 0);
	free(forced);
}

void removals_open(struct removals *t, uv_loop_t *loop)
{
	*t = (struct removals){.loop = loop};
	uv_timer_init(loop, &t->timer); /* cannot fail */
	t->timer.data = t;
}

void removals_close(struct removals *t)
{
	remains_close(t);
	while (t->list)
		forget(t->list);
	uv_close((uv_handle_t *)&t->timer, NULL);
}

void removal_start(struct removals *t, struct removal *r, unsigned wait_ms)
{
	uint64_t now = uv_now(t->loop);
	assert(!r->table);
	r->table = t;
	r->holder_fd = -1;
	r->searched = r->forced = false;
	r->survivors = 0;
	r->force_at_ms = now + wait_ms;
	DL_APPEND(t->list, r);
	removal_continue(r->holder, r->dir_fd);
	schedule(t, now);
}

void removal_force(struct removal *r)
{
	if (!r->table || r->forced)
		return;
	r->force_at_ms = 0;
	schedule(r->table, uv_now(r->table->loop));
}

void removal_cancel(struct removal *r)
{
	struct removals *t = r->table;
	if (!t)
		return;
	forget(r);
	schedule(t, uv_now(t->loop));
}

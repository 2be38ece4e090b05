/*
 * A held object of any kind. Events of its link are passed on to its kind, which decides what a start or an end means.
 * See table.c for the tables, adoption.c for finding holders, and ending.c for the end.
 */
#include "shell/held/held.h"

#include "shell/bounds.h"
#include "shell/held/ending.h"
#include "shell/held/table.h"
#include "shell/own_error.h"
#include "shell/store/runtime_lock.h"
#include "shell/store/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#define TAKEN_QUIET_MS 60000u /* a takeover within this time of the last one is a repeated one */

static const struct held_kind *kind_of(const struct held *h)
{
	return h->table->kind;
}

/* Whether this server still has the lock of the runtime directory. */
static bool owns_runtime_directory(const struct held_table *t)
{
	return t->trust.lock && runtime_lock_is_held(t->trust.lock, t->trust.runtime_dir);
}

int held_check_runtime_directory(const struct held_table *t)
{
	return !t->trust.lock || owns_runtime_directory(t) ? 0 : -ERR_RUNTIME_REPLACED;
}

static void on_attached(void *user)
{
	struct held *h = user;
	h->unresponsive = false;
	h->guard_fd = removal_open_guard(h->link.info.holder_pid);
	kind_of(h)->attached(h);
}

static void on_failed(void *user, enum report_stage stage, int error)
{
	struct held *h = user;
	if (h->adopted)
		held_refuse_directory(h->table, h->directory);
	bool no_terminal = stage == REPORT_TERMINAL && error == -ENOSPC;
	kind_of(h)->failed(h, stage, no_terminal ? -ERR_NO_TERMINAL : error);
}

static void on_wake(void *user)
{
	struct held *h = user;
	turn_wake(&h->table->turns, &h->turn);
}

static void on_lost(void *user, bool taken)
{
	struct held *h = user;
	h->holder_lost = true;
	h->taken = taken;
	kind_of(h)->lost(h);
}

/*
 * Another process has attached. An object that is being ended is not taken back: its processes are killed in any case.
 * A repeated takeover is undone later, by held_recheck().
 */
static void on_taken(void *user)
{
	struct held *h = user;
	uint64_t now = uv_now(h->table->loop);
	bool repeated = h->taken_ms > 0 && now <= h->taken_ms + TAKEN_QUIET_MS;
	h->taken_ms = now;
	if (!repeated)
		h->taken_reported = false;
	if (h->place == HELD_ENDING)
		link_abandon(&h->link, false);
	else if (!repeated || !owns_runtime_directory(h->table))
		held_take_back(h);
}

static void on_regained(void *user)
{
	struct held *h = user;
	const struct held_kind *kind = kind_of(h);
	if (!h->taken_reported)
		kind->report_error(h->table, h->id,
			"another process had attached to its holder: taken back", -EBUSY);
	h->taken_reported = true;
	if (kind->regained)
		kind->regained(h);
	held_schedule_turn(h);
}

static void on_terminal(void *user, const char *path)
{
	struct held *h = user;
	if (kind_of(h)->terminal)
		kind_of(h)->terminal(h, path);
}

static void on_ended(void *user, int error)
{
	held_on_ended(user, error);
}

static const struct link_callbacks link_callbacks = {
	.attached = on_attached,
	.failed = on_failed,
	.wake = on_wake,
	.lost = on_lost,
	.taken = on_taken,
	.regained = on_regained,
	.terminal = on_terminal,
	.ended = on_ended,
};

int held_init(struct held *h, struct held_table *t, const char *directory, int dir_fd)
{
	h->table = t;
	h->guard_fd = -1;
	h->directory = strdup(directory);
	int rc = h->directory ? link_init(&h->link, t->loop, dir_fd, &link_callbacks, h) : -ENOMEM;
	if (rc < 0)
		close(dir_fd);
	return rc;
}

/* Let the session user open files in DIRECTORY_SHELL, but not list it. */
static int share_shell_directory(const struct held *h)
{
	int fd = openat(h->link.dir_fd, DIRECTORY_SHELL, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : bounds_allow_traverse(h->table->bounds, fd);
	if (fd >= 0)
		close(fd);
	return rc;
}

int held_start(struct held *h, struct spawn_options *options)
{
	char group[HELD_GROUP_SIZE];
	struct bounded bounded;
	held_group(h->table, h->directory, group);
	const struct bounds_shell shell = {
		.dir_fd = options->dir_fd, .cwd = options->cwd, .respawn = options->respawn};
	int rc = bounds_shell(h->table->bounds, group, &shell, &bounded);
	if (rc < 0)
		return rc;
	rc = bounds_allow_traverse(h->table->bounds, options->dir_fd);
	if (rc == 0)
		rc = share_shell_directory(h);
	for (const char *const *file = kind_of(h)->shared; rc == 0 && file && *file; file++)
		held_share_file(h, *file);
	options->wrapper = bounded.wrapper;
	options->owner = bounded.owner;
	options->filter_fd = bounded.filter_fd;
	options->group_fd = bounded.group_fd;
	if (rc == 0)
		rc = link_start(&h->link, options, &h->table->reaper);
	bounds_release(&bounded);
	return rc;
}

void held_share_file(const struct held *h, const char *name)
{
	uid_t owner = h->link.state == LINK_ATTACHED ? link_owner_uid(&h->link)
						     : bounds_owner(h->table->bounds);
	if (owner != geteuid())
		(void)!fchownat(h->link.dir_fd, name, owner, (gid_t)-1, AT_SYMLINK_NOFOLLOW);
}

int held_open_descriptor(const struct held *h, int holder_fd, int flags)
{
	char path[32];
	struct statx st;
	if (h->holder_lost)
		return -ESRCH;
	/* The pid may have been reused: check the file before opening it for reading or writing. */
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)h->link.info.holder_pid, holder_fd);
	int found = open(path, O_PATH | O_CLOEXEC);
	if (found < 0)
		return -errno;
	int rc = statx(found, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_UID, &st) < 0
		? -errno
		: 0;
	if (rc == 0 && (!S_ISREG(st.stx_mode) || st.stx_uid != link_owner_uid(&h->link)))
		rc = -ESRCH;
	if (rc == 0) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", found);
		rc = open(path, flags | O_CLOEXEC);
		rc = rc < 0 ? -errno : rc;
	}
	close(found);
	return rc;
}

void held_take_back(struct held *h)
{
	if (!owns_runtime_directory(h->table)) {
		link_abandon(&h->link, true);
		return;
	}
	int rc = link_reattach(&h->link);
	if (rc == -ECONNREFUSED || rc == -ENOENT)
		link_abandon(&h->link, false);
	/* Any other error may be temporary: held_recheck() tries again. */
}

const char *held_attach_error_text(int error, const char *fallback)
{
	static const struct {
		int error;
		const char *text;
	} reasons[] = {
		{-EPROTO, "refused: the process that listens on its socket is not a holder"},
		{-EPERM, "refused: the process that listens on its socket belongs to another user"},
	};
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].error == error)
			return reasons[i].text;
	return fallback;
}

static void close_guard(struct held *h)
{
	if (h->table && h->guard_fd >= 0) /* before held_init() all fields are 0, guard_fd too */
		close(h->guard_fd);
	h->guard_fd = -1;
}

void held_finish(struct held *h)
{
	close_guard(h);
	free(h->directory);
	h->directory = NULL;
}

static void on_closed(void *user)
{
	struct held *h = user;
	kind_of(h)->closed(h);
}

void held_close(struct held *h)
{
	removal_cancel(&h->removal);
	close_guard(h);
	if (!h->link.closing)
		link_close(&h->link, on_closed);
}

uv_loop_t *held_loop(const struct held *h)
{
	return h->table->loop;
}

void held_schedule_turn(struct held *h)
{
	turn_schedule(&h->table->turns, &h->turn);
}

void held_run_turn(struct held *h)
{
	turn_run(&h->table->turns, &h->turn);
}

void held_add_waiter(struct held_waiter **list, struct held_waiter *w)
{
	LL_PREPEND(*list, w);
}

void held_answer_waiters(
	struct held_waiter **list, struct held *h, enum report_stage stage, int error)
{
	while (*list) {
		struct held_waiter *w = *list;
		LL_DELETE(*list, w);
		w->done(w, h, stage, error);
	}
}

bool held_is_responsive(const struct held *h)
{
	return !link_is_unresponsive(&h->link) || !removal_is_stopped(h->link.info.holder_pid);
}

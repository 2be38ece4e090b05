/*
 * A directory without a holder is removed, after its leftover processes were killed. One that was being ended is ended
 * again. If a holder is still starting, its directory is checked again later. Adoption does not wait for a holder that
 * is stopped (SIGSTOP): that completes when the holder continues.
 */
#include "shell/held/adoption.h"

#include "pty/proc/proc.h"
#include "shell/held/ending.h"
#include "shell/own_error.h"
#include "shell/store/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define RESCAN_MS 20u /* retry interval for holders that are still starting */
#define RESCANS_MAX 500u

static void mark_unresponsive(struct held *h)
{
	const struct held_kind *kind = h->table->kind;
	h->unresponsive = true;
	kind->report_error(h->table, h->id, "its holder does not answer", -ERR_UNRESPONSIVE);
	held_answer_waiters(&h->start_waiters, h, REPORT_SETUP, -ERR_UNRESPONSIVE);
	if (kind->changed)
		kind->changed(h);
}

/* Attach to the holder of h, which is in its table. */
static int attach(struct held *h)
{
	const struct held_kind *kind = h->table->kind;
	int rc = link_adopt(&h->link);
	bool silent = rc == -EAGAIN || removal_is_stopped(link_holder_pid(&h->link));
	if (kind->is_only_ending && kind->is_only_ending(h, silent ? -EAGAIN : rc))
		return 0;
	if (rc < 0 && rc != -EAGAIN) {
		kind->release(h);
		return rc;
	}
	if (h->place == HELD_ENDING)
		kind->continue_end(h);
	else if (silent)
		mark_unresponsive(h);
	return 0;
}

static bool is_awaited(const struct held *h)
{
	return h->adopted && h->table->kind->is_awaited(h);
}

static int adopt(void *user, const char *directory, int dir_fd)
{
	struct held_table *t = user;
	struct held *h = NULL;
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	int rc = fd < 0 ? -errno : t->kind->load(t, directory, fd, &h);
	if (rc == -ENOMEM) /* it exists: try again later */
		return -EAGAIN;
	if (rc < 0 || !h)
		return rc;
	/* Wait for the first one of this id: it may have to be ended. */
	const struct held *first = held_find(t, h->id);
	if (first && is_awaited(first)) {
		t->kind->release(h);
		return -EAGAIN;
	}
	h->adopted = true;
	h->adopted_ms = uv_now(t->loop);
	/* The second of one id: its server was killed before any client heard of it. End it. */
	bool ending = faccessat(dir_fd, HELD_ENDING_FILE, F_OK, 0) == 0 || held_find(t, h->id);
	rc = held_add(h, ending ? HELD_ENDING : HELD_LISTED);
	if (rc < 0) {
		t->kind->release(h);
		return -EAGAIN;
	}
	t->kind->found(h);
	return attach(h);
}

static bool is_known(void *user, const char *directory)
{
	const struct held_table *t = user;
	const struct held *h;
	for (h = t->listed; h; h = h->hh.next)
		if (strcmp(h->directory, directory) == 0)
			return true;
	DL_FOREACH (t->ending, h)
		if (strcmp(h->directory, directory) == 0)
			return true;
	for (size_t i = 0; i < t->refused_count; i++)
		if (strcmp(t->refused[i], directory) == 0)
			return true;
	return false;
}

/* The holder died while there was no server, and its guard has killed its processes. */
static void remove_leftover(void *user, const char *directory)
{
	held_remove_directory(user, directory);
}

static void on_failed(void *user, const char *directory, int error)
{
	struct held_table *t = user;
	held_refuse_directory(t, directory);
	t->kind->report_error(
		t, directory, held_attach_error_text(error, t->kind->cannot_adopt), error);
}

static void on_rescan(uv_timer_t *timer)
{
	held_adopt(timer->data);
}

int held_adopt(struct held_table *t)
{
	const struct directory_owner owner = {.is_known = is_known,
		.adopt = adopt,
		.remove = remove_leftover,
		.failed = on_failed,
		.user = t};
	bool again;
	int found = directory_adopt_all(t->dir_fd, &owner, &again);
	if (t->kind->compare)
		HASH_SORT(t->listed, t->kind->compare);
	if (again && t->rescans++ < RESCANS_MAX)
		uv_timer_start(&t->rescan, on_rescan, RESCAN_MS, 0);
	return found;
}

static bool add_child(void *user, pid_t child)
{
	struct held_table *t = user;
	if (reaper_reserve(&t->reaper) < 0)
		return false;
	reaper_add(&t->reaper, child);
	return true;
}

void held_adopt_children(struct held_table *t)
{
	proc_each_child(getpid(), add_child, t);
}

bool held_is_adopting(const struct held_table *t)
{
	if (uv_is_active((const uv_handle_t *)&t->rescan))
		return true;
	for (const struct held *h = t->listed; h; h = h->hh.next)
		if (is_awaited(h) && !h->unresponsive)
			return true;
	return false;
}

void held_recheck(struct held_table *t)
{
	struct held *h, *next;
	HASH_ITER (hh, t->listed, h, next) {
		if (h->link.taken)
			held_take_back(h);
		if (!is_awaited(h))
			continue;
		int rc = h->link.state == LINK_IDLE ? link_adopt(&h->link) : 0;
		if (rc == -ECONNREFUSED || rc == -ENOENT) {
			h->holder_lost = true;
			t->kind->holder_died(h);
		} else if (!h->unresponsive &&
			uv_now(t->loop) > h->adopted_ms + LINK_UNRESPONSIVE_MS) {
			mark_unresponsive(h);
		}
	}
}

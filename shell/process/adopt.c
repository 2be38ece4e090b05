/*
 * Adopting what an earlier server has left. A directory with neither a holder nor an output is removed, with the
 * processes that its holder has left behind; one that was being removed is removed, and one whose holder is still
 * starting is looked at later. A holder that does not answer, for it has been stopped, is not waited for: its process
 * is adopted when it does.
 */
#include "shell/store/directory.h"
#include "shell/process/internal.h"
#include "shell/held/remains.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define RESCAN_MS 20u /* for holders whose server was killed while they started */
#define RESCANS_MAX 500u

/* Attach to the holder of a directory, which may be one that is to be removed. */
static int adopt(void *user, const char *directory, int dir_fd)
{
	struct processes *t = user;
	struct process *p = NULL;
	int link_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	int rc = link_fd < 0 ? -errno : process_create(t, directory, link_fd, &p);
	if (rc < 0 || !p)
		return rc;
	rc = process_meta_load(dir_fd, p);
	bool ending = faccessat(dir_fd, PROCESS_ENDING_FILE, F_OK, 0) == 0;
	/* Two of one id: nobody knows the one whose server was killed before it could say that it exists. */
	if (rc < 0 || processes_find(t, p->held.id))
		ending = true;
	p->held.adopted = true;
	p->held.found_ms = uv_now(t->loop);
	int kept = ending ? -ENOENT : process_keep_load(p, dir_fd);
	if (kept < 0 && kept != -ENOENT)
		t->callbacks->failed(t->user, directory, "cannot read its output", kept);
	p->state = ending         ? PROCESS_REMOVING
		: p->ended_ms > 0 ? PROCESS_ENDED
		: p->pid > 0      ? PROCESS_RUNNING
				  : PROCESS_STARTING;
	t->counters.adopted += p->kept;
	if (ending) {
		DL_APPEND(t->removing, p);
	} else {
		HASH_ADD_STR(t->table, held.id, p);
		t->running += p->state != PROCESS_ENDED;
	}
	if (rc == 0)
		rc = link_adopt(&p->held.link);
	p->held.unresponsive = rc == -EAGAIN || removal_is_stopped(link_holder(&p->held.link));
	if (p->kept && (rc < 0 || p->held.unresponsive)) {
		/* It has ended, and that is all that its holder is needed for. */
		p->held.holder_lost = rc == -ECONNREFUSED || rc == -ENOENT;
		process_end_holder(p);
		return 0;
	}
	if (rc < 0 && rc != -EAGAIN) {
		process_release(p);
		return rc;
	}
	if (ending)
		process_await_attach(p, 0);
	else if (p->held.unresponsive)
		t->callbacks->failed(t->user, p->held.id, "its holder does not answer", -EHOSTDOWN);
	return 0;
}

void processes_look_again(struct processes *t)
{
	struct process *p, *next;
	HASH_ITER (hh, t->table, p, next) {
		if (!p->held.adopted || p->ring_open || p->kept || p->held.holder_lost)
			continue;
		int rc = p->held.link.state == LINK_IDLE ? link_adopt(&p->held.link) : 0;
		if (rc == -ECONNREFUSED || rc == -ENOENT) {
			p->held.holder_lost = p->gone = true;
			processes_remove(t, p, 0, NULL);
		} else if (!p->held.unresponsive &&
			uv_now(t->loop) > p->held.found_ms + LINK_SILENT_MS) {
			p->held.unresponsive = true;
			t->callbacks->failed(
				t->user, p->held.id, "its holder does not answer", -EHOSTDOWN);
		}
	}
}

static bool is_known(void *user, const char *directory)
{
	const struct processes *t = user;
	const struct process *p;
	for (p = t->table; p; p = p->hh.next)
		if (strcmp(p->held.directory, directory) == 0)
			return true;
	DL_FOREACH (t->removing, p)
		if (strcmp(p->held.directory, directory) == 0)
			return true;
	return remains_has(&t->removals, directory);
}

static void on_cleared(void *user, const char *name, int error)
{
	struct processes *t = user;
	if (error == 0)
		process_remove_directory(t, name);
	else
		t->callbacks->failed(t->user, name, "some of its processes survive", error);
}

/* Its holder has died while there was no server. */
static void remove_directory(void *user, const char *name)
{
	struct processes *t = user;
	int rc = remains_add(&t->removals, name, on_cleared, t);
	if (rc < 0)
		t->callbacks->failed(t->user, name, "cannot clear up after a process", rc);
}

static void on_failed(void *user, const char *name, int error)
{
	const struct processes *t = user;
	t->callbacks->failed(t->user, name, "cannot adopt a process", error);
}

static void on_rescan(uv_timer_t *timer)
{
	processes_adopt(timer->data);
}

static int compare(const struct process *a, const struct process *b)
{
	return (a->created_ms > b->created_ms) - (a->created_ms < b->created_ms);
}

int processes_adopt(struct processes *t)
{
	const struct directory_owner owner = {.is_known = is_known,
		.adopt = adopt,
		.remove = remove_directory,
		.failed = on_failed,
		.user = t};
	bool again;
	int found = directory_adopt_all(t->dir_fd, &owner, &again);
	HASH_SORT(t->table, compare);
	if (again && t->rescans++ < RESCANS_MAX)
		uv_timer_start(&t->rescan, on_rescan, RESCAN_MS, 0);
	return found;
}

bool processes_adopting(const struct processes *t)
{
	const struct process *p;
	if (uv_is_active((const uv_handle_t *)&t->rescan))
		return true;
	for (p = t->table; p; p = p->hh.next)
		if (p->held.adopted && !p->ring_open && !p->kept && !p->held.unresponsive)
			return true;
	return false;
}

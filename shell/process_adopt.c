/*
 * Adopting what an earlier server has left. A directory without a holder is removed, one that was being
 * removed is removed, and one whose holder is still starting is looked at later.
 */
#include "shell/processes_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <utlist.h>

#define RESCAN_MS 20u /* for holders whose server was killed while they started */
#define RESCANS_MAX 500u

/* Attach to the holder of a directory, which may be one that is to be removed. */
static int adopt(struct processes *t, const char *directory, int dir_fd)
{
	struct process *p = NULL;
	int link_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	int rc = link_fd < 0 ? -errno : process_create(t, directory, link_fd, &p);
	if (rc < 0 || !p)
		return rc;
	rc = process_meta_load(dir_fd, p);
	bool ending = faccessat(dir_fd, PROCESS_ENDING_FILE, F_OK, 0) == 0;
	/* Two of one id: nobody knows the one whose server was killed before it could say that it exists. */
	if (rc < 0 || processes_find(t, p->id))
		ending = true;
	p->adopted = true;
	p->state = ending         ? PROCESS_REMOVING
		: p->ended_ms > 0 ? PROCESS_ENDED
		: p->pid > 0      ? PROCESS_RUNNING
				  : PROCESS_STARTING;
	if (ending) {
		DL_APPEND(t->removing, p);
	} else {
		HASH_ADD_STR(t->table, id, p);
		t->running += p->state != PROCESS_ENDED;
	}
	if (rc == 0)
		rc = link_adopt(&p->link);
	if (rc < 0)
		process_release(p);
	return rc;
}

static bool is_known(const struct processes *t, const char *directory)
{
	const struct process *p;
	for (p = t->table; p; p = p->hh.next)
		if (strcmp(p->directory, directory) == 0)
			return true;
	DL_FOREACH (t->removing, p)
		if (strcmp(p->directory, directory) == 0)
			return true;
	return false;
}

/* Returns 1 when a process was found, 0 when there was none to find, -EAGAIN when it is too early to say. */
static int adopt_or_clear(struct processes *t, const char *directory)
{
	if (is_known(t, directory))
		return 0;
	int fd = openat(t->dir_fd, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	int rc = adopt(t, directory, fd);
	bool nobody = rc == -ECONNREFUSED || rc == -ENOENT;
	/* A holder whose server was killed while it started holds the lock but has no socket yet. */
	bool starting = nobody && flock(fd, LOCK_EX | LOCK_NB) < 0;
	close(fd);
	if (nobody && !starting)
		process_remove_directory(t, directory);
	else if (rc < 0 && !starting)
		t->callbacks->failed(t->user, directory, "cannot adopt a process", rc);
	return rc == 0 ? 1 : starting ? -EAGAIN : 0;
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
	int found = 0;
	bool again = false;
	int fd = openat(t->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		int rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		int rc = adopt_or_clear(t, entry->d_name);
		found += rc > 0;
		again |= rc == -EAGAIN;
	}
	closedir(dir);
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
		if (p->adopted && !p->ring_open)
			return true;
	return false;
}

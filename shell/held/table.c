/* The table of one kind, and its directories. A directory that cannot be removed is left to the next server. */
#include "shell/held/table.h"

#include "shell/bounds.h"
#include "shell/dir.h"
#include "shell/held/adoption.h"
#include "shell/store/directory.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#define SWEEP_MS 1000u

int held_add(struct held *h, enum held_place place)
{
	struct held_table *t = h->table;
	assert(h->place == HELD_UNLISTED);
	if (place == HELD_ENDING) {
		DL_APPEND(t->ending, h);
	} else {
		HASH_ADD_STR(t->listed, id, h);
		if (!h->hh.tbl)
			return -ENOMEM;
		if (t->observer)
			t->observer->added(t->observer->user, h->id);
	}
	h->place = place;
	return 0;
}

void held_observe(struct held_table *t, const struct held_observer *observer)
{
	assert(!t->listed);
	t->observer = observer;
}

void held_report_removed(const struct held *h)
{
	const struct held_table *t = h->table;
	/* When the server ends, the objects live on. */
	if (t->observer && !t->closing)
		t->observer->removed(t->observer->user, h->id);
}

void held_release(struct held *h)
{
	struct held_table *t = h->table;
	if (h->place == HELD_ENDING)
		DL_DELETE(t->ending, h);
	bool listed = h->place == HELD_LISTED;
	if (listed)
		HASH_DEL(t->listed, h);
	h->place = HELD_UNLISTED;
	if (listed)
		held_report_removed(h);
	removal_cancel(&h->removal);
	turn_remove(&t->turns, &h->turn);
}

struct held *held_find(const struct held_table *t, const char *id)
{
	struct held *found;
	HASH_FIND_STR(t->listed, id, found);
	return found;
}

struct held *held_next(const struct held_table *t, const struct held *h)
{
	return h ? h->hh.next : t->listed;
}

unsigned held_count(const struct held_table *t)
{
	return HASH_COUNT(t->listed);
}

bool held_table_is_idle(const struct held_table *t)
{
	const struct held *h;
	DL_FOREACH (t->ending, h)
		if (!h->stuck)
			return false;
	return !t->listed;
}

/* Directories */

void held_refuse_directory(struct held_table *t, const char *directory)
{
	char **refused = realloc(t->refused, (t->refused_count + 1) * sizeof *refused);
	char *name = refused ? strdup(directory) : NULL;
	if (refused)
		t->refused = refused;
	if (name)
		t->refused[t->refused_count++] = name; /* else it is refused again */
}

/* Remove files with this prefix in DIRECTORY_SHELL. */
static void remove_with_prefix(int dir_fd, const char *prefix)
{
	DIR *dir = dir_open(dir_fd, DIRECTORY_SHELL);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

void held_group(const struct held_table *t, const char *directory, char ret_name[HELD_GROUP_SIZE])
{
	snprintf(ret_name, HELD_GROUP_SIZE, "%s%s", t->kind->group, directory);
}

void held_kill_group(const struct held_table *t, const char *directory)
{
	char group[HELD_GROUP_SIZE];
	held_group(t, directory, group);
	bounds_kill(t->bounds, group);
}

void held_remove_directory(struct held_table *t, const char *directory)
{
	char group[HELD_GROUP_SIZE];
	held_group(t, directory, group);
	bounds_release_group(t->bounds, group, true);
	int fd = openat(t->dir_fd, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	for (const char *const *file = t->kind->files; *file; file++)
		unlinkat(fd, *file, 0);
	if (t->kind->prefix)
		remove_with_prefix(fd, t->kind->prefix);
	unlinkat(fd, DIRECTORY_SHELL, AT_REMOVEDIR);
	close(fd);
	if (unlinkat(t->dir_fd, directory, AT_REMOVEDIR) < 0)
		t->kind->report_error(t, "", t->kind->cannot_remove, -errno);
}

static int open_directory(struct held_table *t, int runtime_fd)
{
	const char *folder = t->kind->folder;
	if (mkdirat(runtime_fd, folder, 0700) < 0 && errno != EEXIST)
		return -errno;
	t->dir_fd = openat(runtime_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return t->dir_fd < 0 ? -errno : 0;
}

/* Opening and closing */

static enum turn_next take_turn(struct turn *turn)
{
	struct held *h = (struct held *)(void *)((char *)turn - offsetof(struct held, turn));
	return h->table->kind->take_turn(h);
}

static void on_sweep(uv_timer_t *timer)
{
	struct held_table *t = timer->data;
	t->kind->sweep(t);
	bounds_sweep(t->bounds);
	held_recheck(t);
}

int held_table_open(struct held_table *t, uv_loop_t *loop, const struct held_kind *kind, void *user,
	int runtime_fd)
{
	*t = (struct held_table){
		.kind = kind, .user = user, .loop = loop, .bounds = &bounds_none, .dir_fd = -1};
	int rc = open_directory(t, runtime_fd);
	if (rc < 0)
		return rc;
	rc = reaper_open(&t->reaper, loop);
	if (rc < 0) {
		close(t->dir_fd);
		return rc;
	}
	removals_open(&t->removals, loop);
	t->removals.held = t;
	turns_open(&t->turns, loop, take_turn);
	/* These cannot fail. */
	uv_timer_init(loop, &t->sweep);
	uv_timer_init(loop, &t->rescan);
	t->sweep.data = t->rescan.data = t;
	uv_timer_start(&t->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
	uv_unref((uv_handle_t *)&t->sweep);
	return 0;
}

void held_table_close(struct held_table *t)
{
	struct held *h, *next;
	t->closing = true;
	HASH_ITER (hh, t->listed, h, next) {
		held_answer_waiters(&h->start_waiters, h, REPORT_SETUP, -ECANCELED);
		t->kind->release(h);
	}
	DL_FOREACH_SAFE (t->ending, h, next) {
		held_answer_waiters(&h->end_waiters, h, REPORT_READY, -ECANCELED);
		t->kind->release(h);
	}
	removals_close(&t->removals);
	reaper_close(&t->reaper);
	turns_close(&t->turns);
	uv_close((uv_handle_t *)&t->sweep, NULL);
	uv_close((uv_handle_t *)&t->rescan, NULL);
	close(t->dir_fd);
	for (size_t i = 0; i < t->refused_count; i++)
		free(t->refused[i]);
	free(t->refused);
}

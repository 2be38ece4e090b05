/* See remains.h: removals without a holder, each on its own. */
#include "shell/held/remains.h"

#include "shell/held/table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <utlist.h>

struct remains {
	struct remains *prev, *next;
	struct removal removal;
	struct removals *table;
	remains_cleared *cleared;
	void *user;
	char *directory;
};

static void forget(struct remains *m)
{
	removal_cancel(&m->removal);
	DL_DELETE(m->table->remains, m);
	free(m->directory);
	free(m);
}

static void on_done(void *user, int error)
{
	struct remains *m = user;
	m->cleared(m->user, m->directory, error);
	forget(m);
}

/* A directory's lock is held as long as its holder lives, see shell/store/directory.h. */
static bool is_held(int folder_fd, const char *name)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;
	if (fd >= 0)
		close(fd);
	return held;
}

static DIR *open_folder(int parent_fd, const char *name)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Whether anything in this folder lives and has the mark. */
static bool folder_has(int runtime_fd, const char *name, uint64_t mark)
{
	bool found = false;
	DIR *dir = open_folder(runtime_fd, name);
	for (struct dirent *d; dir && !found && (d = readdir(dir));)
		found = removal_mark(d->d_name) == mark && is_held(dirfd(dir), d->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* The mark of a directory; 0 when it is that of something alive as well: anybody of the user can make up a name. */
static uint64_t own_mark(const struct removals *t, const char *directory)
{
	uint64_t mark = removal_mark(directory);
	DIR *runtime = t->held && mark != 0 ? open_folder(t->held->dir_fd, "..") : NULL;
	for (struct dirent *d; runtime && mark != 0 && (d = readdir(runtime));)
		if (d->d_name[0] != '.' && folder_has(dirfd(runtime), d->d_name, mark))
			mark = 0;
	if (runtime)
		closedir(runtime);
	return mark;
}

int remains_add(struct removals *t, const char *directory, remains_cleared *cleared, void *user)
{
	struct remains *m = calloc(1, sizeof *m);
	if (!m)
		return -ENOMEM;
	m->directory = strdup(directory);
	if (!m->directory) {
		free(m);
		return -ENOMEM;
	}
	m->table = t;
	m->cleared = cleared;
	m->user = user;
	m->removal = (struct removal){.done = on_done,
		.user = m,
		.dir_fd = -1,
		.directory = m->directory,
		.holder = -1,
		.mark = own_mark(t, directory)};
	DL_APPEND(t->remains, m);
	removal_start(t, &m->removal, 0);
	return 0;
}

bool remains_has(const struct removals *t, const char *directory)
{
	const struct remains *m;
	DL_FOREACH (t->remains, m)
		if (strcmp(m->directory, directory) == 0)
			return true;
	return false;
}

void remains_close(struct removals *t)
{
	struct remains *m, *next;
	DL_FOREACH_SAFE (t->remains, m, next)
		forget(m);
}

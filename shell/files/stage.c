#include "shell/files/stage.h"

#include "shell/dir.h"
#include "shell/files/copy.h"
#include "shell/files/entry.h"
#include "shell/files/nest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define PASSES_MAX 64u

/* Opening */

static int make_nest(struct stage *s)
{
	struct nest n;
	int rc = nest_make(s->entry.dir_fd, s->target, "-stage", &n);
	if (rc < 0)
		return rc;
	memcpy(s->entry.name, n.name, sizeof s->entry.name);
	s->mode = n.mode;
	s->place.cwd_fd = n.fd;
	return 0;
}

/* Merge: the stage is in the directory, so that both are on one file system. */
static int open_in(struct stage *s)
{
	s->entry.dir_fd = fcntl(s->target_fd, F_DUPFD_CLOEXEC, 0);
	return s->entry.dir_fd < 0 ? -errno : 0;
}

static int open_beside(const struct place *p, const char *path, const struct stage_options *options,
	struct stage *s)
{
	struct stat st;
	int rc = place_find(p, path, &s->entry);
	if (rc == -ENOENT && options->parents && (rc = place_make_parents(p, path)) == 0)
		rc = place_find(p, path, &s->entry);
	if (rc < 0)
		return rc;
	memcpy(s->target, s->entry.name, sizeof s->target);
	if (fstatat(s->entry.dir_fd, s->target, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
	return errno == ENOENT ? 0 : -errno;
}

/* Copy a path without trailing slashes, since place_make_parents() would make all that is before them. */
static int trim_slashes(const char *path, char ret_path[PLACE_PATH_MAX])
{
	size_t length = strlen(path);
	while (length > 1 && path[length - 1] == '/')
		length--;
	if (length >= PLACE_PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(ret_path, path, length);
	ret_path[length] = '\0';
	return 0;
}

int stage_open(const struct place *p, const char *path, const struct stage_options *options,
	struct stage *ret)
{
	char trimmed[PLACE_PATH_MAX];
	struct stage s = {.place = {.root_fd = -1, .cwd_fd = -1, .beneath = true},
		.entry = {.dir_fd = -1},
		.target_fd = -1,
		.old_fd = -1,
		.replace = options->replace};
	int rc = trim_slashes(path, trimmed);
	if (rc < 0)
		return rc;
	s.target_fd = place_open(p, trimmed, O_PATH | O_DIRECTORY, 0);
	if (s.target_fd < 0 && s.target_fd != -ENOENT)
		return s.target_fd;
	s.created = s.target_fd < 0;
	rc = !s.created && !options->replace ? open_in(&s) : open_beside(p, trimmed, options, &s);
	if (rc == 0)
		rc = make_nest(&s);
	if (rc < 0) {
		stage_abort(&s);
		return rc;
	}
	*ret = s;
	return 0;
}

/* Merging */

struct merge {
	char *name; /* of the entry that failed; STAGE_NAME_MAX bytes */
	dev_t device;
};

static DIR *open_directory(int dir_fd, const char *name)
{
	int fd = place_open_in(dir_fd, name, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (fd < 0)
		errno = -fd;
	else if (!dir)
		close(fd);
	return dir;
}

typedef int (*merge_step)(struct merge *m, DIR *from, int to_fd, const char *name, unsigned depth);

/* Call step() for each entry until it fails. Returns 0 or its error. */
static int for_each(struct merge *m, DIR *from, int to_fd, unsigned depth, merge_step step)
{
	for (;;) {
		errno = 0;
		const struct dirent *e = readdir(from);
		if (!e)
			return -errno;
		if (dir_is_dot(e->d_name))
			continue;
		int rc = step(m, from, to_fd, e->d_name, depth);
		if (rc < 0 && !m->name[0])
			snprintf(m->name, STAGE_NAME_MAX, "%s", e->d_name);
		if (rc < 0)
			return rc;
	}
}

/* The same for a subdirectory that both directories have. */
static int for_each_below(
	struct merge *m, DIR *from, int to_fd, const char *name, unsigned depth, merge_step step)
{
	DIR *below = depth < COPY_DEPTH_MAX ? open_directory(dirfd(from), name) : NULL;
	if (!below)
		return depth < COPY_DEPTH_MAX ? -errno : -ELOOP;
	int rc, to = place_open_in(to_fd, name, O_RDONLY | O_DIRECTORY);
	rc = to < 0 ? to : for_each(m, below, to, depth + 1, step);
	if (to >= 0)
		close(to);
	closedir(below);
	return rc;
}

static int check(struct merge *m, DIR *from, int to_fd, const char *name, unsigned depth)
{
	struct stat old, new;
	if (fstatat(dirfd(from), name, &new, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (faccessat(to_fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return -errno;
	if (fstatat(to_fd, name, &old, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (old.st_dev != m->device)
		return -EXDEV;
	if (S_ISDIR(new.st_mode) != S_ISDIR(old.st_mode))
		return S_ISDIR(new.st_mode) ? -ENOTDIR : -EISDIR;
	return S_ISDIR(new.st_mode) ? for_each_below(m, from, to_fd, name, depth, check) : 0;
}

static int move(struct merge *m, DIR *from, int to_fd, const char *name, unsigned depth)
{
	struct stat st;
	if (fstatat(dirfd(from), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode) && fstatat(to_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		int rc = for_each_below(m, from, to_fd, name, depth, move);
		return rc < 0 ? rc : unlinkat(dirfd(from), name, AT_REMOVEDIR) < 0 ? -errno : 0;
	}
	return renameat(dirfd(from), name, to_fd, name) < 0 ? -errno : 0;
}

static int for_all(struct stage *s, struct merge *m, int to_fd, merge_step step)
{
	DIR *from = open_directory(s->place.cwd_fd, ".");
	int rc = from ? for_each(m, from, to_fd, 0, step) : -errno;
	if (from)
		closedir(from);
	return rc;
}

/* Renaming entries out of a directory while reading it may hide some, so merge() repeats until this is true. */
static bool is_empty(struct stage *s)
{
	s->gone = unlinkat(s->entry.dir_fd, s->entry.name, AT_REMOVEDIR) == 0 ||
		(errno != ENOTEMPTY && errno != EEXIST);
	return s->gone;
}

static int merge(struct stage *s, int to_fd, char name[STAGE_NAME_MAX])
{
	struct stat st;
	struct merge m = {.name = name};
	if (fstat(s->place.cwd_fd, &st) < 0)
		return -errno;
	m.device = st.st_dev;
	int rc = for_all(s, &m, to_fd, check);
	for (unsigned i = 0; rc == 0 && i < PASSES_MAX; i++) {
		rc = for_all(s, &m, to_fd, move);
		if (rc == 0 && is_empty(s))
			return 0;
	}
	return rc == 0 ? -ENOTEMPTY : rc;
}

/* Committing */

/* Lock the old directory, so that it is not removed as a leftover once it has the stage's name. */
static int lock_replaced(struct stage *s)
{
	struct stat st;
	s->old_fd = place_open_in(s->entry.dir_fd, s->target, O_RDONLY | O_DIRECTORY);
	if (s->old_fd < 0)
		return s->old_fd;
	(void)flock(s->old_fd, LOCK_EX | LOCK_NB); /* fails if a user's process has locked it */
	if (fstat(s->old_fd, &st) == 0)
		s->mode = st.st_mode & 07777;
	return 0;
}

static int put_directory(struct stage *s)
{
	const struct place_entry *e = &s->entry;
	bool exchange = s->target_fd >= 0;
	int rc = exchange ? lock_replaced(s) : 0;
	if (rc < 0)
		return rc;
	/* The mode as it was, or as mkdir(2) would set it; the archive's mode is applied later. */
	(void)!fchmod(s->place.cwd_fd, s->mode);
	if (renameat2(e->dir_fd, e->name, e->dir_fd, s->target,
		    exchange ? RENAME_EXCHANGE : RENAME_NOREPLACE) < 0)
		return -errno;
	s->gone = !exchange;
	return entry_sync(e->dir_fd);
}

int stage_commit(struct stage *s, int *ret_fd, char ret_name[STAGE_NAME_MAX])
{
	int fd = -1, rc = syncfs(s->place.cwd_fd) < 0 ? -errno : 0;
	ret_name[0] = '\0';
	if (rc == 0 && s->target[0]) {
		rc = put_directory(s);
		fd = rc == 0 ? fcntl(s->place.cwd_fd, F_DUPFD_CLOEXEC, 0) : -1;
		if (rc == 0 && fd < 0)
			rc = -errno;
	} else if (rc == 0) {
		fd = place_open_in(s->target_fd, ".", O_RDONLY | O_DIRECTORY);
		rc = fd < 0 ? fd : merge(s, fd, ret_name);
		if (rc == 0)
			rc = entry_sync(fd);
	}
	if (rc < 0 && fd >= 0)
		close(fd);
	if (rc == 0)
		*ret_fd = fd;
	return rc;
}

/* The stage's name may be the replaced directory now, which other processes may still write to: try repeatedly. */
static void remove_stage(const struct stage *s)
{
	int rc = -ENOTEMPTY;
	for (unsigned i = 0; (rc == -ENOTEMPTY || rc == -ENOENT) && i < PASSES_MAX; i++) {
		rc = copy_remove_tree(s->entry.dir_fd, s->entry.name);
		if (rc == -ENOENT &&
			faccessat(s->entry.dir_fd, s->entry.name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			return;
	}
}

void stage_abort(struct stage *s)
{
	if (s->place.cwd_fd >= 0 && !s->gone)
		remove_stage(s);
	if (s->place.cwd_fd >= 0)
		close(s->place.cwd_fd);
	if (s->old_fd >= 0)
		close(s->old_fd);
	if (s->entry.dir_fd >= 0)
		place_entry_close(&s->entry);
	if (s->target_fd >= 0)
		close(s->target_fd);
	s->place.cwd_fd = s->target_fd = s->old_fd = -1;
}

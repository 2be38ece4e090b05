/* One rename(2); across file systems, a copy in a nest beside the target, which is then renamed. */
#include "shell/files/move.h"

#include "shell/files/copy.h"
#include "shell/files/entry.h"
#include "shell/files/nest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define INSIDE "moved" /* its name in the nest */

/* The target: in the directory `to`, or `to` itself. */
static int find_target(const struct place *p, const char *to, const struct place_entry *source,
	struct place_entry *ret)
{
	struct place_entry e = {.dir_fd = place_open(p, to, O_PATH | O_DIRECTORY, 0)};
	if (e.dir_fd < 0)
		return place_find(p, to, ret);
	snprintf(e.name, sizeof e.name, "%s", source->name);
	*ret = e;
	return 0;
}

/* mv(1) refuses these, while rename(2) does nothing and returns 0. */
static bool is_same(const struct place_entry *target, const struct stat *source)
{
	struct stat st;
	return fstatat(target->dir_fd, target->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		st.st_dev == source->st_dev && st.st_ino == source->st_ino;
}

/* Rename from the nest to the target and sync it, before the source is removed. */
static int put_in_place(const struct nest *n, const struct place_entry *target)
{
	struct stat st;
	if (fstatat(n->fd, INSIDE, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	/* rename(2) of a directory to another parent writes its "..", which needs write permission. */
	bool closed = S_ISDIR(st.st_mode) && !(st.st_mode & S_IWUSR);
	if (closed && fchmodat(n->fd, INSIDE, (st.st_mode & 07777) | S_IWUSR, 0) < 0)
		return -errno;
	if (renameat(n->fd, INSIDE, target->dir_fd, target->name) < 0)
		return -errno;
	if (closed && fchmodat(target->dir_fd, target->name, st.st_mode & 07777, 0) < 0)
		return -errno;
	return entry_sync(target->dir_fd);
}

static int move_across(const struct place_entry *source, const struct place_entry *target)
{
	struct nest n;
	int rc = nest_make(target->dir_fd, target->name, "-move", &n);
	if (rc < 0)
		return rc;
	rc = copy_tree(source->dir_fd, source->name, n.fd, INSIDE);
	if (rc == 0)
		rc = put_in_place(&n, target);
	copy_remove_tree(target->dir_fd, n.name);
	close(n.fd);
	return rc == 0 ? copy_remove_tree(source->dir_fd, source->name) : rc;
}

int move_entry(const struct place *p, const char *from, const char *to, bool *ret_source_missing)
{
	struct place_entry source, target = {.dir_fd = -1};
	struct stat st;
	*ret_source_missing = false;
	int rc = place_find(p, from, &source);
	if (rc < 0) {
		*ret_source_missing = rc == -ENOENT || rc == -ENOTDIR;
		return rc;
	}
	if (fstatat(source.dir_fd, source.name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		rc = -errno;
		*ret_source_missing = rc == -ENOENT;
	}
	if (rc == 0)
		rc = find_target(p, to, &source, &target);
	if (rc < 0) {
		place_entry_close(&source);
		return rc;
	}
	if (is_same(&target, &st))
		rc = -EEXIST;
	else if (renameat(source.dir_fd, source.name, target.dir_fd, target.name) < 0)
		rc = errno == EXDEV ? move_across(&source, &target) : -errno;
	place_entry_close(&target);
	place_entry_close(&source);
	return rc;
}

/*
 * The new content is an unnamed file (O_TMPFILE) while it is written, so that a killed server leaves nothing.
 * To replace another file it has a temporary name between linkat(2) and renameat(2): always the same for the
 * same target, so that the next write removes a leftover. Without O_TMPFILE, it has that name from the start.
 */
#include "shell/files/replace.h"

#include "shell/files/alias.h"
#include "shell/files/attributes.h"
#include "shell/files/temp_name.h"
#include "shell/files/entry.h"
#include "shell/hash.h"
#include "shell/own_error.h"
#include "shell/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ONE_LOCK PTHREAD_MUTEX_INITIALIZER
#define FOUR_LOCKS ONE_LOCK, ONE_LOCK, ONE_LOCK, ONE_LOCK
#define LOCKS 16u
#define SPOOL_PIECE ((size_t)64 << 10)
#define LINK_TRIES 4
#define LINKS_MAX 40  /* followed in a row, as by the kernel: path_resolution(7) */
#define LEFTOVER_S 10 /* seconds after which a temporary file is a leftover */

/* other: a unique name, for when another writer uses the usual one. */
static void name_temporary(struct replace *r, bool other)
{
	temp_name_make(r->entry.name, "", other, r->temporary, sizeof r->temporary);
}

/* Remove a leftover of the temporary name. Returns whether the name is free now. */
static bool remove_leftover(const struct replace *r)
{
	struct stat st;
	if (fstatat(r->entry.dir_fd, r->temporary, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	/* ctime is when it was linked or last written; the file system's clock may differ from ours. */
	if (!S_ISREG(st.st_mode) || st.st_ctime + LEFTOVER_S > time(NULL))
		return false;
	return unlinkat(r->entry.dir_fd, r->temporary, 0) == 0 || errno == ENOENT;
}

/* Make the new file: unnamed, else with a temporary name. */
static int open_beside(struct replace *r)
{
	int dir_fd = r->entry.dir_fd;
	r->temporary[0] = '\0';
	r->fd = openat(dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
	if (r->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
		return -errno;
	name_temporary(r, false);
	if (!remove_leftover(r))
		name_temporary(r, true);
	for (int tries = 0; r->fd < 0 && tries < 2; tries++) {
		if (tries > 0)
			name_temporary(r, true);
		r->fd = openat(dir_fd, r->temporary,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	}
	int rc = r->fd < 0 ? -errno : 0;
	if (rc < 0)
		r->temporary[0] = '\0';
	return rc;
}

/* Collect the new content in an unnamed file, so that the old content remains until then. */
static int open_spool(struct replace *r)
{
	int fd = openat(r->entry.dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return ftruncate(r->fd, 0) < 0 ? -errno : 0;
	r->target_fd = r->fd;
	r->fd = fd;
	return 0;
}

/* Copy the collected content over the target; if this is interrupted, the target is damaged. */
static int copy_spool(const struct replace *r)
{
	char piece[SPOOL_PIECE];
	off_t size = 0;
	for (;;) {
		ssize_t n = pread(r->fd, piece, sizeof piece, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		int rc = write_all_at(r->target_fd, piece, (size_t)n, (uint64_t)size);
		if (rc < 0)
			return rc;
		size += n;
	}
	return ftruncate(r->target_fd, size) < 0 ? -errno : 0;
}

static int open_in_place(const struct place *p, const char *path, struct replace *r)
{
	struct stat st;
	int rc = 0, path_fd = place_open(p, path, O_PATH, 0);
	r->in_place = true;
	if (path_fd == -ENOENT) {
		/* A dangling link: make its target. */
		r->fd = place_open(p, path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY, 0666);
		return r->fd < 0 ? r->fd : 0;
	}
	if (path_fd < 0)
		return path_fd;
	if (fstat(path_fd, &st) < 0) {
		rc = -errno;
		close(path_fd);
		return rc;
	}
	if (S_ISDIR(st.st_mode))
		rc = -EISDIR;
	else
		rc = r->fd = place_reopen(path_fd, O_WRONLY);
	close(path_fd);
	r->existed = true;
	r->old = st;
	if (rc >= 0 && S_ISREG(st.st_mode))
		rc = open_spool(r);
	return rc < 0 ? rc : 0;
}

static bool is_mount_point(const struct place_entry *e)
{
	struct statx st;
	return statx(e->dir_fd, e->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &st) == 0 &&
		(st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

static int copy_attributes(const struct replace *r)
{
	int fd = openat(r->entry.dir_fd, r->entry.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	int rc = attributes_copy(fd, r->fd);
	close(fd);
	/* -EPERM: write in place instead, which keeps the attributes. Not if memory or space is short. */
	bool lacking = rc == -ENOMEM || rc == -ENOSPC || rc == -EDQUOT || rc == -EIO;
	return rc < 0 && !lacking ? -EPERM : rc;
}

/* Copy owner, attributes and mode of the old file. Returns 0 or a negative errno. */
static int copy_metadata(const struct replace *r)
{
	struct stat st;
	int rc;
	if (!r->existed)
		return 0;
	if (fstat(r->fd, &st) < 0)
		return -errno;
	if ((st.st_uid != r->old.st_uid || st.st_gid != r->old.st_gid) &&
		fchown(r->fd, r->old.st_uid, r->old.st_gid) < 0)
		return -errno;
	if ((rc = copy_attributes(r)) < 0)
		return rc;
	/* Without set-id bits, as after any write. */
	return fchmod(r->fd, r->old.st_mode & 01777) < 0 ? -errno : 0;
}

static void drop_temporary(struct replace *r)
{
	if (r->fd >= 0)
		close(r->fd);
	if (r->target_fd >= 0)
		close(r->target_fd);
	r->fd = r->target_fd = -1;
	if (r->temporary[0])
		unlinkat(r->entry.dir_fd, r->temporary, 0);
	r->temporary[0] = '\0';
}

/* stat() the entry itself. Returns 0 or a negative errno. */
static int stat_entry(struct replace *r)
{
	r->existed = fstatat(r->entry.dir_fd, r->entry.name, &r->old, AT_SYMLINK_NOFOLLOW) == 0;
	return r->existed || errno == ENOENT ? 0 : -errno;
}

static bool is_link(const struct replace *r)
{
	return r->existed && S_ISLNK(r->old.st_mode);
}

/*
 * Replace the last name of path by the link's target. Returns false if that is unreadable, too long or ends in
 * a slash.
 */
static bool follow_link(const struct place_entry *e, char path[PLACE_PATH_MAX])
{
	char target[PLACE_PATH_MAX];
	const char *slash = strrchr(path, '/');
	ssize_t n = readlinkat(e->dir_fd, e->name, target, sizeof target);
	size_t start = n > 0 && target[0] != '/' && slash ? (size_t)(slash + 1 - path) : 0;
	if (n <= 0 || target[n - 1] == '/' || start + (size_t)n >= PLACE_PATH_MAX)
		return false;
	memcpy(path + start, target, (size_t)n);
	path[start + (size_t)n] = '\0';
	return true;
}

/* Whether the kernel finds the same entry by the path: it may refuse a link, and links may change meanwhile. */
static bool is_found_by_path(const struct place *p, const char *path, const struct replace *r)
{
	struct stat st;
	int fd = place_open(p, path, O_PATH, 0);
	if (fd < 0)
		return fd == -ENOENT && !r->existed;
	bool same = fstat(fd, &st) == 0 && r->existed && st.st_dev == r->old.st_dev &&
		st.st_ino == r->old.st_ino;
	close(fd);
	return same;
}

/* Follow links, so that their target is replaced. Returns 0, or 1 if the target must be written in place. */
static int follow_links(const struct place *p, const char *path, struct replace *r)
{
	char at[PLACE_PATH_MAX];
	/* As for the kernel, the alias does not apply to targets of links. */
	struct place plain = *p;
	plain.workspace = NULL;
	bool aliased = path[0] == '/' && p->root_fd < 0 && !p->beneath;
	if (alias_resolve(aliased ? p->workspace : NULL, path, at, sizeof at) < 0)
		return 1;
	for (int links = 0; is_link(r); links++) {
		struct place_entry next;
		if (links == LINKS_MAX || !follow_link(&r->entry, at) ||
			place_find(&plain, at, &next) < 0)
			return 1;
		place_entry_close(&r->entry);
		r->entry = next;
		if (stat_entry(r) < 0)
			return 1;
	}
	return is_found_by_path(p, path, r) ? 0 : 1;
}

/*
 * Prepare to replace a regular file, or to make one. Returns 0, 1 if it must be written in place, or a negative
 * errno.
 */
static int open_replacing(const struct place *p, const char *path, struct replace *r)
{
	const struct place_entry *e = &r->entry;
	int rc = stat_entry(r);
	if (rc == 0 && is_link(r))
		rc = follow_links(p, path, r);
	if (rc != 0)
		return rc;
	if (r->existed && (!S_ISREG(r->old.st_mode) || is_mount_point(e)))
		return S_ISDIR(r->old.st_mode) ? -EISDIR : 1;
	if (r->existed && faccessat(e->dir_fd, e->name, W_OK, AT_EACCESS) < 0)
		return -errno;
	rc = open_beside(r);
	if (rc == 0 && (rc = copy_metadata(r)) < 0)
		drop_temporary(r);
	/* No file can be made beside it, or not with its metadata; but it is writable. */
	return r->existed && (rc == -EACCES || rc == -EPERM) ? 1 : rc;
}

int replace_open(const struct place *p, const char *path, const struct replace_options *options,
	struct replace *ret)
{
	struct replace r = {
		.entry = {.dir_fd = -1}, .fd = -1, .target_fd = -1, .only = options->only};
	size_t length = strlen(path);
	if (length > 0 && path[length - 1] == '/')
		return -EISDIR;
	int rc = place_find(p, path, &r.entry);
	if (rc == -ENOENT && options->parents && (rc = place_make_parents(p, path)) == 0)
		rc = place_find(p, path, &r.entry);
	if (rc < 0)
		return rc == -EBUSY ? -EISDIR : rc;
	rc = open_replacing(p, path, &r);
	if (rc == 1)
		rc = open_in_place(p, path, &r);
	if (rc < 0) {
		drop_temporary(&r);
		place_entry_close(&r.entry);
		return rc;
	}
	*ret = r;
	return 0;
}

int replace_write(struct replace *r, const void *bytes, size_t length)
{
	return write_all(r->fd, bytes, length);
}

int replace_write_at(struct replace *r, uint64_t offset, const void *bytes, size_t length)
{
	return write_all_at(r->fd, bytes, length, offset);
}

/* Name the unnamed file. */
static int link_as(const struct replace *r, const char *name)
{
	char link[32];
	snprintf(link, sizeof link, "/proc/self/fd/%d", r->fd);
	return linkat(AT_FDCWD, link, r->entry.dir_fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int link_beside(struct replace *r)
{
	int rc = -EEXIST;
	for (int tries = 0; rc == -EEXIST && tries < LINK_TRIES; tries++) {
		name_temporary(r, false);
		/* Another writer may have used the usual name again meanwhile. */
		if (tries > 1 || (tries > 0 && !remove_leftover(r)))
			name_temporary(r, true);
		rc = link_as(r, r->temporary);
	}
	if (rc < 0)
		r->temporary[0] = '\0';
	return rc;
}

bool replace_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
		a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Put the file in place if the target does not exist. */
static int move_to_new(struct replace *r)
{
	const struct place_entry *e = &r->entry;
	if (!r->temporary[0])
		return link_as(r, e->name);
	if (linkat(e->dir_fd, r->temporary, e->dir_fd, e->name, 0) == 0) {
		unlinkat(e->dir_fd, r->temporary, 0);
		r->temporary[0] = '\0';
		return 0;
	}
	if (errno == EEXIST)
		return -EEXIST;
	/* The file system has no hard links. */
	if (renameat2(e->dir_fd, r->temporary, e->dir_fd, e->name, RENAME_NOREPLACE) < 0)
		return -errno;
	r->temporary[0] = '\0';
	return 0;
}

static bool is_old(const struct replace *r, const char *name)
{
	struct stat st;
	return fstatat(r->entry.dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		replace_is_same(&st, &r->old);
}

/* These make check and replacement of a target atomic in this process. Copying has its own, as it takes longer. */
static pthread_mutex_t rename_locks[LOCKS] = {FOUR_LOCKS, FOUR_LOCKS, FOUR_LOCKS, FOUR_LOCKS};
static pthread_mutex_t copy_locks[LOCKS] = {FOUR_LOCKS, FOUR_LOCKS, FOUR_LOCKS, FOUR_LOCKS};

/*
 * Link the new file beside the target, or as the target if that does not exist. Returns 1 if it is in place, 0
 * or an errno.
 */
static int link_somewhere(struct replace *r)
{
	if (r->temporary[0])
		return !r->existed && move_to_new(r) == 0 ? 1 : 0;
	int rc = r->existed ? -EEXIST : link_as(r, r->entry.name);
	/* The target exists, perhaps only since a moment ago. */
	return rc == 0 ? 1 : rc == -EEXIST ? link_beside(r) : rc;
}

static int rename_over(struct replace *r)
{
	const struct place_entry *e = &r->entry;
	if (r->only == REPLACE_SAME && !is_old(r, e->name))
		return -ERR_CHANGED;
	if (renameat(e->dir_fd, r->temporary, e->dir_fd, e->name) < 0)
		return -errno;
	r->temporary[0] = '\0';
	return 0;
}

static int move_into_place(struct replace *r)
{
	if (r->only == REPLACE_NEW)
		return move_to_new(r);
	int rc = link_somewhere(r);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	struct stat st = {0};
	fstat(r->entry.dir_fd, &st);
	pthread_mutex_t *lock =
		&rename_locks[(hash_text(HASH_START, r->entry.name) ^ st.st_ino) % LOCKS];
	pthread_mutex_lock(lock);
	rc = rename_over(r);
	pthread_mutex_unlock(lock);
	return rc;
}

/* Write in place. */
static int copy_over(const struct replace *r)
{
	struct stat st;
	if (r->only != REPLACE_SAME)
		return copy_spool(r);
	pthread_mutex_t *lock = &copy_locks[r->old.st_ino % LOCKS];
	pthread_mutex_lock(lock);
	bool same = fstat(r->target_fd, &st) == 0 && replace_is_same(&st, &r->old);
	int rc = same ? copy_spool(r) : -ERR_CHANGED;
	pthread_mutex_unlock(lock);
	return rc;
}

int replace_commit(struct replace *r)
{
	/* fsync() fails with these errors for files that are not on a disk. */
	int rc = r->target_fd >= 0 ? copy_over(r) : 0;
	int fd = r->target_fd >= 0 ? r->target_fd : r->fd;
	if (rc == 0)
		rc = fsync(fd) < 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP ? -errno
											    : 0;
	if (rc == 0 && !r->in_place) {
		rc = move_into_place(r);
		if (rc == 0)
			rc = entry_sync(r->entry.dir_fd);
	}
	drop_temporary(r);
	place_entry_close(&r->entry);
	return rc;
}

void replace_abort(struct replace *r)
{
	drop_temporary(r);
	place_entry_close(&r->entry);
}

/*
 * The new content has no name while it is written (O_TMPFILE), so that nothing is left of it when the server is killed. A
 * file that replaces another has one for the moment between linkat(2) and renameat(2): always the same for the same target, so
 * that what a killed server has left goes with the next write. Where there is no O_TMPFILE that name is there from the start.
 */
#include "shell/files/replace.h"

#include "shell/files/alias.h"
#include "shell/files/attributes.h"
#include "shell/files/beside.h"
#include "shell/files/entry.h"

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
#define LINKS_MAX 40 /* in a row, as the kernel follows them: path_resolution(7) */
#define LEFT_S 10    /* a temporary name that is so old has been left behind */

/* The name beside a target; other: not the usual one, which somebody else has just now. */
static void name_temporary(struct replace *r, bool other)
{
	beside_name(r->entry.name, "", other, r->temporary, sizeof r->temporary);
}

/* Take away what was left by that name. Returns whether it is free now. */
static bool clear_left(const struct replace *r)
{
	struct stat st;
	if (fstatat(r->entry.dir_fd, r->temporary, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	/* It was linked, or begun, then; the server's own clock is not the disk's. */
	if (!S_ISREG(st.st_mode) || st.st_ctime + LEFT_S > time(NULL))
		return false;
	return unlinkat(r->entry.dir_fd, r->temporary, 0) == 0 || errno == ENOENT;
}

/* Where the new content goes meanwhile. */
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
	if (!clear_left(r))
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

/* The new content waits where it has no name, so that the old one stays until all of it is there. */
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

/* From now on it is a mixture, until all is copied. */
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
		for (ssize_t done = 0, m; done<n; done += m> 0 ? m : 0) {
			m = pwrite(r->target_fd, piece + done, (size_t)(n - done), size + done);
			if (m < 0 && errno != EINTR)
				return -errno;
		}
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
		/* A link to nowhere: it is made there. */
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

static int take_attributes(const struct replace *r)
{
	int fd = openat(r->entry.dir_fd, r->entry.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	int rc = attributes_copy(fd, r->fd);
	close(fd);
	/* What cannot be given to another stays with what is written in place, for which there has to be room as well. */
	bool lacking = rc == -ENOMEM || rc == -ENOSPC || rc == -EDQUOT || rc == -EIO;
	return rc < 0 && !lacking ? -EPERM : rc;
}

/* Whose it is, and what may be done with it, stays. Returns 0 or a negative errno. */
static int take_over(const struct replace *r)
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
	if ((rc = take_attributes(r)) < 0)
		return rc;
	/* As after any write, it has nobody's rights but its caller's. */
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

/* Look at the entry itself. Returns 0 or a negative errno. */
static int look(struct replace *r)
{
	r->existed = fstatat(r->entry.dir_fd, r->entry.name, &r->old, AT_SYMLINK_NOFOLLOW) == 0;
	return r->existed || errno == ENOENT ? 0 : -errno;
}

static bool is_link(const struct replace *r)
{
	return r->existed && S_ISLNK(r->old.st_mode);
}

/* Put what the entry of a path leads to in place of that path. Returns whether it names something. */
static bool follow(const struct place_entry *e, char path[PLACE_PATH_MAX])
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

/* Whether an entry is what the kernel finds by a path: it may refuse to follow a link, and others change them. */
static bool is_found(const struct place *p, const char *path, const struct replace *r)
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

/* Go from a link to what it leads to, which is replaced then. Returns 0, or 1 when that cannot be found by its name. */
static int follow_links(const struct place *p, const char *path, struct replace *r)
{
	char at[PLACE_PATH_MAX];
	/* What a link says is followed as the kernel does: there the alias stands for nothing. */
	struct place plain = *p;
	plain.workspace = NULL;
	bool aliased = path[0] == '/' && p->root_fd < 0 && !p->beneath;
	if (alias_resolve(aliased ? p->workspace : NULL, path, at, sizeof at) < 0)
		return 1;
	for (int links = 0; is_link(r); links++) {
		struct place_entry next;
		if (links == LINKS_MAX || !follow(&r->entry, at) ||
			place_find(&plain, at, &next) < 0)
			return 1;
		place_entry_close(&r->entry);
		r->entry = next;
		if (look(r) < 0)
			return 1;
	}
	return is_found(p, path, r) ? 0 : 1;
}

/* A regular file, or none: beside it. Returns 1 when it has to be written in place, 0, or a negative errno. */
static int open_replacing(const struct place *p, const char *path, struct replace *r)
{
	const struct place_entry *e = &r->entry;
	int rc = look(r);
	if (rc == 0 && is_link(r))
		rc = follow_links(p, path, r);
	if (rc != 0)
		return rc;
	if (r->existed && (!S_ISREG(r->old.st_mode) || is_mount_point(e)))
		return S_ISDIR(r->old.st_mode) ? -EISDIR : 1;
	if (r->existed && faccessat(e->dir_fd, e->name, W_OK, AT_EACCESS) < 0)
		return -errno;
	rc = open_beside(r);
	if (rc == 0 && (rc = take_over(r)) < 0)
		drop_temporary(r);
	/* Nothing can be put there, or not as what it is; but it can be written. */
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
	const char *at = bytes;
	while (length > 0) {
		ssize_t n = write(r->fd, at, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		length -= (size_t)n;
	}
	return 0;
}

int replace_write_at(struct replace *r, uint64_t offset, const void *bytes, size_t length)
{
	const char *at = bytes;
	while (length > 0) {
		ssize_t n = pwrite(r->fd, at, length, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		offset += (uint64_t)n;
		length -= (size_t)n;
	}
	return 0;
}

/* Give what has no name one. */
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
		/* Another writer may have taken the usual name again since it was free. */
		if (tries > 1 || (tries > 0 && !clear_left(r)))
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

/* Where nothing is. */
static int move_to_nothing(struct replace *r)
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
	/* There are no hard links there. */
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

/* Looking at a target and replacing it are one for all writers of this program. Copying takes longer than renaming. */
static pthread_mutex_t names[LOCKS] = {FOUR_LOCKS, FOUR_LOCKS, FOUR_LOCKS, FOUR_LOCKS};
static pthread_mutex_t copies[LOCKS] = {FOUR_LOCKS, FOUR_LOCKS, FOUR_LOCKS, FOUR_LOCKS};

/* Give it a name beside the target, or the target's own if nothing has that. Returns 1: it is in place. */
static int link_somewhere(struct replace *r)
{
	if (r->temporary[0])
		return !r->existed && move_to_nothing(r) == 0 ? 1 : 0;
	int rc = r->existed ? -EEXIST : link_as(r, r->entry.name);
	/* Something is there, perhaps since a moment ago. */
	return rc == 0 ? 1 : rc == -EEXIST ? link_beside(r) : rc;
}

static int rename_over(struct replace *r)
{
	const struct place_entry *e = &r->entry;
	if (r->only == REPLACE_SAME && !is_old(r, e->name))
		return -ESTALE;
	if (renameat(e->dir_fd, r->temporary, e->dir_fd, e->name) < 0)
		return -errno;
	r->temporary[0] = '\0';
	return 0;
}

static int move_into_place(struct replace *r)
{
	if (r->only == REPLACE_NEW)
		return move_to_nothing(r);
	int rc = link_somewhere(r);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	struct stat st = {0};
	fstat(r->entry.dir_fd, &st);
	pthread_mutex_t *lock = &names[(beside_hash(r->entry.name) ^ st.st_ino) % LOCKS];
	pthread_mutex_lock(lock);
	rc = rename_over(r);
	pthread_mutex_unlock(lock);
	return rc;
}

/* What is written in place. */
static int copy_over(const struct replace *r)
{
	struct stat st;
	if (r->only != REPLACE_SAME)
		return copy_spool(r);
	pthread_mutex_t *lock = &copies[r->old.st_ino % LOCKS];
	pthread_mutex_lock(lock);
	bool same = fstat(r->target_fd, &st) == 0 && replace_is_same(&st, &r->old);
	int rc = same ? copy_spool(r) : -ESTALE;
	pthread_mutex_unlock(lock);
	return rc;
}

int replace_commit(struct replace *r)
{
	/* What is no file of a disk has nothing to wait for. */
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

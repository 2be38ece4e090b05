/* Depth first, by directory descriptors, so that a link that is swapped in meanwhile is not followed. */
#include "shell/files/copy.h"

#include "shell/dir.h"
#include "shell/files/attributes.h"
#include "shell/write_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)256 << 10)

static int copy_bytes(int from, int to)
{
	char *piece = malloc(PIECE);
	int rc = piece ? 0 : -ENOMEM;
	while (rc == 0) {
		ssize_t n = read(from, piece, PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			break;
		rc = n < 0 ? -errno : write_all(to, piece, (size_t)n);
	}
	free(piece);
	return rc;
}

/* Ignores attributes that the target's file system does not support. */
static int copy_attributes(int from_fd, int to_fd)
{
	int rc = attributes_copy(from_fd, to_fd);
	return rc == -ENOMEM || rc == -EIO ? rc : 0;
}

static int copy_file(int from_fd, const char *from, int to_fd, const char *to)
{
	int in = openat(from_fd, from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (in < 0)
		return -errno;
	int out = openat(to_fd, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc = out < 0 ? -errno : copy_bytes(in, out);
	if (rc == 0)
		rc = copy_attributes(in, out);
	if (rc == 0 && fsync(out) < 0)
		rc = -errno;
	if (out >= 0)
		close(out);
	close(in);
	return rc;
}

static int copy_link(int from_fd, const char *from, int to_fd, const char *to)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(from_fd, from, text, sizeof text - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return symlinkat(text, to_fd, to) < 0 ? -errno : 0;
}

/* Set owner, mode and times, as far as permitted. */
static void copy_metadata(const struct stat *st, int to_fd, const char *to)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};
	bool owned = fchownat(to_fd, to, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) == 0;
	if (!S_ISLNK(st->st_mode) &&
		fchmodat(to_fd, to, st->st_mode & (owned ? 07777u : 01777u), 0) < 0)
		return;
	(void)!utimensat(to_fd, to, times, AT_SYMLINK_NOFOLLOW);
}

static int copy_at(int from_fd, const char *from, int to_fd, const char *to, unsigned depth);

static int copy_directory(int from_fd, const char *from, int to_fd, const char *to, unsigned depth)
{
	int rc = depth < COPY_DEPTH_MAX ? 0 : -ELOOP;
	if (rc == 0 && mkdirat(to_fd, to, 0700) < 0)
		rc = -errno;
	if (rc < 0)
		return rc;
	DIR *dir = dir_open(from_fd, from);
	if (!dir)
		return -errno;
	int inside = openat(to_fd, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (inside < 0)
		rc = -errno;
	while (rc == 0) {
		errno = 0;
		const struct dirent *e = readdir(dir);
		if (!e) {
			rc = -errno;
			break;
		}
		if (!dir_is_dot(e->d_name))
			rc = copy_at(dirfd(dir), e->d_name, inside, e->d_name, depth + 1);
	}
	if (rc == 0)
		rc = copy_attributes(dirfd(dir), inside);
	if (rc == 0 && fsync(inside) < 0 && errno != EINVAL)
		rc = -errno;
	if (inside >= 0)
		close(inside);
	closedir(dir);
	return rc;
}

static int copy_at(int from_fd, const char *from, int to_fd, const char *to, unsigned depth)
{
	struct stat st;
	int rc;
	if (fstatat(from_fd, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		rc = copy_directory(from_fd, from, to_fd, to, depth);
	else if (S_ISREG(st.st_mode))
		rc = copy_file(from_fd, from, to_fd, to);
	else if (S_ISLNK(st.st_mode))
		rc = copy_link(from_fd, from, to_fd, to);
	else
		rc = mknodat(to_fd, to, st.st_mode & (S_IFMT | 0600), st.st_rdev) < 0 ? -errno : 0;
	if (rc == 0)
		copy_metadata(&st, to_fd, to);
	return rc;
}

int copy_tree(int from_fd, const char *from, int to_fd, const char *to)
{
	return copy_at(from_fd, from, to_fd, to, 0);
}

static int remove_at(int dir_fd, const char *name, unsigned depth)
{
	if (unlinkat(dir_fd, name, 0) == 0)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	DIR *dir = depth < COPY_DEPTH_MAX ? dir_open(dir_fd, name) : NULL;
	int rc = dir ? 0 : depth < COPY_DEPTH_MAX ? -errno : -ELOOP;
	for (const struct dirent *e; dir && rc == 0 && (e = readdir(dir));)
		if (!dir_is_dot(e->d_name))
			rc = remove_at(dirfd(dir), e->d_name, depth + 1);
	if (dir)
		closedir(dir);
	return rc == 0 && unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 ? -errno : rc;
}

int copy_remove_tree(int dir_fd, const char *name)
{
	return remove_at(dir_fd, name, 0);
}

/*
 * A spool is a file that grows, until it is taken, moved or idle for too long; nothing of it is kept in memory.
 * A piece that could not be written whole may be sent again.
 */
#include "shell/output/spool.h"

#include "shell/id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIRECTORY "stdin"

static int open_directory(const char *runtime_dir)
{
	char path[SPOOL_PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/" DIRECTORY, runtime_dir);
	if (n < 0 || (size_t)n >= sizeof path)
		return -ENAMETOOLONG;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

static bool is_id(const char *id)
{
	return strlen(id) == SPOOL_ID_SIZE - 1 &&
		strspn(id, "0123456789abcdef") == SPOOL_ID_SIZE - 1;
}

/* A file of it, or a negative errno. */
static int open_file(const char *runtime_dir, const char *id, int flags)
{
	if (!is_id(id))
		return -ENOENT;
	int dir = open_directory(runtime_dir);
	if (dir < 0)
		return dir;
	int fd = openat(dir, id, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc = fd < 0 ? -errno : fd;
	close(dir);
	return rc;
}

/* Remove those that nobody wants any more. Returns how many are left. Takes dir. */
static unsigned sweep(int dir)
{
	struct stat st;
	unsigned left = 0;
	DIR *list = fdopendir(dir);
	if (!list) {
		close(dir);
		return 0;
	}
	time_t now = time(NULL);
	for (struct dirent *entry; (entry = readdir(list));) {
		if (!is_id(entry->d_name) || fstatat(dir, entry->d_name, &st, 0) < 0)
			continue;
		if (st.st_mtime < now - SPOOL_IDLE_S)
			unlinkat(dir, entry->d_name, 0);
		else
			left++;
	}
	closedir(list);
	return left;
}

int spool_create(const char *runtime_dir, char ret_id[SPOOL_ID_SIZE])
{
	int dir = open_directory(runtime_dir);
	if (dir < 0)
		return dir;
	if (sweep(dir) >= SPOOLS_MAX)
		return -EUSERS;
	int rc = id_hex(ret_id, SPOOL_ID_SIZE);
	if (rc < 0)
		return rc;
	int fd = open_file(runtime_dir, ret_id, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int write_all(int fd, const char *bytes, size_t length, uint64_t offset)
{
	for (size_t at = 0; at < length;) {
		ssize_t n = pwrite(fd, bytes + at, length - at, (off_t)(offset + at));
		if (n > 0)
			at += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return n == 0 ? -EIO : -errno;
	}
	return 0;
}

int spool_add(const char *runtime_dir, const char *id, uint64_t offset, const void *bytes,
	size_t length, uint64_t *ret_size)
{
	struct stat st;
	int fd = open_file(runtime_dir, id, O_WRONLY);
	if (fd < 0)
		return fd;
	int rc = fstat(fd, &st) < 0 ? -errno : 0;
	uint64_t size = rc == 0 ? (uint64_t)st.st_size : 0;
	if (rc == 0 && offset > size)
		rc = -ESPIPE;
	else if (rc == 0 && (offset > SPOOL_MAX || length > SPOOL_MAX - offset))
		rc = -EFBIG;
	/* What there is was not whole, when a server was killed while it wrote. */
	else if (rc == 0 && offset + length > size)
		rc = write_all(fd, bytes, length, offset);
	if (rc == 0 && offset + length > size)
		size = offset + length;
	*ret_size = size;
	close(fd);
	return rc;
}

int spool_take(const char *runtime_dir, const char *id)
{
	int fd = open_file(runtime_dir, id, O_RDONLY);
	int dir = fd < 0 ? -1 : open_directory(runtime_dir);
	if (dir >= 0) {
		unlinkat(dir, id, 0);
		close(dir);
	}
	return fd;
}

int spool_move(const char *runtime_dir, const char *id, int dir_fd, const char *name)
{
	if (!is_id(id))
		return -ENOENT;
	int dir = open_directory(runtime_dir);
	if (dir < 0)
		return dir;
	int rc = renameat(dir, id, dir_fd, name) < 0 ? -errno : 0;
	close(dir);
	return rc;
}

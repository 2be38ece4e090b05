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
	/* A FIFO is not waited for. */
	int fd = openat(dir, id, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int rc = fd < 0 ? -errno : fd;
	close(dir);
	return rc;
}

/* Remove those that nobody wants any more. Returns how many are left. */
static unsigned sweep(int dir)
{
	struct stat st;
	unsigned left = 0;
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = again < 0 ? NULL : fdopendir(again);
	if (!list) {
		if (again >= 0)
			close(again);
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

/* Open the directory for one more, whose id is drawn. Returns the caller's descriptor, or a negative errno. */
static int make_room(const char *runtime_dir, char ret_id[SPOOL_ID_SIZE])
{
	int dir = open_directory(runtime_dir);
	if (dir < 0)
		return dir;
	int rc = sweep(dir) >= SPOOLS_MAX ? -EUSERS : id_hex(ret_id, SPOOL_ID_SIZE);
	if (rc == 0)
		return dir;
	close(dir);
	return rc;
}

int spool_create(const char *runtime_dir, char ret_id[SPOOL_ID_SIZE])
{
	int dir = make_room(runtime_dir, ret_id);
	if (dir < 0)
		return dir;
	int fd = openat(dir, ret_id, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc = fd < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	close(dir);
	return rc;
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
		return fd == -ENXIO ? -ENOENT : fd; /* a FIFO without a reader */
	int rc = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -ENOENT;
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

int spool_create_pipe(const char *runtime_dir, char ret_id[SPOOL_ID_SIZE], int *ret_place)
{
	int dir = make_room(runtime_dir, ret_id);
	if (dir < 0)
		return dir;
	int rc = mkfifoat(dir, ret_id, 0600) < 0 ? -errno : 0;
	int fd = rc < 0 ? rc : openat(dir, ret_id, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (rc == 0 && fd < 0) {
		rc = -errno;
		unlinkat(dir, ret_id, 0);
	}
	close(dir);
	if (rc == 0)
		*ret_place = fd;
	return rc;
}

int spool_remove(const char *runtime_dir, const char *id)
{
	int dir = is_id(id) ? open_directory(runtime_dir) : -ENOENT;
	if (dir < 0)
		return dir;
	int rc = unlinkat(dir, id, 0) < 0 ? -errno : 0;
	close(dir);
	return rc;
}

void spool_clear_pipes(const char *runtime_dir)
{
	struct stat st;
	int dir = open_directory(runtime_dir);
	DIR *list = dir < 0 ? NULL : fdopendir(dir);
	if (!list && dir >= 0)
		close(dir);
	for (struct dirent *entry; list && (entry = readdir(list));)
		if (is_id(entry->d_name) &&
			fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISFIFO(st.st_mode))
			unlinkat(dir, entry->d_name, 0);
	if (list)
		closedir(list);
}

int spool_take(const char *runtime_dir, const char *id)
{
	struct stat st;
	int fd = open_file(runtime_dir, id, O_RDONLY);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -ENOENT;
	}
	if (fd >= 0) {
		fcntl(fd, F_SETFL, 0); /* the command is given it as any file */
		(void)!spool_remove(runtime_dir, id);
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

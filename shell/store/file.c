/*
 * Blocking reads and writes; no state. A failed save leaves the old file; a failed append truncates
 * what it has written. The temporary file has a fixed name, so only one writer is allowed.
 */
#include "shell/store/file.h"

#include "shell/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int file_load(int dir_fd, const char *name, size_t max, char **ret_text, size_t *ret_length)
{
	struct stat st;
	int rc = 0, fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		rc = -errno;
	else if (!S_ISREG(st.st_mode) || (size_t)st.st_size > max)
		rc = -EFBIG;
	char *text = rc == 0 ? malloc((size_t)st.st_size + 1) : NULL;
	if (rc == 0 && !text)
		rc = -ENOMEM;
	size_t length = 0;
	while (rc == 0 && length < (size_t)st.st_size) {
		ssize_t n = read(fd, text + length, (size_t)st.st_size - length);
		if (n > 0)
			length += (size_t)n;
		else if (n == 0)
			break;
		else if (errno != EINTR)
			rc = -errno;
	}
	close(fd);
	if (rc < 0 || !text) {
		free(text);
		return rc;
	}
	text[length] = '\0';
	*ret_text = text;
	*ret_length = length;
	return 0;
}

/* Write all of it or nothing: a partial line would also corrupt the next one. */
static int write_whole(int fd, const char *text, size_t length)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	ssize_t n = write(fd, text, length);
	if (n == (ssize_t)length)
		return 0;
	int rc = n < 0 ? -errno : -ENOSPC;
	if (n > 0 && ftruncate(fd, st.st_size) < 0)
		return -errno;
	return rc;
}

int file_append(int dir_fd, const char *name, const char *text, size_t length, size_t *ret_size)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	int rc = write_whole(fd, text, length);
	off_t size = lseek(fd, 0, SEEK_CUR);
	if (rc == 0)
		*ret_size = size < 0 ? 0 : (size_t)size;
	close(fd);
	return rc;
}

static int save(int dir_fd, const char *name, const char *text, size_t length, bool durably)
{
	char temporary[NAME_MAX + 1];
	if ((size_t)snprintf(temporary, sizeof temporary, "%s.new", name) >= sizeof temporary)
		return -ENAMETOOLONG;
	/* An existing file was left by a killed writer or planted by an attacker. */
	unlinkat(dir_fd, temporary, 0);
	int fd = openat(
		dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	int rc = write_all(fd, text, length);
	if (rc == 0 && durably && fsync(fd) < 0)
		rc = -errno;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && renameat(dir_fd, temporary, dir_fd, name) < 0)
		rc = -errno;
	if (rc < 0)
		unlinkat(dir_fd, temporary, 0);
	else if (durably && fsync(dir_fd) < 0)
		rc = -errno; /* the rename is durable once the directory is synced */
	return rc;
}

int file_save(int dir_fd, const char *name, const char *text, size_t length)
{
	return save(dir_fd, name, text, length, false);
}

int file_save_durably(int dir_fd, const char *name, const char *text, size_t length)
{
	return save(dir_fd, name, text, length, true);
}

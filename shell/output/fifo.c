/* See fifo.h. A FIFO has its name until a command takes it. Ids come from clients. */
#include "shell/output/fifo.h"

#include "shell/id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY "stdin"
#define PATH_SIZE 4200u

static int open_directory(const char *runtime_dir)
{
	char path[PATH_SIZE];
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
	return strlen(id) == FIFO_ID_SIZE - 1 && strspn(id, "0123456789abcdef") == FIFO_ID_SIZE - 1;
}

int fifo_create(const char *runtime_dir, char ret_id[FIFO_ID_SIZE], int *ret_place)
{
	int rc = id_hex(ret_id, FIFO_ID_SIZE), dir = rc < 0 ? rc : open_directory(runtime_dir);
	if (dir < 0)
		return dir;
	rc = mkfifoat(dir, ret_id, 0600) < 0 ? -errno : 0;
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

int fifo_remove(const char *runtime_dir, const char *id)
{
	int dir = is_id(id) ? open_directory(runtime_dir) : -ENOENT;
	if (dir < 0)
		return dir;
	int rc = unlinkat(dir, id, 0) < 0 ? -errno : 0;
	close(dir);
	return rc;
}

void fifo_clear(const char *runtime_dir)
{
	int dir = open_directory(runtime_dir);
	DIR *list = dir < 0 ? NULL : fdopendir(dir);
	if (!list && dir >= 0)
		close(dir);
	for (struct dirent *entry; list && (entry = readdir(list));)
		if (is_id(entry->d_name))
			unlinkat(dir, entry->d_name, 0);
	if (list)
		closedir(list);
}

int fifo_move(const char *runtime_dir, const char *id, int dir_fd, const char *name)
{
	int dir = is_id(id) ? open_directory(runtime_dir) : -ENOENT;
	if (dir < 0)
		return dir;
	int rc = renameat(dir, id, dir_fd, name) < 0 ? -errno : 0;
	close(dir);
	return rc;
}

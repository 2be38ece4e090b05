/*
 * A directory with a holder is adopted, one with a starting holder is left for later, and one
 * without a holder is removed. Other errors are reported and the directory stays.
 */
#include "shell/store/directory.h"

#include "shell/dir.h"
#include "shell/id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int directory_create(int parent_fd, const char *id, char ret_name[DIRECTORY_NAME_SIZE], int *ret_fd)
{
	char random[17];
	int rc = id_hex(random, sizeof random);
	if (rc < 0)
		return rc;
	snprintf(ret_name, DIRECTORY_NAME_SIZE, "%s+%s", id, random);
	if (mkdirat(parent_fd, ret_name, 0700) < 0)
		return -errno;
	int fd = openat(parent_fd, ret_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || mkdirat(fd, DIRECTORY_SHELL, 0700) < 0) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		unlinkat(parent_fd, ret_name, AT_REMOVEDIR);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

int directory_check(const char *path)
{
	struct stat st;
	if (!path || path[0] != '/')
		return -EINVAL;
	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

int directory_check_cached(const struct directory_found *found, const char *path)
{
	return found->looked ? found->error : directory_check(path);
}

/* Returns 1 if a holder was adopted, 0 if not, -EAGAIN if it is still starting. */
static int adopt_or_clear(int parent_fd, const struct directory_owner *o, const char *name)
{
	if (o->is_known(o->user, name))
		return 0;
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	int rc = o->adopt(o->user, name, fd);
	if (rc == -EAGAIN) {
		close(fd);
		return rc;
	}
	bool has_no_holder = rc == -ECONNREFUSED || rc == -ENOENT;
	/* If the server was killed during the start, the holder has the lock but no socket yet. */
	bool is_starting = has_no_holder && flock(fd, LOCK_EX | LOCK_NB) < 0;
	close(fd);
	if (has_no_holder && !is_starting)
		o->remove(o->user, name);
	else if (rc < 0 && !is_starting)
		o->failed(o->user, name, rc);
	return rc == 0 ? 1 : is_starting ? -EAGAIN : 0;
}

int directory_adopt_all(int parent_fd, const struct directory_owner *owner, bool *ret_again)
{
	int found = 0;
	DIR *dir = dir_open(parent_fd, ".");
	*ret_again = false;
	if (!dir)
		return -errno;
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		int rc = adopt_or_clear(parent_fd, owner, entry->d_name);
		found += rc > 0;
		*ret_again |= rc == -EAGAIN;
	}
	closedir(dir);
	return found;
}

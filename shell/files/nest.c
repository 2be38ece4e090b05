#include "shell/files/nest.h"

#include "shell/files/temp_name.h"
#include "shell/files/copy.h"
#include "shell/files/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether an open directory still has this name. */
static bool has_name(int dir_fd, const char *name, int fd)
{
	struct stat by_name, by_fd;
	return fstat(fd, &by_fd) == 0 && fstatat(dir_fd, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
		by_name.st_ino == by_fd.st_ino && by_name.st_dev == by_fd.st_dev;
}

static bool lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Remove an unlocked nest of this name. Returns whether the name is free now. */
static bool remove_leftover(int dir_fd, const char *name)
{
	int fd = place_open_in(dir_fd, name, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd == -ENOENT;
	bool free = lock(fd) && has_name(dir_fd, name, fd) && copy_remove_tree(dir_fd, name) == 0;
	close(fd);
	return free;
}

/*
 * Make a nest named n->name. Returns 0, -EEXIST (also if another process took it for a leftover), or a negative
 * errno.
 */
static int make(int dir_fd, struct nest *n)
{
	struct stat st;
	if (mkdirat(dir_fd, n->name, 0777) < 0)
		return -errno;
	/* O_RDONLY, since flock(2) refuses O_PATH. */
	int rc = 0, fd = place_open_in(dir_fd, n->name, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd == -ENOENT ? -EEXIST : fd;
	if (!lock(fd) || !has_name(dir_fd, n->name, fd))
		rc = -EEXIST;
	else if (fstat(fd, &st) < 0 || fchmod(fd, 0700) < 0)
		rc = -errno;
	if (rc < 0) {
		close(fd);
		return rc;
	}
	n->mode = st.st_mode & 0777;
	n->fd = fd;
	return 0;
}

int nest_make(int dir_fd, const char *target, const char *suffix, struct nest *ret)
{
	struct nest n = {.fd = -1};
	temp_name_make(target, suffix, false, n.name, sizeof n.name);
	if (!remove_leftover(dir_fd, n.name))
		temp_name_make(target, suffix, true, n.name, sizeof n.name);
	int rc = make(dir_fd, &n);
	if (rc == -EEXIST) {
		temp_name_make(target, suffix, true, n.name, sizeof n.name);
		rc = make(dir_fd, &n);
	}
	if (rc == 0)
		*ret = n;
	return rc;
}

/* If the entry changes between the check and unlinkat(2), unlinkat(2) still refuses a directory. */
#include "shell/files/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* stat() a path, links followed. Returns 0 or a negative errno. */
static int stat_path(const struct place *p, const char *path, struct stat *ret)
{
	int fd = place_open(p, path, O_PATH, 0);
	if (fd < 0)
		return fd;
	int rc = fstat(fd, ret) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

int entry_remove(const struct place *p, const char *path)
{
	struct place_entry e;
	struct stat st;
	int rc = stat_path(p, path, &st);
	if (rc < 0 || S_ISDIR(st.st_mode))
		return rc < 0 ? rc : -EISDIR;
	rc = place_find(p, path, &e);
	if (rc < 0)
		return rc;
	if (unlinkat(e.dir_fd, e.name, 0) < 0)
		rc = -errno;
	place_entry_close(&e);
	return rc;
}

static int make(const struct place *p, const char *path)
{
	struct place_entry e;
	int rc = place_find(p, path, &e);
	if (rc < 0)
		return rc == -EBUSY ? -EEXIST : rc;
	if (mkdirat(e.dir_fd, e.name, 0777) < 0)
		rc = -errno;
	place_entry_close(&e);
	return rc;
}

int entry_make_directory(const struct place *p, const char *path, bool parents)
{
	struct stat st;
	int rc = make(p, path);
	if (!parents)
		return rc;
	if (rc == -ENOENT && (rc = place_make_parents(p, path)) == 0)
		rc = make(p, path);
	if (rc == -EEXIST && stat_path(p, path, &st) == 0 && S_ISDIR(st.st_mode))
		rc = 0;
	return rc;
}

int entry_sync(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES ? 0 : -errno; /* writable but not readable */
	int rc = fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
	close(fd);
	return rc;
}

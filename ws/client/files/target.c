/*
 * A symbolic link is followed, and its target is replaced. A file that this user may not write is
 * not replaced, although its directory would allow that.
 */
#include "ws/client/files/target.h"

#include "shell/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(struct target *t, int error)
{
	return cli_fail(t->cli, "%s: %s", t->name, strerror(-error));
}

/* Make all directories above path, which is changed meanwhile. */
static int make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int rc = mkdir(path, 0777) < 0 && errno != EEXIST ? -errno : 0;
		*slash = '/';
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Find out what exists at the name. */
static int find_old(struct target *t, bool parents)
{
	struct stat link;
	if (strlen(t->name) >= sizeof t->path)
		return -ENAMETOOLONG;
	snprintf(t->path, sizeof t->path, "%s", t->name);
	t->exists = stat(t->name, &t->old) == 0;
	if (!t->exists && errno != ENOENT)
		return -errno;
	if (!t->exists && lstat(t->name, &link) == 0) /* a dangling link */
		return -ENOENT;
	if (!t->exists)
		return parents ? make_parents(t->path) : 0;
	t->is_replacement = S_ISREG(t->old.st_mode);
	if (!t->is_replacement)
		return 0;
	return realpath(t->name, t->path) && access(t->path, W_OK) == 0 ? 0 : -errno;
}

static int open_beside(struct target *t)
{
	const char *slash = strrchr(t->path, '/');
	int length = slash ? (int)(slash - t->path) : 0;
	t->is_replacement = true;
	snprintf(t->beside, sizeof t->beside, "%.*s%s", slash ? length : 1, slash ? t->path : ".",
		TARGET_BESIDE);
	t->fd = mkostemp(t->beside, O_CLOEXEC);
	return t->fd < 0 ? -errno : 0;
}

int target_open(struct target *t, struct cli *cli, const char *name, bool parents)
{
	*t = (struct target){.cli = cli, .name = name, .fd = -1};
	int rc = find_old(t, parents);
	if (rc == 0 && t->exists && !t->is_replacement) {
		t->fd = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
		rc = t->fd < 0 ? -errno : 0;
	} else if (rc == 0) {
		rc = open_beside(t);
	}
	return rc < 0 ? fail(t, rc) : 0;
}

int target_write(struct target *t, const void *bytes, size_t length)
{
	int rc = write_all(t->fd, bytes, length);
	return rc < 0 ? fail(t, rc) : 0;
}

/* Give the file the owner and mode of the old one, or the mode of a new file. */
static int set_rights(const struct target *t)
{
	mode_t mask = umask(0), mode = 0666 & ~mask;
	umask(mask);
	if (t->exists) {
		/* Without the old owner the set-id bits would give other rights than before. */
		bool owned = fchown(t->fd, t->old.st_uid, t->old.st_gid) == 0;
		mode = t->old.st_mode & (owned ? 07777 : 0777);
	}
	return fchmod(t->fd, mode) < 0 ? -errno : 0;
}

int target_commit(struct target *t)
{
	int rc = t->is_replacement ? set_rights(t) : 0;
	if (rc == 0 && t->is_replacement && fsync(t->fd) < 0)
		rc = -errno;
	if (rc == 0 && t->is_replacement && rename(t->beside, t->path) < 0)
		rc = -errno;
	if (rc < 0) {
		target_abort(t);
		return fail(t, rc);
	}
	rc = close(t->fd) < 0 && !t->is_replacement ? -errno : 0;
	t->fd = -1;
	return rc < 0 ? fail(t, rc) : 0;
}

void target_abort(struct target *t)
{
	if (t->fd < 0)
		return;
	close(t->fd);
	t->fd = -1;
	if (t->is_replacement)
		unlink(t->beside);
}

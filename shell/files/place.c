/*
 * All paths are opened by openat2(2), which resolves them and all links with the sandbox's root as the root.
 * Other system calls get directory descriptors and single names. If the shell's pid was reused, the new process
 * is not below the holder; this is checked after its directory is open.
 */
#include "shell/files/place.h"

#include "shell/files/alias.h"
#include "pty/proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

void place_of_shell(struct place *p, pid_t shell, pid_t holder)
{
	*p = (struct place){.shell = shell, .holder = holder, .root_fd = -1, .cwd_fd = -1};
}

bool place_of_directory(struct place *p, const char *cwd)
{
	*p = (struct place){.root_fd = -1, .cwd_fd = -1};
	return (size_t)snprintf(p->cwd, sizeof p->cwd, "%s", cwd) < sizeof p->cwd;
}

void place_of_nothing(struct place *p)
{
	*p = (struct place){.root_fd = -1, .cwd_fd = -1};
}

/* Whether the shell has another mount namespace than the server. Returns 0, 1 or a negative errno. */
static int is_in_sandbox(pid_t shell)
{
	char path[64], theirs[64], ours[64];
	snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)shell);
	ssize_t n = readlink(path, theirs, sizeof theirs - 1);
	if (n < 0)
		return -errno;
	theirs[n] = '\0';
	n = readlink("/proc/self/ns/mnt", ours, sizeof ours - 1);
	if (n < 0)
		return -errno;
	ours[n] = '\0';
	return strcmp(theirs, ours) != 0;
}

static int open_proc(pid_t shell, const char *what, int flags)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)shell, what);
	int fd = open(path, O_PATH | O_CLOEXEC | flags);
	return fd < 0 ? -errno : fd;
}

/* Find the name of the shell's working directory in the sandbox, and check that it is the same directory. */
static int find_inside(struct place *p)
{
	char path[64];
	struct stat by_name, by_shell;
	snprintf(path, sizeof path, "/proc/%d/cwd", (int)p->shell);
	ssize_t n = readlink(path, p->inside, sizeof p->inside - 1);
	if (n < 0)
		return -errno;
	p->inside[n] = '\0';
	int fd = place_open(p, p->inside, O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		p->inside[0] = '\0'; /* it has been removed: only absolute paths work */
	else if (fstat(fd, &by_name) < 0 || fstat(p->cwd_fd, &by_shell) < 0 ||
		by_name.st_dev != by_shell.st_dev || by_name.st_ino != by_shell.st_ino)
		p->inside[0] = '\0';
	if (fd >= 0)
		close(fd);
	return 0;
}

static int enter_shell(struct place *p)
{
	struct proc_status now;
	p->cwd_fd = open_proc(p->shell, "cwd", O_DIRECTORY);
	if (p->cwd_fd < 0)
		return p->cwd_fd == -ENOENT ? -ESRCH : p->cwd_fd;
	int sandboxed = is_in_sandbox(p->shell);
	if (sandboxed > 0)
		p->root_fd = sandboxed = open_proc(p->shell, "root", O_DIRECTORY);
	if (sandboxed < 0)
		return sandboxed == -ENOENT ? -ESRCH : sandboxed;
	/* If the pid is still below the holder, the opened directories are the shell's. */
	if (!proc_status(p->shell, &now) || !proc_is_alive(&now) ||
		!proc_is_descendant(p->shell, p->holder))
		return -ESRCH;
	return p->root_fd >= 0 ? find_inside(p) : 0;
}

int place_enter(struct place *p)
{
	int rc = 0;
	if (p->shell > 0) {
		rc = enter_shell(p);
	} else if (p->cwd[0]) {
		p->cwd_fd = open(p->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
		rc = p->cwd_fd < 0 ? -errno : 0;
	}
	if (rc < 0)
		place_leave(p);
	return rc;
}

void place_leave(struct place *p)
{
	if (p->root_fd >= 0)
		close(p->root_fd);
	if (p->cwd_fd >= 0)
		close(p->cwd_fd);
	p->root_fd = p->cwd_fd = -1;
}

/* Whether a part of a path in /proc is the id of a thread of the server. */
static bool is_own_pid(const char *part, size_t length)
{
	char path[64];
	if (length == 0 || length > 10 || strspn(part, "0123456789") < length)
		return false;
	snprintf(path, sizeof path, "/proc/self/task/%.*s", (int)length, part);
	return access(path, F_OK) == 0;
}

/* Whether an open file is an entry of the server in /proc. True if unknown. */
static bool is_own_proc(int fd)
{
	char link[32], path[PATH_MAX];
	struct statfs fs;
	if (fstatfs(fd, &fs) < 0)
		return true;
	if (fs.f_type != PROC_SUPER_MAGIC)
		return false;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (n < 0)
		return true;
	path[n] = '\0';
	for (const char *part = path; *part;) {
		size_t length = strcspn(part, "/");
		if (is_own_pid(part, length))
			return true;
		part += length + (part[length] == '/');
	}
	return false;
}

static int open_how(int dir_fd, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	const struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
		.mode = mode,
		.resolve = resolve | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof how);
	if (fd < 0)
		return -errno;
	if (!is_own_proc(fd))
		return fd;
	close(fd);
	return -EACCES;
}

/* Resolve the alias. Returns 0 with *path, which may point to buffer, or -ENAMETOOLONG. */
static int resolve(const struct place *p, const char **path, char buffer[PLACE_PATH_MAX])
{
	if (!p->workspace || (*path)[0] != '/' || p->beneath || p->root_fd >= 0)
		return 0;
	int rc = alias_resolve(p->workspace, *path, buffer, PLACE_PATH_MAX);
	*path = rc < 0 ? *path : buffer;
	return rc;
}

int place_open(const struct place *p, const char *path, int flags, mode_t mode)
{
	char real[PLACE_PATH_MAX];
	int rc = resolve(p, &path, real);
	if (rc < 0)
		return rc;
	bool absolute = path[0] == '/';
	char whole[2 * PLACE_PATH_MAX];
	if (p->beneath)
		return p->cwd_fd < 0 ? -ENOENT
				     : open_how(p->cwd_fd, path, flags, mode, RESOLVE_BENEATH);
	if (!absolute && p->root_fd < 0)
		return p->cwd_fd < 0 ? -ENOENT : open_how(p->cwd_fd, path, flags, mode, 0);
	if (p->root_fd < 0)
		return open_how(AT_FDCWD, path, flags, mode, 0);
	if (absolute)
		return open_how(p->root_fd, path, flags, mode, RESOLVE_IN_ROOT);
	if (!p->inside[0])
		return -ENOENT;
	if ((size_t)snprintf(whole, sizeof whole, "%s/%s", p->inside, path) >= PLACE_PATH_MAX)
		return -ENAMETOOLONG;
	return open_how(p->root_fd, whole, flags, mode, RESOLVE_IN_ROOT);
}

int place_open_in(int dir_fd, const char *name, int flags)
{
	return open_how(dir_fd, name, flags | O_NOFOLLOW, 0, RESOLVE_BENEATH);
}

int place_reopen(int path_fd, int flags)
{
	char link[32];
	snprintf(link, sizeof link, "/proc/self/fd/%d", path_fd);
	int fd = open(link, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int place_find(const struct place *p, const char *path, struct place_entry *ret)
{
	char parent[PLACE_PATH_MAX], real[PLACE_PATH_MAX];
	int rc = resolve(p, &path, real);
	if (rc < 0)
		return rc;
	size_t end = strlen(path), start;
	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/';)
		start--;
	if (end >= sizeof parent || end - start > NAME_MAX)
		return -ENAMETOOLONG;
	snprintf(ret->name, sizeof ret->name, "%.*s", (int)(end - start), path + start);
	if (!ret->name[0] || strcmp(ret->name, ".") == 0 || strcmp(ret->name, "..") == 0)
		return -EBUSY;
	snprintf(parent, sizeof parent, "%.*s", (int)start, path);
	ret->dir_fd = place_open(p, start > 0 ? parent : ".", O_PATH | O_DIRECTORY, 0);
	return ret->dir_fd < 0 ? ret->dir_fd : 0;
}

void place_entry_close(struct place_entry *e)
{
	close(e->dir_fd);
	e->dir_fd = -1;
}

/* Make one directory, unless it exists. */
static int make_one(const struct place *p, const char *path)
{
	struct place_entry e;
	int rc = place_find(p, path, &e);
	if (rc == -EBUSY)
		return 0; /* "a/..": there is nothing to make */
	if (rc < 0)
		return rc;
	if (mkdirat(e.dir_fd, e.name, 0777) < 0 && errno != EEXIST)
		rc = -errno;
	place_entry_close(&e);
	return rc;
}

/* Whether a directory exists: 1, 0, or a negative errno. */
static int directory_exists(const struct place *p, const char *path)
{
	int fd = place_open(p, path, O_PATH | O_DIRECTORY, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 1 : fd == -ENOENT ? 0 : fd;
}

int place_make_parents(const struct place *p, const char *path)
{
	char part[PLACE_PATH_MAX];
	size_t length = strlen(path), at;
	while (length > 0 && path[length - 1] != '/')
		length--;
	if (length >= sizeof part)
		return -ENAMETOOLONG;
	memcpy(part, path, length);
	/* Search backwards for the deepest existing directory, then make those below it. */
	int rc = 0;
	for (at = length; at > 0; at--) {
		if (at < length && part[at - 1] != '/')
			continue;
		part[at] = '\0';
		rc = directory_exists(p, part);
		memcpy(part, path, length);
		if (rc != 0)
			break;
	}
	for (at++; rc >= 0 && at <= length; at++) {
		if (part[at - 1] != '/')
			continue;
		part[at] = '\0';
		rc = make_one(p, part);
		memcpy(part, path, length);
	}
	return rc < 0 ? rc : 0;
}

/* See runtime_lock.h. Fails if another process keeps one of the locks for too long. */
#include "shell/store/runtime_lock.h"

#include "shell/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define RETRY_NS 2000000L
#define BACKLOG_MAX \
	4096 /* connections of refused servers stay in the queue: they are never accepted */

typedef int (*try_lock)(struct runtime_lock *l, const struct sockaddr_un *name);

static int try_record(struct runtime_lock *l, const struct sockaddr_un *name)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	(void)name;
	if (fcntl(l->fd, F_SETLK, &whole) == 0)
		return 0;
	return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
}

static int try_flock(struct runtime_lock *l, const struct sockaddr_un *name)
{
	(void)name;
	if (flock(l->fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK ? -EBUSY : -errno;
}

static int try_name(struct runtime_lock *l, const struct sockaddr_un *name)
{
	if (bind(l->name_fd, (const struct sockaddr *)name, sizeof *name) < 0)
		return errno == EADDRINUSE ? -EBUSY : -errno;
	/* SO_PEERCRED of a connection requires a listening socket. */
	return listen(l->name_fd, BACKLOG_MAX) < 0 ? -errno : 0;
}

/* Try until it succeeds, fails for another reason than -EBUSY, or ms have passed. */
static int try_for(struct runtime_lock *l, const struct sockaddr_un *name, try_lock try, unsigned ms)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	uint64_t deadline = uv_hrtime() + ms * UINT64_C(1000000);
	int rc;
	while ((rc = try(l, name)) == -EBUSY && uv_hrtime() < deadline)
		nanosleep(&pause, NULL);
	return rc;
}

/* Hash of the directory's name in its parent. Works without read access to the parent. */
static uint64_t hash_name(int runtime_fd)
{
	char link[32], path[PATH_MAX];
	snprintf(link, sizeof link, "/proc/self/fd/%d", runtime_fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	const char *slash = strrchr(path, '/');
	return hash_text(HASH_START, slash ? slash : path);
}

static bool make_name(int runtime_fd, struct sockaddr_un *name)
{
	struct stat parent;
	if (fstatat(runtime_fd, "..", &parent, 0) < 0)
		return false;
	*name = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(name->sun_path + 1, sizeof name->sun_path - 1,
		"ringside/%u/%" PRIx64 "/%" PRIx64 "/%016" PRIx64, (unsigned)geteuid(),
		(uint64_t)parent.st_dev, (uint64_t)parent.st_ino, hash_name(runtime_fd));
	return true;
}

/* Any process may bind any name: it counts only if a process of our user, or of root, has it. */
static bool is_bound_by_us(const struct sockaddr_un *name)
{
	struct ucred peer;
	socklen_t length = sizeof peer;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool ours = fd >= 0 && connect(fd, (const struct sockaddr *)name, sizeof *name) == 0 &&
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
		(peer.uid == geteuid() || peer.uid == 0);
	if (fd >= 0)
		close(fd);
	return ours;
}

static int acquire_name(struct runtime_lock *l, int runtime_fd)
{
	struct sockaddr_un name;
	if (!make_name(runtime_fd, &name))
		return 0;
	l->name_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->name_fd < 0)
		return -errno;
	int rc = try_for(l, &name, try_name, RUNTIME_LOCK_WAIT_MS);
	if (rc == -EBUSY && is_bound_by_us(&name))
		return rc;
	if (rc < 0) {
		close(l->name_fd);
		l->name_fd = -1;
	}
	return 0;
}

int runtime_lock_acquire(struct runtime_lock *l, int runtime_fd)
{
	*l = (struct runtime_lock){.name_fd = -1};
	l->fd = openat(runtime_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->fd < 0)
		return -errno;
	int rc = try_for(l, NULL, try_record, RUNTIME_LOCK_WAIT_MS);
	if (rc == 0)
		rc = try_for(l, NULL, try_flock, RUNTIME_LOCK_CHILD_MS);
	if (rc == 0)
		rc = acquire_name(l, runtime_fd);
	if (rc < 0)
		runtime_lock_release(l);
	return rc;
}

bool runtime_lock_is_held(const struct runtime_lock *l, const char *runtime_dir)
{
	char path[PATH_MAX];
	struct stat ours, there;
	struct runtime_lock again = *l;
	int n = snprintf(path, sizeof path, "%s/lock", runtime_dir);
	/* Use lstat(): closing another descriptor of the file would drop our record lock. */
	return n > 0 && (size_t)n < sizeof path && lstat(path, &there) == 0 &&
		fstat(l->fd, &ours) == 0 && ours.st_dev == there.st_dev &&
		ours.st_ino == there.st_ino && try_record(&again, NULL) == 0 &&
		try_flock(&again, NULL) == 0;
}

void runtime_lock_leave(struct runtime_lock *l, int *ret_fd, int *ret_name_fd)
{
	/* A record lock belongs to the process, but ends when any descriptor of the file is closed. */
	(void)fcntl(l->fd, F_SETFD, 0);
	if (l->name_fd >= 0)
		(void)fcntl(l->name_fd, F_SETFD, 0);
	*ret_fd = l->fd;
	*ret_name_fd = l->name_fd;
	*l = (struct runtime_lock){.fd = -1, .name_fd = -1};
}

int runtime_lock_take_over(struct runtime_lock *l, int fd, int name_fd)
{
	*l = (struct runtime_lock){.fd = fd, .name_fd = name_fd};
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (name_fd >= 0)
		(void)fcntl(name_fd, F_SETFD, FD_CLOEXEC);
	if (try_record(l, NULL) == 0 && try_flock(l, NULL) == 0)
		return 0;
	runtime_lock_release(l);
	return -EBUSY;
}

void runtime_lock_release(struct runtime_lock *l)
{
	if (l->name_fd >= 0)
		close(l->name_fd);
	if (l->fd >= 0)
		close(l->fd);
}

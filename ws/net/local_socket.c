/* Paths that a server and its command line find alike, also with different environments. */
#include "ws/net/local_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_MAX (PATH_MAX - 512) /* leaves space for names in it */

/*
 * Check $XDG_RUNTIME_DIR: in containers it is often missing, under su and sudo another user's. Returns NULL, or what is wrong.
 */
static const char *check_xdg(const char *xdg)
{
	struct stat st;
	if (xdg[0] != '/')
		return "is not an absolute path";
	if (strlen(xdg) >= DIR_MAX)
		return "is too long";
	if (lstat(xdg, &st) < 0)
		return strerror(errno);
	if (!S_ISDIR(st.st_mode))
		return S_ISLNK(st.st_mode) ? "is a symbolic link" : "is no directory";
	if (st.st_uid != geteuid())
		return "is another user's";
	if ((st.st_mode & 022) != 0)
		return "can be written to by other users";
	return access(xdg, W_OK | X_OK) < 0 ? strerror(errno) : NULL;
}

const char *local_socket_default_dir(char dir[PATH_MAX])
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	bool given = xdg && *xdg;
	const char *why = given ? check_xdg(xdg) : NULL;
	if (given && !why)
		snprintf(dir, PATH_MAX, "%s/ringside", xdg);
	else
		snprintf(dir, PATH_MAX, "/tmp/ringside-%u", (unsigned)geteuid());
	return why;
}

/* Whether a server has its socket there. A directory that another user owns or can write to does not count. */
static bool is_served(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;
	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode) ||
		(st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022) != 0)
		return false;
	return snprintf(path, sizeof path, "%s/" LOCAL_SOCKET_NAME, dir) < PATH_MAX &&
		access(path, F_OK) == 0;
}

const char *local_socket_find_dir(char dir[PATH_MAX])
{
	char fallbacks[2][64];
	const char *why = local_socket_default_dir(dir);
	snprintf(fallbacks[0], sizeof fallbacks[0], "/run/user/%u/ringside", (unsigned)geteuid());
	snprintf(fallbacks[1], sizeof fallbacks[1], "/tmp/ringside-%u", (unsigned)geteuid());
	for (size_t i = 0; i < sizeof fallbacks / sizeof *fallbacks && !is_served(dir); i++)
		if (is_served(fallbacks[i]))
			snprintf(dir, PATH_MAX, "%s", fallbacks[i]);
	return why;
}

int local_socket_address(const char *path, char name[LOCAL_SOCKET_PATH_MAX], int *ret_dir_fd)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	*ret_dir_fd = -1;
	if (strlen(path) < LOCAL_SOCKET_PATH_MAX) {
		snprintf(name, LOCAL_SOCKET_PATH_MAX, "%s", path);
		return 0;
	}
	if (!slash || strlen(path) >= sizeof dir || strlen(slash) > 64)
		return -ENAMETOOLONG;
	snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(name, LOCAL_SOCKET_PATH_MAX, "/proc/self/fd/%d%s", fd, slash);
	*ret_dir_fd = fd;
	return 0;
}

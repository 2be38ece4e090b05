/* Paths that a server and its command line must find alike, whatever their environments lack. */
#include "ws/net/local_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void local_socket_default_dir(char dir[PATH_MAX])
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	struct stat st;
	/* Where nobody has logged in, as in containers and under su, it often names what is not there. */
	if (xdg && xdg[0] == '/' && stat(xdg, &st) == 0 && S_ISDIR(st.st_mode))
		snprintf(dir, PATH_MAX, "%s/ringside", xdg);
	else
		snprintf(dir, PATH_MAX, "/tmp/ringside-%u", (unsigned)geteuid());
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

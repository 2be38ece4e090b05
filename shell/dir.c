#include "shell/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

DIR *dir_open(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0) {
		int error = errno;
		close(fd);
		errno = error;
	}
	return dir;
}

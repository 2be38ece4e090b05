#include "shell/write_all.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

static int write_pieces(int fd, const char *at, size_t length, bool seekable, uint64_t offset)
{
	while (length > 0) {
		ssize_t n = seekable ? pwrite(fd, at, length, (off_t)offset) : write(fd, at, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
			continue;
		}
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		at += n;
		offset += (uint64_t)n;
		length -= (size_t)n;
	}
	return 0;
}

int write_all(int fd, const void *bytes, size_t length)
{
	return write_pieces(fd, bytes, length, false, 0);
}

int write_all_at(int fd, const void *bytes, size_t length, uint64_t offset)
{
	return write_pieces(fd, bytes, length, true, offset);
}

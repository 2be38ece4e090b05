#include "ws/client/connect/write_all.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

int write_all(int fd, const void *bytes, size_t length)
{
	for (const char *p = bytes; length > 0;) {
		ssize_t n = write(fd, p, length);
		if (n >= 0) {
			p += n;
			length -= (size_t)n;
		} else if (errno == EAGAIN) {
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

/* See pty/peeker.h. */
#include "pty/peeker.h"

#include "pty/fdpass.h"

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t peek(const struct peeker_request *r, int fd, uint8_t *bytes)
{
	if (fd < 0 || r->length > PEEKER_BYTES_MAX || r->offset > INT64_MAX)
		return -EINVAL;
	ssize_t n = pread(fd, bytes, r->length, (off_t)r->offset);
	return n < 0 ? -errno : n;
}

void peeker_run(void)
{
	static struct peeker_answer answer;
	struct peeker_request request;
	int fd;
	prctl(PR_SET_NAME, "ringside-peek");
	while (fdpass_receive(PEEKER_SOCKET_FD, &request, sizeof request, &fd) == sizeof request) {
		ssize_t n = peek(&request, fd, answer.bytes);
		if (fd >= 0)
			close(fd);
		answer.serial = request.serial;
		answer.result = (int32_t)n;
		size_t size = offsetof(struct peeker_answer, bytes) + (n > 0 ? (size_t)n : 0);
		if (send(PEEKER_SOCKET_FD, &answer, size, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

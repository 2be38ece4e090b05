/* See pty/peeker.h. */
#include "pty/peeker.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* *ret_fd: of what is to be read, -1: none came. Returns false when there are no more requests. */
static bool receive(struct peeker_request *request, int *ret_fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec data = {.iov_base = request, .iov_len = sizeof *request};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control};
	ssize_t n = recvmsg(PEEKER_SOCKET, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	*ret_fd = -1;
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(header), sizeof *ret_fd);
	return n == sizeof *request;
}

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
	while (receive(&request, &fd)) {
		ssize_t n = peek(&request, fd, answer.bytes);
		if (fd >= 0)
			close(fd);
		answer.serial = request.serial;
		answer.result = (int32_t)n;
		size_t size = offsetof(struct peeker_answer, bytes) + (n > 0 ? (size_t)n : 0);
		if (send(PEEKER_SOCKET, &answer, size, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

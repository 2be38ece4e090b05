#include "pty/fdpass.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

ssize_t fdpass_send(
	int socket_fd, const void *bytes, size_t length, const int *fds, size_t count, int flags)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FDPASS_MAX * sizeof *fds)] = {0};
	struct iovec data = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	assert(count <= FDPASS_MAX);
	if (count > 0) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof *fds);
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(count * sizeof *fds);
		memcpy(CMSG_DATA(header), fds, count * sizeof *fds);
	}
	return sendmsg(socket_fd, &message, flags);
}

ssize_t fdpass_receive(int socket_fd, void *bytes, size_t length, int *ret_fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof *ret_fd)];
	struct iovec data = {.iov_base = bytes, .iov_len = length};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control};
	ssize_t n = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	*ret_fd = -1;
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(header), sizeof *ret_fd);
	return n;
}

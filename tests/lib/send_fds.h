/* Sends descriptors, as over a holder's socket. */
#pragma once

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#define SEND_FDS_MAX 64u

/* Send length bytes with count copies of one descriptor. */
static inline void send_fds(int to, const void *bytes, size_t length, int fd, size_t count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(SEND_FDS_MAX * sizeof(int))] = {0};
	struct iovec data = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	cr_assert_leq(count, SEND_FDS_MAX);
	if (count > 0) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(count * sizeof(int));
		for (size_t i = 0; i < count; i++)
			memcpy(CMSG_DATA(header) + i * sizeof fd, &fd, sizeof fd);
	}
	cr_assert_eq(sendmsg(to, &message, 0), (ssize_t)length);
}

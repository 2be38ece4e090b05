#include "pty/packet.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void packet_close_fds(struct packet *p, size_t first)
{
	for (size_t i = first; i < p->count; i++)
		close(p->fds[i]);
	p->count = first < p->count ? first : p->count;
}

/* Collect descriptors of all control messages; close those beyond the limit. */
static void collect_fds(struct packet *p, struct msghdr *message)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(message); h; h = CMSG_NXTHDR(message, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		size_t count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(h) + i * sizeof fd, sizeof fd);
			if (p->count < PACKET_FDS_MAX)
				p->fds[p->count++] = fd;
			else
				close(fd);
		}
	}
}

static bool is_whole(const struct packet *p, ssize_t length, int flags)
{
	const struct wire_message *m = &p->message;
	bool newer = m->version > WIRE_VERSION;
	if (length != sizeof *m || m->magic != WIRE_MAGIC || (flags & MSG_CTRUNC))
		return false;
	return newer || (!(flags & MSG_TRUNC) && p->count <= WIRE_FDS);
}

int packet_receive(int fd, struct packet *ret)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(PACKET_FDS_MAX * sizeof(int))];
	struct iovec data = {.iov_base = &ret->message, .iov_len = sizeof ret->message};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control,
	};
	ret->count = 0;
	ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	collect_fds(ret, &message);
	if (is_whole(ret, n, message.msg_flags))
		return 0;
	packet_close_fds(ret, 0);
	return n == 0 ? -ECONNRESET : -EPROTO;
}

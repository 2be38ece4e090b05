/*
 * One request and one reply of NETLINK_SOCK_DIAG for each connection. For a socket that its process has closed the kernel
 * reports uid 0 and inode 0; that counts as not found. Otherwise a process could send a request, close, and be served as
 * root.
 */
#include "ws/net/peer_user.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct diag_request {
	struct nlmsghdr header;
	struct inet_diag_req_v2 request;
};

int peer_user_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
	return fd < 0 ? -errno : fd;
}

/* Copy an address into the form of struct inet_diag_sockid; the port is in network order. */
static void copy_address(const struct sockaddr_storage *address, uint32_t ret[4], uint16_t *ret_port)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	if (address->ss_family == AF_INET) {
		memcpy(&v4, address, sizeof v4);
		memcpy(ret, &v4.sin_addr, sizeof v4.sin_addr);
		*ret_port = v4.sin_port;
	} else {
		memcpy(&v6, address, sizeof v6);
		memcpy(ret, &v6.sin6_addr, sizeof v6.sin6_addr);
		*ret_port = v6.sin6_port;
	}
}

/* Send the request: find the socket with our addresses swapped. */
static int send_request(int diag, int fd)
{
	static const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct sockaddr_storage here = {0}, there = {0};
	socklen_t here_length = sizeof here, there_length = sizeof there;
	if (getsockname(fd, (struct sockaddr *)&here, &here_length) < 0 ||
		getpeername(fd, (struct sockaddr *)&there, &there_length) < 0)
		return -errno;
	if (here.ss_family != AF_INET && here.ss_family != AF_INET6)
		return -EAFNOSUPPORT;
	struct diag_request q = {
		.header = {.nlmsg_len = sizeof q,
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
			.nlmsg_seq = (uint32_t)fd},
		.request = {.sdiag_family = (uint8_t)here.ss_family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = UINT32_MAX,
			.id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
	};
	copy_address(&there, q.request.id.idiag_src, &q.request.id.idiag_sport);
	copy_address(&here, q.request.id.idiag_dst, &q.request.id.idiag_dport);
	ssize_t n = sendto(diag, &q, sizeof q, 0, (const struct sockaddr *)&kernel, sizeof kernel);
	return n < 0 ? -errno : 0;
}

/* Receive the reply, which the kernel has queued before sendto() returned. */
static int receive_reply(int diag, int fd, uid_t *ret_uid)
{
	uint8_t bytes[4096];
	struct nlmsghdr header;
	struct inet_diag_msg found;
	struct nlmsgerr error;
	ssize_t n;
	do {
		n = recv(diag, bytes, sizeof bytes, 0);
		if (n < (ssize_t)sizeof header)
			return n < 0 ? -errno : -EBADMSG;
		memcpy(&header, bytes, sizeof header);
	} while (header.nlmsg_seq != (uint32_t)fd);
	size_t length = (size_t)n - NLMSG_HDRLEN;
	if (header.nlmsg_type == NLMSG_ERROR && length >= sizeof error) {
		memcpy(&error, bytes + NLMSG_HDRLEN, sizeof error);
		return error.error < 0 ? error.error : -EBADMSG;
	}
	if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || length < sizeof found)
		return -EBADMSG;
	memcpy(&found, bytes + NLMSG_HDRLEN, sizeof found);
	if (found.idiag_inode == 0)
		return -ENOENT;
	*ret_uid = found.idiag_uid;
	return 0;
}

static bool is_unix(int fd)
{
	int domain;
	socklen_t length = sizeof domain;
	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
}

int peer_user_find(int diag, int fd, uid_t *ret_uid)
{
	struct ucred peer;
	socklen_t length = sizeof peer;
	if (!is_unix(fd)) {
		int rc = diag < 0 ? diag : send_request(diag, fd);
		return rc < 0 ? rc : receive_reply(diag, fd, ret_uid);
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return -errno;
	*ret_uid = peer.uid;
	return 0;
}

bool peer_user_is_trusted(int diag, int fd)
{
	uid_t uid = (uid_t)-1;
	return peer_user_find(diag, fd, &uid) == 0 && (uid == geteuid() || uid == 0);
}

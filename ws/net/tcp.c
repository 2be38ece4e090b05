/* Options whose setting fails are left as they are: a unix socket does not have them. */
#include "ws/net/tcp.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <uv.h>

#define ACK_WITHIN_MS 300000u

bool tcp_is_dead(int fd)
{
	struct tcp_info info = {0};
	socklen_t length = sizeof info;
	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
		info.tcpi_last_ack_recv > ACK_WITHIN_MS;
}

size_t tcp_unsent(int fd)
{
	int bytes = 0;
	return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? (size_t)bytes : 0;
}

void tcp_probe_every(int fd, int seconds)
{
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
}

void tcp_limit_received(int fd, int bytes)
{
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

bool tcp_peer_has_ended(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLRDHUP};
	return poll(&poll_fd, 1, 0) > 0;
}

void tcp_reset_on_close(int fd)
{
	const struct linger reset = {.l_onoff = 1, .l_linger = 0};
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

bool tcp_peer_address(bool unix_socket, int fd, char peer[LIMITER_PEER_MAX])
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof address;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address;
	snprintf(peer, LIMITER_PEER_MAX, "unix");
	if (unix_socket)
		return true;
	if (getpeername(fd, (struct sockaddr *)&address, &length) < 0)
		return false;
	if (address.ss_family == AF_INET)
		uv_ip4_name(v4, peer, LIMITER_PEER_MAX);
	else if (address.ss_family == AF_INET6)
		uv_ip6_name(v6, peer, LIMITER_PEER_MAX);
	return true;
}

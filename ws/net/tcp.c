/* Options whose setting fails are left as they are: a unix socket does not have them. */
#include "ws/net/tcp.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

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

void tcp_reset_on_close(int fd)
{
	const struct linger reset = {.l_onoff = 1, .l_linger = 0};
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

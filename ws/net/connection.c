/* Functions for all kinds of connections, and for the server. */
#include "ws/net/internal.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

uint64_t connection_last_ack_of(int fd)
{
	struct tcp_info info = {0};
	socklen_t length = sizeof info;
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
		return 0;
	return info.tcpi_last_ack_recv;
}

void connection_kill(struct lws *wsi)
{
	/* LWS_TO_KILL_SYNC would wait for buffered data to be sent, perhaps for ever. */
	lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
	/* libwebsockets checks its timers only after an event. */
	lws_cancel_service(lws_get_context(wsi));
}

bool server_acquire_quota(struct server *s, enum quota_kind kind, const struct principal *p,
	struct quota_place *place)
{
	struct access *a = s->options.dispatcher->access;
	return !a || quota_acquire(&a->quotas, kind, 1, p, place);
}

uint64_t server_now_ms(const struct server *s)
{
	return uv_now(s->options.loop);
}

unsigned server_keepalive_s(const struct server *s)
{
	unsigned pings = s->options.ping_interval_s;
	return pings < STREAM_QUIET_S ? pings : STREAM_QUIET_S;
}

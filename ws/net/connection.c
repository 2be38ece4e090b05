/* What is asked of a connection, whatever it is for, and of the server that it is one of. */
#include "ws/net/internal.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

const struct arrival *connection_arrival(struct lws *wsi)
{
	static const struct arrival unknown = {0};
	const struct arrival *a = lws_get_opaque_user_data(lws_get_network_wsi(wsi));
	return a ? a : &unknown;
}

/* What is remembered of this one alone, or NULL. */
static struct arrival *own_arrival(struct lws *wsi)
{
	struct arrival *a = lws_get_opaque_user_data(wsi);
	return a && a->of == wsi ? a : NULL;
}

void connection_known(struct server *s, struct lws *wsi)
{
	struct arrival *a = own_arrival(lws_get_network_wsi(wsi));
	if (!a)
		return;
	peers_leave(&s->peers, a->stranger);
	a->stranger = NULL;
}

void connection_forget(struct server *s, struct lws *wsi)
{
	struct arrival *a = own_arrival(wsi);
	if (!a)
		return;
	lws_set_opaque_user_data(wsi, NULL);
	peers_leave(&s->peers, a->stranger);
	free(a);
}

void connection_remember(
	struct server *s, struct lws *wsi, const struct arrival *a, struct peer *stranger)
{
	struct arrival *own = stranger ? malloc(sizeof *own) : NULL;
	if (!own) {
		peers_leave(&s->peers, stranger);
		return;
	}
	*own = *a;
	own->stranger = stranger;
	own->of = wsi;
	lws_set_opaque_user_data(wsi, own);
}

uint64_t connection_last_ack_of(int fd)
{
	struct tcp_info info = {0};
	socklen_t length = sizeof info;
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
		return 0;
	return info.tcpi_last_ack_recv;
}

uint64_t connection_last_ack_ms(struct lws *wsi)
{
	return connection_last_ack_of(lws_get_socket_fd(lws_get_network_wsi(wsi)));
}

void connection_kill(struct lws *wsi)
{
	/* Killed at once, it would wait for what it has buffered to leave, and that may be never. */
	lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
	/* Its timers are looked at only after something has happened. */
	lws_cancel_service(lws_get_context(wsi));
}

bool server_has_place(struct server *s, enum quota_kind kind, const struct principal *p,
	struct quota_place *place)
{
	struct access *a = s->options.dispatcher->access;
	return !a || quota_take(&a->quotas, kind, 1, p, place);
}

uint64_t server_now_ms(const struct server *s)
{
	return uv_now(s->options.loop);
}

unsigned server_quiet_s(const struct server *s)
{
	unsigned pings = s->options.ping_interval_s;
	return pings < STREAM_QUIET_S ? pings : STREAM_QUIET_S;
}

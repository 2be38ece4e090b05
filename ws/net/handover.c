/* What libwebsockets gets of the connections that are served here; see handover.h. */
#include "ws/net/handover.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define TLS_RECORD_HEAD 5u
#define TLS_RECORD_MAX 16384u
#define TLS_HANDSHAKE 22

bool handover_has_hello(struct caller *c)
{
	unsigned char head[TLS_RECORD_HEAD];
	int available = 0;
	ssize_t n = recv(c->fd, head, sizeof head, MSG_PEEK);
	if (n == 0 || (n < 0 && errno != EAGAIN) || (n > 0 && head[0] != TLS_HANDSHAKE)) {
		caller_drop(c);
		return false;
	}
	if (n < (ssize_t)sizeof head)
		return false;
	unsigned length = (unsigned)head[3] << 8 | head[4];
	if (length > TLS_RECORD_MAX || ioctl(c->fd, FIONREAD, &available) < 0) {
		caller_drop(c);
		return false;
	}
	return available >= (int)(TLS_RECORD_HEAD + length);
}

void handover_handshake(struct caller *c)
{
	struct server *s = c->server;
	lws_adopt_desc_t how = {
		.vh = s->tcp,
		.type = LWS_ADOPT_HTTP | LWS_ADOPT_SOCKET | LWS_ADOPT_ALLOW_SSL,
		.fd = {.sockfd = c->fd},
		.opaque = &c->arrival,
	};
	caller_unwatch(c);
	c->arrival.caller = c;
	c->fd = -1;
	caller_move(c, CALLER_HANDSHAKE, c->limit_ms);
	/* It closes the descriptor when it cannot take it. */
	struct lws *wsi = lws_adopt_descriptor_vhost_via_info(&how);
	if (c->state == CALLER_OVER)
		return;
	if (!wsi) {
		caller_drop(c);
		return;
	}
	caller_hold(c, wsi);
	c->fd = lws_get_socket_fd(wsi);
}

/* The connection is libwebsockets': nothing is left of it here. */
static void give_away(struct caller *c, struct lws *wsi)
{
	const struct arrival *arrival = &c->listener->arrival[c->arrival.by];
	struct peer *stranger = c->stranger;
	caller_unwatch(c);
	if (wsi) {
		c->stranger = NULL;
		lws_set_opaque_user_data(wsi, (void *)(uintptr_t)arrival);
		connection_remember(c->server, wsi, arrival, stranger);
	}
	caller_hold(c, NULL);
	c->fd = -1;
	caller_retire(c);
}

void handover_done(struct caller *c)
{
	SSL *ssl = c->wsi ? lws_get_ssl(c->wsi) : NULL;
	if (!ssl || !SSL_is_init_finished(ssl))
		return;
	/* It sleeps until the connection ends, or becomes a WebSocket. */
	lws_rx_flow_control(c->wsi, 0);
	lws_set_timeout(c->wsi, NO_PENDING_TIMEOUT, 0);
	SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	c->ssl = ssl;
	http1_begin(c);
}

/* TLS: what has come has only been looked at. libwebsockets has no reason to read but this call. */
static void wake_up(struct caller *c)
{
	struct lws *wsi = c->wsi;
	struct lws_pollfd event = {.fd = c->fd, .events = LWS_POLLIN, .revents = LWS_POLLIN};
	struct server *s = c->server;
	give_away(c, wsi);
	lws_rx_flow_control(wsi, 1);
	lws_set_timeout(
		wsi, PENDING_TIMEOUT_ESTABLISH_WITH_SERVER, (int)s->options.header_timeout_s);
	lws_service_fd(s->context, &event);
}

void handover_websocket(struct caller *c)
{
	struct server *s = c->server;
	c->served = true;
	if (c->wsi) {
		wake_up(c);
		return;
	}
	int fd = c->fd;
	struct lws_vhost *vhost = c->arrival.unix_socket ? s->local : s->tcp;
	give_away(c, NULL);
	s->adopting = &c->listener->arrival[c->arrival.by];
	/* It closes the descriptor when it cannot take it. */
	lws_adopt_socket_vhost_readbuf(vhost, fd, c->in, c->in_length);
	s->adopting = NULL;
}

bool handover_is_wanted(const struct http_head *http)
{
	const char *upgrade = http_head_field(http, "upgrade");
	return upgrade && strcasecmp(upgrade, "websocket") == 0 &&
		strcmp(http->method, "GET") == 0 && http->minor > 0 &&
		http_head_lists(http, "connection", "upgrade");
}

bool handover_is_sound(const struct http_head *http)
{
	const char *key = http_head_field(http, "sec-websocket-key");
	const char *version = http_head_field(http, "sec-websocket-version");
	return http_head_count(http, "upgrade") == 1 && key && strlen(key) == 24 &&
		http_head_count(http, "sec-websocket-key") == 1 && version &&
		strcmp(version, "13") == 0 && http_head_count(http, "host") <= 1 &&
		!http_head_field(http, "content-length") &&
		!http_head_field(http, "transfer-encoding") && !http->authority;
}

bool handover_is_begun(const char *bytes, size_t length)
{
	static const char *const starts[] = {"GET /ws/pty?", "GET /ws/pty ", "GET /ws ", "GET /ws?",
		"GET /ws/terminal?", "GET /ws/terminal ", "GET /api/ws ", "GET /api/ws?",
		"GET /rpc ", "GET /rpc?", "GET /v1/sandbox/"};
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (length > strlen(starts[i]) && memcmp(bytes, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/*
 * States: the host is looked up; its addresses are tried (wsi); the handshake is sent (asked); the node has accepted (open). A
 * link that is closed lives on until what waits is sent. libwebsockets' opaque user data is NULL once a link is freed.
 *
 * A frame is written at once if the last one has left libwebsockets, as in socket.c.
 *
 * While a link is paused, it cannot answer pings of the node, which would take it for dead. So it sends pongs, which need no
 * ping (RFC 6455, 5.5.3).
 */
#include "ws/net/node_link_internal.h"

#include "ws/net/tcp.h"
#include "ws/socket/frames.h"

#include <errno.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PONG_EVERY_MS 5000u /* while paused; nodes ping after longer times */
#define KERNEL_BYTES \
	(128u << 10) /* that the kernel may hold for a link, so that the node sees a slow client soon */

/* Ending */

/* Close the connection, and get no callbacks of it. */
static void drop_wsi(struct node_link *l)
{
	struct lws *wsi = l->wsi;
	l->wsi = NULL;
	if (!wsi)
		return;
	lws_set_opaque_user_data(wsi, NULL);
	lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
	/* libwebsockets checks its timers only after an event. */
	lws_cancel_service(l->all->context);
}

/* Free the link; its connection is over or dropped. */
static void link_free(struct node_link *l)
{
	node_lookup_cancel(l->lookup);
	while (l->queue.first)
		outgoing_drop(&l->queue);
	node_links_remove(l);
	node_address_finish(&l->address);
	free(l->authorization);
	free(l);
}

/* The link has ended: free it. */
static void finish(struct node_link *l)
{
	const struct node_link_callbacks *callbacks = l->callbacks;
	const struct node_link_end end = l->end;
	void *user = l->user;
	drop_wsi(l);
	link_free(l);
	if (callbacks)
		callbacks->ended(user, &end);
}

static void set_end(struct node_link *l, unsigned code, const char *reason, size_t length)
{
	l->end.code = code;
	if (length > NODE_LINK_REASON_MAX)
		length = NODE_LINK_REASON_MAX;
	if (length > 0)
		memcpy(l->end.reason, reason, length);
	l->end.reason[length] = '\0';
}

void node_link_drop(struct node_link *l)
{
	drop_wsi(l);
	link_free(l);
}

/* An attempt has failed: try the next address, unless the node has got the request. */
static void attempt_failed(struct node_link *l)
{
	drop_wsi(l);
	l->dial_due = !l->asked && l->tried < l->ips.count;
	if (l->dial_due)
		node_links_want_turn(l->all);
	else
		finish(l);
}

/* Sending */

/* Write what waits, as far as libwebsockets has sent the frame before. */
static void flush(struct node_link *l)
{
	struct outgoing *o;
	if (!l->open || !l->wsi)
		return;
	while ((o = l->queue.first) && !lws_partial_buffered(l->wsi)) {
		int n = lws_write(l->wsi, o->bytes + LWS_PRE, o->length,
			o->binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
		if (n < (int)o->length) {
			/* CLIENT_CLOSED follows, and ends the link. */
			lws_set_timeout(l->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
			lws_cancel_service(l->all->context);
			return;
		}
		outgoing_drop(&l->queue);
	}
	if (l->queue.first || (!l->callbacks && lws_partial_buffered(l->wsi)))
		lws_callback_on_writable(l->wsi);
	else if (!l->callbacks)
		node_links_want_turn(l->all);
}

bool node_link_is_open(const struct node_link *l)
{
	return l->open;
}

int node_link_send(struct node_link *l, bool binary, const void *bytes, size_t length)
{
	if (outgoing_held(&l->queue) + length > NODE_LINK_QUEUE_MAX)
		return -ENOBUFS;
	if (binary && length == 0)
		return 0;
	if (!(binary ? outgoing_put_piece(&l->queue, bytes, length)
		     : outgoing_put(&l->queue, false, bytes, length)))
		return -ENOMEM;
	flush(l);
	return 0;
}

/* With a payload: libwebsockets does not report an empty pong. */
static void send_control(struct node_link *l, enum lws_write_protocol kind)
{
	uint8_t payload[LWS_PRE + 1] = {0};
	/* An error is ignored: the node stays silent, or reading fails. */
	if (!lws_partial_buffered(l->wsi))
		(void)lws_write(l->wsi, payload + LWS_PRE, 1, kind);
}

/* Closing */

void node_link_pause(struct node_link *l, bool paused)
{
	if (!l->wsi || !l->open || l->paused == paused)
		return;
	l->paused = paused;
	l->heard_ms = l->ponged_ms = node_link_now_ms(l);
	l->pinged_ms = 0;
	lws_rx_flow_control(l->wsi, paused ? 0 : 1);
	if (!paused) /* libwebsockets processes what it has buffered only after an event */
		lws_cancel_service(l->all->context);
}

void node_link_close(struct node_link *l, unsigned code, const char *reason)
{
	l->callbacks = NULL;
	l->closed_ms = node_link_now_ms(l);
	set_end(l, code, reason, strlen(reason));
	if (!l->open && !l->queue.first) {
		node_link_drop(l);
		return;
	}
	node_link_pause(l, false);
	flush(l);
}

/* All is sent: send the close frame. libwebsockets waits for the node's. */
static void say_goodbye(struct node_link *l)
{
	struct lws *wsi = l->wsi;
	l->wsi = NULL;
	lws_set_opaque_user_data(wsi, NULL);
	lws_close_reason(wsi, (enum lws_close_status)l->end.code, (unsigned char *)l->end.reason,
		strlen(l->end.reason));
	lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC);
	link_free(l);
}

/* What libwebsockets reports */

static int add_token(struct node_link *l, unsigned char **p, unsigned char *end)
{
	l->asked = true;
	return lws_add_http_header_by_name(l->wsi,
		(const unsigned char *)"authorization:", (const unsigned char *)l->authorization,
		(int)strlen(l->authorization), p, end);
}

static void opened(struct node_link *l)
{
	l->open = l->end.open = true;
	l->heard_ms = node_link_now_ms(l);
	tcp_limit_received(lws_get_socket_fd(l->wsi), (int)KERNEL_BYTES);
	lws_callback_on_writable(l->wsi);
}

static void receive(struct node_link *l, const void *bytes, size_t length)
{
	size_t pending = lws_remaining_packet_payload(l->wsi);
	bool binary = lws_frame_is_binary(l->wsi);
	bool last = lws_is_final_fragment(l->wsi) && pending == 0;
	l->heard_ms = node_link_now_ms(l);
	l->pinged_ms = 0;
	if (!l->callbacks)
		return;
	l->message_bytes += length;
	/* The frame's header tells its length, so an oversized one is refused before it has come. */
	if (!binary &&
		(pending > NODE_LINK_TEXT_MAX || l->message_bytes > NODE_LINK_TEXT_MAX ||
			l->message_bytes + pending > NODE_LINK_TEXT_MAX)) {
		static const char reason[] = "the session's node sent a message that is too big";
		set_end(l, CLOSE_INTERNAL, reason, sizeof reason - 1);
		finish(l);
		return;
	}
	if (last)
		l->message_bytes = 0;
	l->callbacks->piece(l->user, binary, bytes, length, last);
}

static void receive_close(struct node_link *l, const unsigned char *bytes, size_t length)
{
	if (length >= 2 && l->callbacks)
		set_end(l, (unsigned)bytes[0] << 8 | bytes[1], (const char *)bytes + 2, length - 2);
}

/* libwebsockets reports no answer: the connection failed, or the node has refused it. */
static void refused(struct node_link *l)
{
	l->end.status = l->asked ? lws_http_client_http_response(l->wsi) : 0;
	lws_set_opaque_user_data(l->wsi, NULL);
	l->wsi = NULL;
	l->failed = true;
	if (!l->starting)
		attempt_failed(l);
}

/*
 * libwebsockets takes what is in front of the first colon of an IPv6 address for the name in the certificate. Accept the
 * certificate if that is the only error, and it has the address.
 */
static void check_certificate(const struct node_link *l, X509_STORE_CTX *x509)
{
	if (X509_STORE_CTX_get_error(x509) == X509_V_ERR_HOSTNAME_MISMATCH &&
		strchr(l->address.host, ':') &&
		X509_check_ip_asc(X509_STORE_CTX_get0_cert(x509), l->address.host, 0) == 1)
		X509_STORE_CTX_set_error(x509, X509_V_OK);
}

static int on_link(struct node_link *l, enum lws_callback_reasons reason, void *in, size_t length)
{
	unsigned char **p = in;
	switch (reason) {
	case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
		return add_token(l, p, *p + length);
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		opened(l);
		return 0;
	case LWS_CALLBACK_CLIENT_RECEIVE:
		receive(l, in, length);
		return 0;
	case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
		l->heard_ms = node_link_now_ms(l);
		l->pinged_ms = 0;
		return 0;
	case LWS_CALLBACK_CLIENT_WRITEABLE:
		flush(l);
		return 0;
	case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
		receive_close(l, in, length);
		return 0;
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		refused(l);
		return 0;
	case LWS_CALLBACK_CLIENT_CLOSED:
		lws_set_opaque_user_data(l->wsi, NULL);
		l->wsi = NULL;
		finish(l);
		return 0;
	default:
		return 0;
	}
}

int node_link_event(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	struct node_link *l = wsi ? lws_get_opaque_user_data(wsi) : NULL;
	if (!l) /* freed: send no request and accept no answer any more */
		return reason == LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER ||
			reason == LWS_CALLBACK_CLIENT_ESTABLISHED;
	if (reason == LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION) {
		if (length == 0) /* OpenSSL has found an error */
			check_certificate(l, user);
		return 0;
	}
	l->wsi = wsi;
	return on_link(l, reason, in, length);
}

/* Connecting */

/* Off: on_tick() pings. libwebsockets would close a link that is paused. */
static const lws_retry_bo_t idle_policy = {
	.secs_since_valid_ping = 0xfffe, .secs_since_valid_hangup = 0xffff};

static void dial(struct node_link *l)
{
	const struct node_address *a = &l->address;
	struct lws_client_connect_info info = {
		.context = l->all->context,
		.address = l->ips.ip[l->tried++],
		.port = a->port,
		.ssl_connection = LCCSCF_HTTP_NO_FOLLOW_REDIRECT | (a->tls ? LCCSCF_USE_SSL : 0),
		.path = a->target,
		.host = a->authority,
		.local_protocol_name = NODE_LINK_PROTOCOL,
		.alpn = "http/1.1",
		.opaque_user_data = l,
		.retry_and_idle_policy = &idle_policy,
	};
	l->tried_ms = node_link_now_ms(l);
	l->failed = false;
	l->starting = true;
	struct lws *wsi = lws_client_connect_via_info(&info);
	l->starting = false;
	if (wsi && !l->failed) {
		l->wsi = wsi;
		return;
	}
	l->wsi = NULL; /* libwebsockets has freed it */
	attempt_failed(l);
}

static void on_looked_up(void *user, const struct node_ips *ips)
{
	struct node_link *l = user;
	l->lookup = NULL;
	l->ips = *ips;
	attempt_failed(l); /* tries the first one */
}

int node_link_open(
	struct node_links *all, const struct node_link_options *o, struct node_link **ret_link)
{
	struct node_link *l = calloc(1, sizeof *l);
	if (!l)
		return -ENOMEM;
	*l = (struct node_link){.all = all, .callbacks = o->callbacks, .user = o->user};
	int rc = strpbrk(o->token, "\r\n") ? -EINVAL
					   : node_address_read(o->url, o->target, &l->address);
	if (rc < 0)
		goto err_link;
	rc = -ENOMEM;
	if (asprintf(&l->authorization, "Bearer %s", o->token) < 0) {
		l->authorization = NULL;
		goto err_address;
	}
	l->begun_ms = uv_now(all->loop);
	if (node_ips_parse(l->address.host, &l->ips))
		l->dial_due = true;
	else if (!(l->lookup = node_lookup_begin(all->loop, l->address.host, on_looked_up, l)))
		goto err_address;
	node_links_add(l);
	if (l->dial_due)
		node_links_want_turn(all);
	*ret_link = l;
	return 0;
err_address:
	node_address_finish(&l->address);
	free(l->authorization);
err_link:
	free(l);
	return rc;
}

/* Time limits */

void node_link_turn(struct node_link *l)
{
	if (l->dial_due) {
		l->dial_due = false;
		dial(l);
	} else if (!l->callbacks && l->open && l->wsi && !l->queue.first &&
		!lws_partial_buffered(l->wsi)) {
		say_goodbye(l);
	}
}

/* Check a link that is not open. */
static void check_connecting(struct node_link *l, uint64_t now)
{
	unsigned shares = l->ips.count > 0 ? l->ips.count : 1;
	bool late = l->lookup ? now - l->begun_ms >= NODE_LINK_CONNECT_MS
		: l->asked    ? now - l->begun_ms >= NODE_LINK_ANSWER_MS
			      : now - l->tried_ms >= NODE_LINK_CONNECT_MS / shares;
	if (late && !l->dial_due)
		attempt_failed(l);
}

/* Check an open link, which the client may have paused. */
static void check_open(struct node_link *l, uint64_t now)
{
	if (l->paused) {
		/* A pong to a node that has ended would lose what it has sent before. */
		if (now - l->ponged_ms >= PONG_EVERY_MS &&
			!tcp_peer_has_ended(lws_get_socket_fd(l->wsi))) {
			l->ponged_ms = now;
			send_control(l, LWS_WRITE_PONG);
		}
	} else if (now - l->heard_ms >= NODE_LINK_LOST_MS) {
		finish(l);
	} else if (now - l->heard_ms >= NODE_LINK_PING_MS && l->pinged_ms == 0) {
		l->pinged_ms = now;
		send_control(l, LWS_WRITE_PING);
	}
}

void node_link_tick(struct node_link *l)
{
	uint64_t now = node_link_now_ms(l);
	if (!l->callbacks && now - l->closed_ms >= NODE_LINK_CLOSE_MS)
		node_link_drop(l);
	else if (!l->open)
		check_connecting(l, now);
	else if (l->wsi)
		check_open(l, now);
}

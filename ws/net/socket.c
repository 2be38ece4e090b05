/*
 * WebSockets of libwebsockets: the transport of ws/socket and ws/rpc.
 *
 * A frame is written at once if the last one has left libwebsockets completely; that is several times faster than to wait for a
 * callback for each.
 *
 * A peer is dead if it does not answer a ping while idle, or if it has not acknowledged a byte for minutes while there is
 * something to send. A peer that merely does not read is alive: its kernel acknowledges window probes.
 */
#include "shell/clock.h"
#include "ws/log.h"
#include "ws/net/relay.h"
#include "ws/net/socket_text.h"
#include "ws/net/tcp.h"
#include "ws/net/upgrade.h"
#include "ws/socket/mux_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define PONG_WITHIN_MS 5000u /* in addition to the ping interval */
#define CLOSE_WITHIN_MS 5000u
#define TEXT_KEPT ((size_t)4 << 10) /* bytes of a text buffer that is kept between messages */

_Static_assert(LWS_PRE + MUX_HEAD <= FRAMES_HEADROOM,
	"libwebsockets puts its headers in front of the payload");

struct socket {
	struct socket *prev, *next;
	struct server *server;
	struct lws *wsi;
	const struct frames_protocol *protocol;
	void *self;                    /* of protocol */
	const struct upgrade *upgrade; /* what it was admitted as; freed later */
	bool wanted;                   /* a writable callback is requested */
	enum close_code close_code;    /* 0 = open */
	char close_reason[64];
	uint64_t closing_ms; /* loop time */
	uint64_t heard_ms;   /* loop time when something was last received */
	uint64_t pinged_ms;  /* loop time of an unanswered ping; 0 = none */
	bool ping_due;
	size_t message_length;           /* bytes of the current message so far */
	struct socket_text text;         /* its bytes, if it is a text */
	struct socket_text_job *parsing; /* a thread parses a text, and receiving is paused; NULL = none */
};

static uint64_t ping_interval(const struct server *s)
{
	return (uint64_t)s->options.ping_interval_s * 1000;
}

static void ask_writable(struct socket *k)
{
	if (k->wanted)
		return;
	k->wanted = true;
	lws_callback_on_writable(k->wsi);
}

static size_t frame_room(void *user)
{
	struct socket *k = user;
	if (k->close_code)
		return 0;
	if (!lws_partial_buffered(k->wsi))
		return FRAMES_PAYLOAD_MAX;
	ask_writable(k);
	return 0;
}

static size_t queued(void *user)
{
	struct socket *k = user;
	const struct relay *tunnel = k->upgrade->tunnel;
	if (lws_partial_buffered(k->wsi))
		return FRAMES_PAYLOAD_MAX;
	return tcp_unsent(lws_get_socket_fd(k->wsi)) + (tunnel ? relay_unsent(tunnel) : 0);
}

/*
 * Close sockets that have a close code. Not from libwebsockets' callbacks: with Debian's build, returning -1 from one
 * closes the connection twice, the second time without the close frame.
 */
static void on_closer(uv_timer_t *timer)
{
	struct server *s = timer->data;
	struct socket *k, *next;
	DL_FOREACH_SAFE (s->sockets, k, next) {
		if (!k->close_code || lws_partial_buffered(k->wsi))
			continue;
		lws_close_reason(k->wsi, (enum lws_close_status)k->close_code,
			(unsigned char *)k->close_reason, strlen(k->close_reason));
		lws_set_timeout(k->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC);
	}
}

static void begin_close(void *user, enum close_code code, const char *reason)
{
	struct socket *k = user;
	if (k->close_code)
		return;
	k->close_code = code;
	k->closing_ms = server_now_ms(k->server);
	snprintf(k->close_reason, sizeof k->close_reason, "%s", reason);
	uv_timer_start(&k->server->closer, on_closer, 0, 0);
}

static bool send_frame(void *user, uint8_t *payload, size_t length, enum frame_kind kind)
{
	static const int kinds[] = {
		[FRAME_TEXT] = LWS_WRITE_TEXT,
		[FRAME_BINARY] = LWS_WRITE_BINARY,
		[FRAME_TEXT_PART] = LWS_WRITE_TEXT | LWS_WRITE_NO_FIN,
		[FRAME_CONTINUATION_PART] = LWS_WRITE_CONTINUATION | LWS_WRITE_NO_FIN,
		[FRAME_CONTINUATION] = LWS_WRITE_CONTINUATION,
	};
	struct socket *k = user;
	if (lws_write(k->wsi, payload, length, (enum lws_write_protocol)kinds[kind]) >= (int)length)
		return true;
	begin_close(k, CLOSE_INTERNAL, "connection lost");
	return false;
}

static void want(void *user)
{
	ask_writable(user);
}

static const struct frames_transport frames_transport = {
	.room = frame_room, .queued = queued, .send = send_frame, .want = want, .close = begin_close};

static void *open_elsewhere(struct server *s, const struct upgrade *u, struct socket *k)
{
	const struct terminal_elsewhere *e = s->options.terminals->elsewhere;
	const struct terminal_opening opening = {.query = &u->query,
		.params = u->params,
		.params_count = u->params_count,
		.principal = &u->principal,
		.peer = u->peer,
		.transport = &frames_transport,
		.transport_user = k};
	k->protocol = e->protocol;
	return e->open(e->user, &opening);
}

/* Set k->protocol and open it. Returns NULL when memory is short. */
static void *open_protocol(struct server *s, const struct upgrade *u, struct socket *k)
{
	switch (u->kind) {
	case UPGRADE_CONTROL:
		k->protocol = &control_socket_protocol;
		return control_socket_open(
			s->options.controls, &u->principal, u->peer, &frames_transport, k);
	case UPGRADE_MUX:
		k->protocol = &mux_socket_protocol;
		return mux_socket_open(&(struct mux_sockets){.terminals = s->options.terminals,
					       .controls = s->options.controls,
					       .metrics = s->options.metrics},
			&u->principal, u->peer, &frames_transport, k);
	case UPGRADE_RPC:
		k->protocol = &rpc_socket_protocol;
		return rpc_socket_open(
			s->options.rpcs, &u->principal, u->peer, &frames_transport, k);
	default:
		if (u->elsewhere)
			return open_elsewhere(s, u, k);
		k->protocol = &terminal_protocol;
		s->options.metrics->clients++;
		return terminal_open(
			s->options.terminals, &u->query, &u->principal, &frames_transport, k);
	}
}

int socket_open(struct server *s, struct lws *wsi, struct socket_slot *c, const struct upgrade *u)
{
	struct socket *k = calloc(1, sizeof *k);
	if (!k)
		return -1;
	k->server = s;
	k->wsi = wsi;
	k->upgrade = u;
	k->heard_ms = server_now_ms(s);
	c->socket = k;
	DL_APPEND(s->sockets, k);
	s->options.metrics->websockets_opened++;
	k->text = (struct socket_text){.server = s, .principal = &u->principal};
	k->self = open_protocol(s, u, k);
	return k->self ? 0 : -1;
}

/* A thread has parsed a long text. */
static void on_parsed(void *user, void *sense, const char *text, size_t length)
{
	struct socket *k = user;
	k->parsing = NULL;
	if (k->close_code)
		k->protocol->forget(sense);
	else
		k->protocol->take(k->self, sense, text, length);
	lws_rx_flow_control(k->wsi, k->server->held ? 0 : 1);
	/* libwebsockets processes what it has buffered only after an event. */
	lws_cancel_service(lws_get_context(k->wsi));
}

/* Parse a complete text on a thread if it is long. Returns false if that is not possible. */
static bool parse_on_thread(struct socket *k)
{
	if (!k->protocol->read || k->message_length <= FRAMES_LOOP_PARSE_MAX ||
		k->message_length > k->protocol->text_max)
		return false;
	k->parsing = socket_text_job_start(&k->text, k->message_length, k->protocol, on_parsed, k);
	if (k->parsing)
		lws_rx_flow_control(k->wsi, 0);
	return k->parsing;
}

static void receive_text(struct socket *k, size_t at, const void *bytes, size_t length, bool last)
{
	const char *problem = socket_text_append(&k->text, k->protocol->text_max, at, bytes, length);
	if (problem) {
		socket_text_drop(&k->text);
		begin_close(k, CLOSE_INTERNAL, problem);
		return;
	}
	if (!last || parse_on_thread(k))
		return;
	bool kept = k->message_length <= k->protocol->text_max;
	k->protocol->text(k->self,
		k->message_length == 0 ? ""
			: kept         ? k->text.bytes
				       : NULL,
		k->message_length);
	if (k->text.size > TEXT_KEPT)
		socket_text_drop(&k->text);
}

int socket_receive(
	struct server *s, struct lws *wsi, struct socket_slot *c, const void *bytes, size_t length)
{
	struct socket *k = c->socket;
	if (!k || !k->self)
		return 0;
	k->heard_ms = server_now_ms(s);
	if (lws_is_first_fragment(wsi))
		k->message_length = 0;
	bool binary = lws_frame_is_binary(wsi);
	size_t pending = lws_remaining_packet_payload(wsi);
	size_t before = k->message_length;
	k->message_length += length;
	if (k->close_code)
		return 0;
	/* The frame's header tells its length, so an oversized frame is refused before it has come. */
	if (k->message_length + pending > k->protocol->message_max) {
		s->options.metrics->frames_oversized++;
		k->protocol->too_big(k->self);
	} else if (binary && k->protocol->binary) {
		k->protocol->binary(k->self, bytes, length);
	} else {
		receive_text(k, before, bytes, length, lws_is_final_fragment(wsi) && pending == 0);
	}
	return 0;
}

/* With a payload: libwebsockets does not report an empty pong. */
static void send_ping(struct socket *k)
{
	uint8_t payload[LWS_PRE + 1] = {0};
	k->ping_due = false;
	/* An error is ignored: the ping stays unanswered. */
	lws_write(k->wsi, payload + LWS_PRE, sizeof payload - LWS_PRE, LWS_WRITE_PING);
}

int socket_writable(struct socket_slot *c)
{
	struct socket *k = c->socket;
	if (!k)
		return 0;
	k->wanted = false;
	if (lws_partial_buffered(k->wsi)) {
		ask_writable(k);
		return 0;
	}
	if (k->close_code) {
		uv_timer_start(&k->server->closer, on_closer, 0, 0);
		return 0;
	}
	if (k->ping_due)
		send_ping(k);
	k->protocol->writable(k->self);
	return 0;
}

void socket_pong(struct socket_slot *c)
{
	struct socket *k = c->socket;
	if (!k)
		return;
	k->heard_ms = server_now_ms(k->server);
	k->pinged_ms = 0;
}

void socket_free(struct server *s, struct socket_slot *c)
{
	struct socket *k = c->socket;
	if (!k)
		return;
	c->socket = NULL;
	k->close_code = CLOSE_NORMAL;
	DL_DELETE(s->sockets, k);
	if (k->protocol == &terminal_protocol)
		s->options.metrics->clients--;
	if (k->self)
		k->protocol->closed(k->self);
	socket_text_job_abandon(k->parsing);
	socket_text_drop(&k->text);
	free(k);
}

/* Whether data is buffered, behind which a ping would wait. */
static bool has_backlog(const struct socket *k)
{
	const struct relay *tunnel = k->upgrade->tunnel;
	return lws_partial_buffered(k->wsi) || (tunnel && tunnel->down_rest.bytes);
}

static bool is_dead(const struct socket *k, uint64_t now)
{
	const struct relay *tunnel = k->upgrade->tunnel;
	int fd = tunnel ? tunnel->conn->fd : lws_get_socket_fd(k->wsi);
	if (has_backlog(k))
		return tcp_is_dead(fd);
	return k->pinged_ms > 0 && now - k->pinged_ms > ping_interval(k->server) + PONG_WITHIN_MS;
}

/* Close the connection in the next turn of the loop, even if data is buffered. */
static void kill_socket(struct socket *k)
{
	k->close_code = CLOSE_INTERNAL;
	/* LWS_TO_KILL_SYNC would wait for buffered data to be sent, perhaps for ever. */
	lws_set_timeout(k->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
	/* libwebsockets checks its timers only after an event. */
	lws_cancel_service(lws_get_context(k->wsi));
}

/* Close sockets after their link or login has ended, by revocation or because newer logins have replaced it. */
static void close_revoked(struct server *s)
{
	struct socket *k, *next;
	const struct auth *a = s->options.auth;
	if (s->revoked == auth_revoked(a))
		return;
	s->revoked = auth_revoked(a);
	DL_FOREACH_SAFE (s->sockets, k, next)
		if (!auth_is_current(a, &k->upgrade->principal, clock_wall_ms()))
			begin_close(k, CLOSE_ACCESS_ENDED, "access ended");
}

void socket_sweep(struct server *s)
{
	struct socket *k, *next;
	uint64_t now = server_now_ms(s);
	close_revoked(s);
	terminals_sweep(s->options.terminals);
	control_sockets_sweep(s->options.controls, server_keepalive_s(s));
	rpc_sockets_sweep(s->options.rpcs, server_keepalive_s(s));
	DL_FOREACH_SAFE (s->sockets, k, next) {
		uint64_t expires_ms = k->upgrade->principal.expires_ms;
		if (expires_ms > 0 && expires_ms <= clock_wall_ms())
			begin_close(k, CLOSE_ACCESS_ENDED, "access expired");
		if (k->close_code) {
			if (now - k->closing_ms > CLOSE_WITHIN_MS)
				kill_socket(k);
		} else if (is_dead(k, now)) {
			s->options.metrics->websocket_timeouts++;
			k->closing_ms = now;
			kill_socket(k);
		} else if (has_backlog(k)) {
			k->pinged_ms = 0; /* acknowledgements of the data show more than a pong */
		} else if (k->pinged_ms == 0 && now - k->heard_ms > ping_interval(s)) {
			k->pinged_ms = now;
			k->ping_due = true;
			ask_writable(k);
		}
	}
}

void socket_hold_all(struct server *s, bool held)
{
	struct socket *k;
	DL_FOREACH (s->sockets, k)
		if (!k->parsing)
			lws_rx_flow_control(k->wsi, held ? 0 : 1);
	if (!held) /* libwebsockets processes what it has buffered only after an event */
		lws_cancel_service(s->context);
}

void socket_close_all(struct server *s)
{
	struct socket *k;
	DL_FOREACH (s->sockets, k)
		begin_close(k, CLOSE_GOING_AWAY, "server going away");
}

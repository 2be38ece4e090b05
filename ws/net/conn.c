/*
 * Connections; see conn.h. There may be thousands, so they have an epoll instance of their own, which is one descriptor to
 * the loop.
 *
 * A dropped connection is freed in the next turn, because other events of this turn may point to it.
 */
#include "ws/net/conn.h"

#include "ws/log.h"
#include "ws/net/exchange.h"
#include "ws/net/http1.h"
#include "ws/net/relay.h"
#include "ws/net/tcp.h"
#include "ws/net/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#define EVENTS_MAX 64
#define LINGER_MS 2000u        /* longest silence of the peer in CONN_LINGER */
#define LINGER_ALL_MS 10000u   /* longest time in CONN_LINGER */
#define LINGER_MAX DISCARD_MAX /* bytes that are discarded in CONN_LINGER */
#define HALF_CLOSED_PROBE_S 15
#define BUSY_MAX 16u         /* connections that are answered with 503; more are closed at once */
#define BUSY_WITHIN_MS 2000u /* time for the head of such a connection's request */

struct conns {
	struct server *server;
	struct conn *all, *over; /* lists */
	struct conn *woken;      /* list, by woken_next: see conn_wake() */
	int epoll_fd;
	uv_poll_t poll;
	uv_idle_t idle;
};

unsigned conns_count(const struct server *s)
{
	return (unsigned)s->options.metrics->http1_connections - s->tunnels - s->busy;
}

uint64_t conn_head_within_ms(const struct conn *c)
{
	return c->busy ? BUSY_WITHIN_MS : (uint64_t)c->server->options.header_timeout_s * 1000;
}

void conn_watch(struct conn *c, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = c};
	int epoll_fd = c->server->conns->epoll_fd;
	if (c->watched == events && c->polled)
		return;
	if (epoll_ctl(epoll_fd, c->polled ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, c->fd, &event) < 0) {
		conn_drop(c);
		return;
	}
	c->polled = true;
	c->watched = events;
}

void conn_unwatch(struct conn *c)
{
	if (c->polled)
		epoll_ctl(c->server->conns->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
	c->polled = false;
}

static void on_idle(uv_idle_t *idle);

void conn_wake(struct conn *c)
{
	struct conns *t = c->server->conns;
	if (c->woken || c->state == CONN_OVER)
		return;
	c->woken = true;
	DL_APPEND2(t->woken, c, woken_prev, woken_next);
	uv_idle_start(&t->idle, on_idle);
}

static void forget_wake(struct conn *c)
{
	if (c->woken)
		DL_DELETE2(c->server->conns->woken, c, woken_prev, woken_next);
	c->woken = false;
}

/* c no longer counts as unauthenticated. */
static void end_unauthenticated(struct conn *c)
{
	peers_leave(&c->server->peers, c->unauthenticated);
	c->unauthenticated = NULL;
}

bool conn_set_principal(struct conn *c, const struct principal *p)
{
	end_unauthenticated(c);
	if (quota_is_of(&c->place, p))
		return true;
	quota_release(&c->place);
	return server_acquire_quota(c->server, QUOTA_CONNECTIONS, 1, p, &c->place);
}

void conn_retire(struct conn *c)
{
	end_unauthenticated(c);
	quota_release(&c->place);
	struct conns *t = c->server->conns;
	struct metrics *m = c->server->options.metrics;
	forget_wake(c);
	if (c->exchange)
		exchange_free(c->exchange);
	c->exchange = NULL;
	relay_detach(c);
	SSL_free(c->ssl);
	c->ssl = NULL;
	m->http1_connections--;
	c->server->busy -= c->busy;
	m->connections_silent -= c->state == CONN_SILENT || c->state == CONN_HANDSHAKE;
	c->state = CONN_OVER;
	DL_DELETE(t->all, c);
	DL_APPEND(t->over, c);
}

void conn_drop(struct conn *c)
{
	if (c->state == CONN_OVER)
		return;
	conn_unwatch(c);
	if (!c->served)
		c->server->options.metrics->header_timeouts++;
	conn_retire(c);
	close(c->fd);
	c->fd = -1;
}

static void free_over(struct conns *t)
{
	struct conn *c, *next;
	DL_FOREACH_SAFE (t->over, c, next) {
		DL_DELETE(t->over, c);
		free(c->in);
		free(c->out);
		free(c);
	}
}

void conn_set_state(struct conn *c, enum conn_state state, uint64_t limit_ms)
{
	struct metrics *m = c->server->options.metrics;
	bool was_silent = c->state == CONN_SILENT || c->state == CONN_HANDSHAKE;
	bool is_silent = state == CONN_SILENT || state == CONN_HANDSHAKE;
	m->connections_silent += is_silent;
	m->connections_silent -= was_silent;
	c->state = state;
	c->limit_ms = limit_ms;
	c->since_ms = server_now_ms(c->server);
}

void conn_shutdown(struct conn *c)
{
	if (c->ssl) {
		ERR_clear_error();
		SSL_shutdown(c->ssl);
	}
	shutdown(c->fd, SHUT_WR);
}

void conn_linger(struct conn *c)
{
	conn_shutdown(c);
	conn_set_state(c, CONN_LINGER, LINGER_MS);
	c->linger_since_ms = c->since_ms;
	if (c->peer_shut_down)
		conn_drop(c);
	else
		conn_watch(c, EPOLLIN);
}

/* Read and discard some input. Returns false at its end, or on an error. */
static bool discard_input(struct conn *c)
{
	for (int i = 0; i < 4; i++) {
		/* Raw bytes, also of TLS: nothing is decrypted any more. */
		ssize_t n = recv(c->fd, c->server->scratch, 64 << 10, 0);
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		c->discarded += (size_t)n;
	}
	return true;
}

/*
 * Discard input until its end. Closing earlier would send RST, and the peer could lose the answer. Any input extends the
 * limit of CONN_LINGER, but not LINGER_ALL_MS.
 */
static void on_linger_event(struct conn *c)
{
	bool open = discard_input(c);
	uint64_t now_ms = server_now_ms(c->server);
	if (!open || c->discarded > LINGER_MAX || now_ms - c->linger_since_ms > LINGER_ALL_MS)
		conn_drop(c);
	else
		c->since_ms = now_ms;
}

static bool is_tls(const struct conn *c)
{
	return !c->arrival.unix_socket && c->server->options.tls_cert;
}

/*
 * The peer has shut down its sending side: it has closed the socket, or waits for its answer (nc -N). TCP does not
 * tell which, but a closed socket answers with RST when something is sent. If there is nothing to send, keepalive
 * probes do that: the peer's kernel forgets a closed connection after a minute. A unix socket reports EPOLLHUP.
 */
static void on_half_closed(struct conn *c)
{
	c->peer_shut_down = true;
	conn_watch(c, 0);
	if (c->state == CONN_OVER || c->arrival.unix_socket)
		return;
	tcp_probe_every(c->fd, HALF_CLOSED_PROBE_S);
	http1_probe(c);
}

static void on_event(struct conn *c, uint32_t events)
{
	switch (c->state) {
	case CONN_SILENT:
		if (c->server->held) {
			conn_unwatch(c);
			return;
		}
		c->clear = is_tls(c) && tls_is_clear(c);
		if (is_tls(c) && !c->clear)
			tls_begin(c);
		else
			http1_begin(c);
		return;
	case CONN_HANDSHAKE:
		tls_turn(c);
		return;
	case CONN_HEAD:
	case CONN_BODY:
		http1_readable(c);
		return;
	case CONN_ANSWER:
		/* EPOLLRDHUP alone: the peer may still read the answer. */
		if (events & (EPOLLHUP | EPOLLERR))
			conn_drop(c);
		else if (c->watched & events & EPOLLRDHUP)
			on_half_closed(c);
		else
			http1_turn(c);
		return;
	case CONN_RELAY:
		relay_on_conn(c, events);
		return;
	case CONN_LINGER:
		on_linger_event(c);
		return;
	case CONN_OVER:
		return;
	}
}

static void on_poll(uv_poll_t *poll, int status, int uv_events)
{
	struct conns *t = poll->data;
	struct epoll_event events[EVENTS_MAX];
	(void)status;
	(void)uv_events;
	free_over(t);
	int count = epoll_wait(t->epoll_fd, events, EVENTS_MAX, 0);
	for (int i = 0; i < count; i++)
		on_event(events[i].data.ptr, events[i].events);
}

/* Call each connection that is woken now once. It may be woken again meanwhile, for the next turn. */
static void on_idle(uv_idle_t *idle)
{
	struct conns *t = idle->data;
	struct conn *c;
	size_t count;
	DL_COUNT2(t->woken, c, count, woken_next);
	for (; count > 0 && t->woken; count--) {
		c = t->woken;
		forget_wake(c);
		http1_turn(c);
	}
	free_over(t);
	if (!t->woken)
		uv_idle_stop(idle);
}

/* Count the connection for its address. Returns false if it must be closed. */
static bool enter(struct conn *c, bool full)
{
	struct server *s = c->server;
	if (!full && peers_enter(&s->peers, c->peer, &c->unauthenticated))
		return true;
	s->options.metrics->strangers_refused += !full;
	if (s->busy >= BUSY_MAX)
		return false;
	c->busy = true;
	s->busy++;
	return true;
}

/* Create a connection without a state. Returns NULL if memory is short or the peer has reset it. */
static struct conn *create_conn(struct server *s, const struct arrival *arrival, int fd)
{
	struct conn *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->server = s;
	c->arrival = *arrival;
	c->fd = fd;
	c->state = CONN_OVER; /* so that conn_set_state() counts it as silent then */
	if (tcp_peer_address(arrival->unix_socket, fd, c->peer))
		return c;
	free(c);
	return NULL;
}

/* Put it among the connections of its server. */
static void add_conn(struct conn *c)
{
	DL_APPEND(c->server->conns->all, c);
	c->server->options.metrics->http1_connections++;
}

void conn_accept(
	struct server *s, const struct listener *from, enum conn_trust by, bool full, int fd)
{
	const struct arrival arrival = {.unix_socket = from->unix_socket, .by = by};
	struct conn *c = create_conn(s, &arrival, fd);
	if (!c || !enter(c, full)) {
		free(c);
		close(fd);
		return;
	}
	add_conn(c);
	conn_set_state(c, CONN_SILENT, conn_head_within_ms(c));
	conn_watch(c, EPOLLIN);
}

struct conn *conn_restore(
	struct server *s, const struct arrival *arrival, bool authenticated, int fd)
{
	struct conn *c = create_conn(s, arrival, fd);
	if (!c)
		return NULL;
	/* One that is beyond the limit now was within it before. */
	if (!authenticated)
		(void)peers_enter(&s->peers, c->peer, &c->unauthenticated);
	add_conn(c);
	return c;
}

void conn_continue(struct conn *c, enum conn_state state)
{
	if (state == CONN_LINGER) {
		conn_set_state(c, CONN_LINGER, LINGER_MS);
		c->linger_since_ms = c->since_ms;
		conn_watch(c, EPOLLIN);
	} else if (state == CONN_SILENT) {
		conn_set_state(c, CONN_SILENT, conn_head_within_ms(c));
		conn_watch(c, EPOLLIN);
	} else {
		http1_next(c);
	}
}

struct conn *conns_first(const struct server *s)
{
	return s->conns->all;
}

void conns_resume(struct server *s)
{
	struct conn *c, *next;
	DL_FOREACH_SAFE (s->conns->all, c, next)
		if (c->state == CONN_SILENT)
			conn_watch(c, EPOLLIN);
		else if (c->state == CONN_HEAD || c->state == CONN_BODY)
			conn_wake(c);
}

/* Whether c has exceeded the time limit of its state. */
static bool is_late(const struct conn *c, uint64_t now_ms)
{
	const struct exchange *x = c->exchange;
	if (c->limit_ms == 0 || c->state == CONN_BODY || (x && x->state == EXCHANGE_DOWNLOADING))
		return false; /* stream_sweep() checks bodies and downloads */
	if (c->state == CONN_ANSWER && x)
		return (x->state == EXCHANGE_ANSWERED || x->state == EXCHANGE_OVER) &&
			now_ms - x->since_ms > c->limit_ms &&
			bodies_is_slow(now_ms - x->since_ms, c->limit_ms, x->sent_total);
	return now_ms - c->since_ms > c->limit_ms;
}

void conns_sweep(struct server *s)
{
	struct conn *c, *next;
	uint64_t now_ms = server_now_ms(s);
	DL_FOREACH_SAFE (s->conns->all, c, next)
		if (c->state == CONN_RELAY)
			relay_check_timeouts(c, now_ms);
		else if (is_late(c, now_ms) && c->state == CONN_HEAD)
			http1_refuse_late(c);
		else if (is_late(c, now_ms))
			conn_drop(c);
}

int conns_open(struct server *s)
{
	struct conns *t = calloc(1, sizeof *t);
	if (!t)
		return -ENOMEM;
	t->server = s;
	t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll_fd < 0) {
		int rc = -errno;
		log_write(LOG_ERROR, "server", "cannot watch connections", "error", strerror(-rc),
			NULL);
		free(t);
		return rc;
	}
	t->poll.data = t->idle.data = t;
	uv_poll_init(s->options.loop, &t->poll, t->epoll_fd);
	uv_idle_init(s->options.loop, &t->idle);
	uv_poll_start(&t->poll, UV_READABLE, on_poll);
	s->conns = t;
	return 0;
}

void conns_close(struct server *s)
{
	struct conns *t = s->conns;
	struct conn *c, *next;
	DL_FOREACH_SAFE (t->all, c, next)
		conn_drop(c);
	uv_close((uv_handle_t *)&t->poll, NULL);
	uv_close((uv_handle_t *)&t->idle, NULL);
	close(t->epoll_fd);
	t->epoll_fd = -1;
}

void conns_free(struct server *s)
{
	free_over(s->conns);
	free(s->conns);
}

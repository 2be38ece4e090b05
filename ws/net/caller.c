/*
 * Connections from their first byte on; see caller.h. They are watched by an epoll instance of their own,
 * which is one descriptor to the loop: there may be thousands.
 *
 * Who is dropped lives until the next turn: the events of one turn may name it.
 */
#include "ws/net/caller.h"

#include "ws/log.h"
#include "ws/net/exchange.h"
#include "ws/net/relay.h"
#include "ws/net/tls.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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
#define LINGER_MS 2000u        /* of silence */
#define LINGER_ALL_MS 10000u   /* however much comes */
#define LINGER_MAX DISCARD_MAX /* bytes read from who goes on sending */
#define HALF_CLOSED_ASK_S 15
#define IN_SIZE_MIN ((size_t)1024)

struct callers {
	struct server *server;
	struct caller *all, *over; /* lists */
	struct caller *ready;      /* list, by ready_next */
	int epoll_fd;
	uv_poll_t poll;
	uv_idle_t idle;
};

unsigned callers_count(const struct server *s)
{
	return (unsigned)s->options.metrics->callers - s->tunnels;
}

void caller_watch(struct caller *c, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = c};
	int epoll_fd = c->server->callers->epoll_fd;
	if (c->watched == events && c->polled)
		return;
	if (epoll_ctl(epoll_fd, c->polled ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, c->fd, &event) < 0) {
		caller_drop(c);
		return;
	}
	c->polled = true;
	c->watched = events;
}

void caller_unwatch(struct caller *c)
{
	if (c->polled)
		epoll_ctl(c->server->callers->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
	c->polled = false;
}

static void on_idle(uv_idle_t *idle);

void caller_wake(struct caller *c)
{
	struct callers *t = c->server->callers;
	if (c->ready || c->state == CALLER_OVER)
		return;
	c->ready = true;
	DL_APPEND2(t->ready, c, ready_prev, ready_next);
	uv_idle_start(&t->idle, on_idle);
}

static void unready(struct caller *c)
{
	if (c->ready)
		DL_DELETE2(c->server->callers->ready, c, ready_prev, ready_next);
	c->ready = false;
}

static void leave_strangers(struct caller *c)
{
	peers_leave(&c->server->peers, c->stranger);
	c->stranger = NULL;
}

bool caller_known(struct caller *c, const struct principal *p)
{
	leave_strangers(c);
	if (quota_is_of(&c->place, p))
		return true;
	quota_give(&c->place);
	return server_has_place(c->server, QUOTA_CONNECTIONS, p, &c->place);
}

/* It is nobody's connection any more: forget it. */
void caller_retire(struct caller *c)
{
	leave_strangers(c);
	quota_give(&c->place);
	struct callers *t = c->server->callers;
	struct metrics *m = c->server->options.metrics;
	unready(c);
	if (c->exchange)
		exchange_free(c->exchange);
	c->exchange = NULL;
	relay_gone(c);
	SSL_free(c->ssl);
	c->ssl = NULL;
	m->callers--;
	m->callers_silent -= c->state == CALLER_SILENT || c->state == CALLER_HANDSHAKE;
	c->state = CALLER_OVER;
	DL_DELETE(t->all, c);
	DL_APPEND(t->over, c);
}

void caller_drop(struct caller *c)
{
	if (c->state == CALLER_OVER)
		return;
	caller_unwatch(c);
	if (!c->served)
		c->server->options.metrics->header_timeouts++;
	caller_retire(c);
	close(c->fd);
	c->fd = -1;
}

static void bury(struct callers *t)
{
	struct caller *c, *next;
	DL_FOREACH_SAFE (t->over, c, next) {
		DL_DELETE(t->over, c);
		free(c->in);
		free(c->out);
		free(c);
	}
}

void caller_move(struct caller *c, enum caller_state state, uint64_t limit_ms)
{
	struct metrics *m = c->server->options.metrics;
	bool was_silent = c->state == CALLER_SILENT || c->state == CALLER_HANDSHAKE;
	bool is_silent = state == CALLER_SILENT || state == CALLER_HANDSHAKE;
	m->callers_silent += is_silent;
	m->callers_silent -= was_silent;
	c->state = state;
	c->limit_ms = limit_ms;
	c->since_ms = server_now_ms(c->server);
}

/* What OpenSSL says of a number of bytes that is none. */
static long tls_result(struct caller *c, int n)
{
	switch (SSL_get_error(c->ssl, n)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		return -ENOTCONN;
	default:
		return -ECONNRESET;
	}
}

long caller_read(struct caller *c, void *bytes, size_t size)
{
	if (c->ssl) {
		ERR_clear_error();
		int n = SSL_read(c->ssl, bytes, (int)size);
		return n > 0 ? n : tls_result(c, n);
	}
	ssize_t n = recv(c->fd, bytes, size, 0);
	if (n > 0)
		return n;
	return n == 0 ? -ENOTCONN : errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

long caller_write(struct caller *c, const void *bytes, size_t length)
{
	if (c->ssl) {
		ERR_clear_error();
		int n = SSL_write(c->ssl, bytes, (int)length);
		return n > 0 ? n : tls_result(c, n);
	}
	ssize_t n = send(c->fd, bytes, length, MSG_NOSIGNAL);
	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

/* Make c->in larger. */
static int grow(struct caller *c)
{
	size_t size = c->in_size ? c->in_size * 2 : IN_SIZE_MIN;
	char *in = realloc(c->in, size + 1);
	if (!in)
		return -ENOMEM;
	c->in = in;
	c->in_size = size;
	return 0;
}

/* Make room behind what is in c->in: as much as there may be. */
static long make_room(struct caller *c)
{
	if (c->in_length == HTTP_HEAD_MAX)
		return -ENOBUFS;
	return c->in_length < c->in_size ? 0 : grow(c);
}

long caller_fill(struct caller *c)
{
	long n = make_room(c);
	if (n == 0)
		n = caller_read(c, c->in + c->in_length, c->in_size - c->in_length);
	if (n > 0)
		c->in_length += (size_t)n;
	return n;
}

void caller_consume(struct caller *c, size_t length)
{
	c->in_length -= length;
	if (c->in_length > 0) {
		memmove(c->in, c->in + length, c->in_length);
		return;
	}
	free(c->in);
	c->in = NULL;
	c->in_size = 0;
}

int caller_unread(struct caller *c, const char *bytes, size_t length)
{
	if (length == 0)
		return 0;
	assert(c->in_length == 0 && length <= HTTP_HEAD_MAX);
	while (c->in_size < length)
		if (grow(c) < 0)
			return -ENOMEM;
	memcpy(c->in, bytes, length);
	c->in_length = length;
	return 0;
}

void caller_shut(struct caller *c)
{
	if (c->ssl) {
		ERR_clear_error();
		SSL_shutdown(c->ssl);
	}
	shutdown(c->fd, SHUT_WR);
}

void caller_linger(struct caller *c)
{
	caller_shut(c);
	caller_move(c, CALLER_LINGER, LINGER_MS);
	c->lingers_ms = c->since_ms;
	if (c->at_end)
		caller_drop(c);
	else
		caller_watch(c, EPOLLIN);
}

/* Read what nobody wants, until its end: a close before would take back what has been sent. */
static void drain(struct caller *c)
{
	char *scratch = (char *)c->server->scratch;
	long n = 1;
	for (int i = 0; i < 4 && n > 0; i++) {
		/* The bytes themselves: TLS ends with its own end at the latest. */
		ssize_t got = recv(c->fd, scratch, 64 << 10, 0);
		n = got > 0 ? got : got == 0 || errno != EAGAIN ? -1 : 0;
		c->drained += n > 0 ? (size_t)n : 0;
	}
	uint64_t now_ms = server_now_ms(c->server);
	if (n < 0 || c->drained > LINGER_MAX || now_ms - c->lingers_ms > LINGER_ALL_MS)
		caller_drop(c);
	else
		c->since_ms = now_ms;
}

static bool is_tls(const struct caller *c)
{
	return !c->arrival.unix_socket && c->server->options.tls_cert;
}

/*
 * The peer sends no more: it has gone, or waits for its answer only (nc -N). TCP does not tell which, but
 * who has gone resets the connection when something is sent. Where nothing can be, the system asks: a
 * minute after its end the peer's has forgotten it. A unix socket hangs up with the peer.
 */
static void half_closed(struct caller *c)
{
	int seconds = HALF_CLOSED_ASK_S;
	c->at_end = true;
	caller_watch(c, 0);
	if (c->state == CALLER_OVER || c->arrival.unix_socket)
		return;
	setsockopt(c->fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
	setsockopt(c->fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
	http1_probe(c);
}

static void on_event(struct caller *c, uint32_t events)
{
	switch (c->state) {
	case CALLER_SILENT:
		if (is_tls(c))
			tls_begin(c);
		else
			http1_begin(c);
		return;
	case CALLER_HANDSHAKE:
		tls_turn(c);
		return;
	case CALLER_HEAD:
	case CALLER_BODY:
		http1_readable(c);
		return;
	case CALLER_ANSWER:
		/* Nobody is left to read it; who has said all may still read. */
		if (events & (EPOLLHUP | EPOLLERR))
			caller_drop(c);
		else if (c->watched & events & EPOLLRDHUP)
			half_closed(c);
		else
			http1_turn(c);
		return;
	case CALLER_RELAY:
		relay_on_caller(c, events);
		return;
	case CALLER_LINGER:
		drain(c);
		return;
	case CALLER_OVER:
		return;
	}
}

static void on_poll(uv_poll_t *poll, int status, int uv_events)
{
	struct callers *t = poll->data;
	struct epoll_event events[EVENTS_MAX];
	(void)status;
	(void)uv_events;
	bury(t);
	int count = epoll_wait(t->epoll_fd, events, EVENTS_MAX, 0);
	for (int i = 0; i < count; i++)
		on_event(events[i].data.ptr, events[i].events);
}

/* Once for each that is ready now: they may become so again, and others shall have their turn. */
static void on_idle(uv_idle_t *idle)
{
	struct callers *t = idle->data;
	struct caller *c;
	size_t count;
	DL_COUNT2(t->ready, c, count, ready_next);
	for (; count > 0 && t->ready; count--) {
		c = t->ready;
		unready(c);
		http1_turn(c);
	}
	bury(t);
	if (!t->ready)
		uv_idle_stop(idle);
}

/*
 * The peer's address, as the limits on strangers and the log know it. Returns false when there is none: it has reset the
 * connection before that was accepted. What it has sent could still be read, on behalf of nobody.
 */
static bool name_peer(bool unix_socket, int fd, char peer[LIMITER_PEER_MAX])
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

void caller_accept(struct server *s, const struct listener *from, enum arrival_by by, int fd)
{
	char peer[LIMITER_PEER_MAX];
	struct peer *stranger;
	if (!name_peer(from->unix_socket, fd, peer)) {
		close(fd);
		return;
	}
	if (!peers_enter(&s->peers, peer, &stranger)) {
		s->options.metrics->strangers_refused++;
		close(fd);
		return;
	}
	struct caller *c = calloc(1, sizeof *c);
	if (!c) {
		peers_leave(&s->peers, stranger);
		close(fd);
		return;
	}
	c->server = s;
	c->arrival = (struct arrival){.unix_socket = from->unix_socket, .by = by};
	c->fd = fd;
	c->stranger = stranger;
	memcpy(c->peer, peer, sizeof c->peer);
	c->state = CALLER_OVER; /* not yet counted */
	DL_APPEND(s->callers->all, c);
	s->options.metrics->callers++;
	caller_move(c, CALLER_SILENT, (uint64_t)s->options.header_timeout_s * 1000);
	caller_watch(c, EPOLLIN);
}

/* Whether it has been in its state for too long. */
static bool is_late(const struct caller *c, uint64_t now_ms)
{
	const struct exchange *x = c->exchange;
	if (c->limit_ms == 0 || c->state == CALLER_BODY || (x && x->downloading && !x->over))
		return false; /* the exchange is looked at */
	if (c->state == CALLER_ANSWER)
		return x && (x->answered || x->over) && now_ms - x->answered_ms > c->limit_ms &&
			bodies_is_slow(now_ms - x->answered_ms, c->limit_ms, x->sent_total);
	return now_ms - c->since_ms > c->limit_ms;
}

void callers_sweep(struct server *s)
{
	struct caller *c, *next;
	uint64_t now_ms = server_now_ms(s);
	DL_FOREACH_SAFE (s->callers->all, c, next)
		if (c->state == CALLER_RELAY)
			relay_look(c, now_ms);
		else if (is_late(c, now_ms))
			caller_drop(c);
}

int callers_open(struct server *s)
{
	struct callers *t = calloc(1, sizeof *t);
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
	s->callers = t;
	return 0;
}

void callers_close(struct server *s)
{
	struct callers *t = s->callers;
	struct caller *c, *next;
	DL_FOREACH_SAFE (t->all, c, next)
		caller_drop(c);
	uv_close((uv_handle_t *)&t->poll, NULL);
	uv_close((uv_handle_t *)&t->idle, NULL);
	close(t->epoll_fd);
	t->epoll_fd = -1;
}

void callers_free(struct server *s)
{
	bury(s->callers);
	free(s->callers);
}

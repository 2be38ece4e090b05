/*
 * Life of a relay: checks of the request, events, time limits, end. See relay.h.
 *
 * As in other reverse proxies, a peer that shuts down its sending side before the answer has been sent ends the request: the
 * connection to the program is closed.
 */
#include "ws/net/relay.h"

#include "ws/net/http1.h"
#include "ws/net/tcp.h"
#include "ws/net/upgrade.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PATH_FORM "/proxy/"
#define PROBE_S 30
#define TUNNEL_HALF_MS 60000u /* without bytes, after one side of a tunnel has ended */

/* The host of a request: of its target, otherwise of Host (RFC 9112 3.2.2). NULL = none, or several. */
static const char *host_of(const struct http_head *http)
{
	if (http->authority)
		return http->authority;
	return http_head_count(http, "host") == 1 ? http_head_field(http, "host") : NULL;
}

static bool is_by_path(const struct http_head *http)
{
	return strncmp(http->target, PATH_FORM, sizeof PATH_FORM - 1) == 0;
}

bool relay_is_host(const struct server *s, const char *host)
{
	struct preview_name name;
	const struct previews *all = s->options.previews;
	return all && host && preview_name_parse(host, all->place.domain, &name);
}

bool relay_is_wanted(const struct server *s, const struct http_head *http)
{
	return s->options.previews && (relay_is_host(s, host_of(http)) || is_by_path(http));
}

bool relay_is_loop(const struct server *s, const struct http_head *http)
{
	const struct previews *all = s->options.previews;
	for (size_t i = 0; all && i < http->fields_count; i++)
		if (strcmp(http->fields[i].name, "via") == 0 &&
			strstr(http->fields[i].value, all->instance))
			return true;
	return false;
}

/* An error before the relay has begun. */
struct relay_refusal {
	const char *code, *message;
};

static const struct relay_refusal wrong_port = {
	"INVALID_PORT", "Invalid port: use 1024 to 65535, and none that Ringside listens on"};

/* Read how the request's body ends, as strictly as for our own requests. Returns NULL, or an error code. */
static const char *read_framing(struct relay *r, const struct http_head *http)
{
	const char *length = http_head_field(http, "content-length");
	const char *expect = http->minor > 0 ? http_head_field(http, "expect") : NULL;
	enum http_coding coding = http_head_coding(http);
	/* After CONNECT the bytes have no framing. */
	if (strcmp(http->method, "CONNECT") == 0)
		return "METHOD_NOT_ALLOWED";
	if (coding == HTTP_CODING_INVALID || (coding != HTTP_CODING_NONE && length) ||
		http_head_count(http, "content-length") > 1 ||
		(length && !params_number(length, INT64_MAX, &r->in_left)))
		return "VALIDATION_FAILED";
	if (coding == HTTP_CODING_UNKNOWN)
		return "NOT_IMPLEMENTED";
	if (expect &&
		(strcasecmp(expect, "100-continue") != 0 || http_head_count(http, "expect") > 1))
		return "EXPECTATION_FAILED";
	r->in = coding == HTTP_CODING_CHUNKED ? RELAY_CHUNKED
		: r->in_left > 0              ? RELAY_LENGTH
					      : RELAY_NONE;
	r->in_over = r->in == RELAY_NONE;
	r->expects = expect && !r->in_over;
	return NULL;
}

/* Read the headers about the connection. */
static void read_connection(struct relay *r, const struct http_head *http)
{
	const char *to = http_head_field(http, "upgrade");
	bool stays = http_head_lists(http, "connection", "keep-alive");
	r->http_1_0 = http->minor == 0;
	r->close_after = http_head_lists(http, "connection", "close") || (r->http_1_0 && !stays);
	r->head_only = strcmp(http->method, "HEAD") == 0;
	r->page = http_head_accepts_page(http);
	/* Not h2c: its requests would not be checked. */
	r->upgrade = to && http_head_count(http, "upgrade") == 1 &&
		!http_value_has_token(to, "h2c") && http->minor > 0 && r->in == RELAY_NONE &&
		http_head_lists(http, "connection", "upgrade");
}

/* Whether a browser wants a part of a page, such as a script. By path it gets only documents: no script of our origin. */
static bool is_part(const struct http_head *http)
{
	const char *to = http_head_field(http, "sec-fetch-dest");
	return http_head_field(http, "service-worker") ||
		(to && strcmp(to, "document") != 0 && strcmp(to, "empty") != 0);
}

/* Check the permission for /proxy/. Returns false if the request has been answered. */
static bool admit_path(struct conn *c, const struct http_head *http, struct relay *r)
{
	struct server *s = c->server;
	struct access *a = s->options.dispatcher->access;
	static const struct access_amount want[ACCESS_PLACES] = {{QUOTA_STREAMS, 1}};
	struct head *h = calloc(1, sizeof *h);
	struct exchange *x = h ? http1_exchange(c) : NULL;
	if (!x) {
		free(h);
		conn_drop(c);
		return false;
	}
	snprintf(h->peer, sizeof h->peer, "%s", c->peer);
	const char *problem = head_extract(http, NULL, h);
	/* A WebSocket may change state, unlike GET. */
	if (r->upgrade)
		h->method = METHOD_OTHER;
	bool good = exchange_admit(x, h, &c->arrival, problem);
	free(h);
	struct request *q = x->request;
	if (good && is_part(http)) {
		reply_error(q, "PERMISSION_DENIED",
			"/proxy/PORT serves only whole documents to browsers: use a preview", NULL);
		good = false;
	} else if (good && s->options.previews->owners_only && q->principal.role != ROLE_OWNER) {
		reply_error(q, "PERMISSION_DENIED", "Only the owner may do that", NULL);
		good = false;
	} else if (good) {
		good = access_claim_for(a, q, want, &r->claim);
	}
	if (!good)
		return false;
	c->exchange = NULL;
	exchange_free(x);
	return true;
}

/* The preview that a host names, or NULL. */
static struct preview *find_preview(struct server *s, const char *host)
{
	struct preview_name name;
	struct previews *all = s->options.previews;
	return preview_name_parse(host, all->place.domain, &name) ? previews_find(all, &name) : NULL;
}

static void refuse_host(const struct relay *r)
{
	struct preview_name name;
	const struct previews *all = r->server->options.previews;
	const struct http1_refusal how = {.head_only = r->head_only, .page = r->page};
	if (preview_name_parse(r->host, all->place.domain, &name) && previews_is_stale(all, &name))
		http1_refuse(r->conn, "STALE_PREVIEW_URL", "The preview has ended with its session",
			&how);
	else
		http1_refuse(r->conn, "INVALID_TOKEN", "There is no such preview", &how);
}

static void on_ended(void *user)
{
	struct relay *r = user;
	conn_drop(r->conn);
}

static void on_withdrawn(struct claim *claim)
{
	struct relay *r = claim->of;
	conn_drop(r->conn);
}

/* Parse "/proxy/PORT/rest". */
static bool parse_path(struct relay *r, const char **target)
{
	size_t length;
	const char *at = *target + sizeof PATH_FORM - 1;
	if (!preview_name_port(at, "/?", &r->pass.port, &length))
		return false;
	*target = at + length;
	return true;
}

/* Find the port and check the permission. Returns false if the request has been answered. */
static bool find_target(struct relay *r, const struct http_head *http, const char **target)
{
	struct conn *c = r->conn;
	const struct http1_refusal how = {
		.known = true, .head_only = r->head_only, .page = r->page, .link = "/"};
	r->pass.by_path = !relay_is_host(r->server, r->host);
	*target = http->target;
	if (r->pass.by_path) {
		if (!admit_path(c, http, r))
			return false;
		if (parse_path(r, target) &&
			!previews_is_own(r->server->options.previews, r->pass.port))
			return true;
		http1_refuse(c, wrong_port.code, wrong_port.message, &how);
		return false;
	}
	struct preview *p = c->arrival.by == CONN_TRUST_FOREIGN ? NULL
								: find_preview(r->server, r->host);
	if (!p || previews_is_own(r->server->options.previews, p->name.port)) {
		refuse_host(r);
		return false;
	}
	r->pass.port = p->name.port;
	r->user.preview = p;
	/* The connection still counts as unauthenticated: a host's name is not a credential. */
	return true;
}

static bool is_secure(const struct conn *c, const struct http_head *http)
{
	struct head h = {0};
	const char *proto = http_head_field(http, "x-forwarded-proto");
	const char *forwarded = http_head_field(http, "forwarded");
	snprintf(h.peer, sizeof h.peer, "%s", c->peer);
	snprintf(h.forwarded_proto, sizeof h.forwarded_proto, "%s", proto ? proto : "");
	snprintf(h.forwarded, sizeof h.forwarded, "%s", forwarded ? forwarded : "");
	return head_is_secure(c->server, &c->arrival, &h);
}

/* All checks have passed: connect to the program. */
static void start(struct relay *r)
{
	struct conn *c = r->conn;
	/* The connection may be idle for hours. */
	tcp_probe_every(c->fd, PROBE_S);
	c->relay = r;
	r->user.ended = on_ended;
	r->user.user = r;
	if (r->claim) {
		r->claim->of = r;
		r->claim->withdraw = on_withdrawn;
	}
	r->moved_ms = server_now_ms(r->server);
	conn_set_state(c, CONN_RELAY, 0);
	r->server->options.metrics->preview_requests++;
	r->server->options.metrics->http_requests++;
	int rc = relay_connect(r);
	if (rc == 0)
		relay_turn(r);
	else
		relay_connect_failed(r, rc);
}

static void discard(struct relay *r)
{
	claim_release(&r->claim);
	relay_rest_free(&r->up_rest);
	free(r);
}

void relay_begin(struct conn *c, const struct http_head *http)
{
	struct relay *r = calloc(1, sizeof *r);
	const char *target, *host = host_of(http);
	c->served = true;
	if (!r) {
		conn_drop(c);
		return;
	}
	r->conn = c;
	r->server = c->server;
	snprintf(r->host, sizeof r->host, "%s", host ? host : "");
	r->pass.host = r->host;
	r->pass.scheme = is_secure(c, http) ? "https" : "http";
	const char *problem = read_framing(r, http);
	read_connection(r, http);
	const struct http1_refusal how = {.known = true, .head_only = r->head_only, .page = r->page};
	if (problem) {
		http1_refuse(c, problem, "The request's head is invalid or not supported", &how);
		discard(r);
		return;
	}
	if (!find_target(r, http, &target)) {
		discard(r);
		return;
	}
	struct preview *p = r->user.preview;
	r->user.preview = NULL;
	if (!preview_attach(r->server->options.previews, p, &r->user)) {
		http1_refuse(c, "LIMIT_REACHED", "Too many connections to previews are open", &how);
		discard(r);
	} else if (!relay_write_request(r, http, target)) {
		preview_detach(&r->user);
		http1_refuse(c, "REQUEST_TOO_LARGE", "The request's head is too large", &how);
		discard(r);
	} else {
		start(r);
	}
}

void relay_detach(struct conn *c)
{
	struct relay *r = c->relay;
	if (!r)
		return;
	c->relay = NULL;
	r->server->tunnels -= r->socket != NULL;
	if (r->socket)
		r->socket->tunnel = NULL;
	preview_detach(&r->user);
	relay_close_up(r);
	relay_rest_free(&r->down_rest);
	free(r->head);
	discard(r);
}

bool relay_tunnel(struct conn *c, int fd, struct upgrade *u)
{
	struct relay *r = calloc(1, sizeof *r);
	if (!r) {
		close(fd);
		return false;
	}
	r->conn = c;
	r->server = c->server;
	r->state = RELAY_TUNNEL;
	r->begun = true;
	if (relay_adopt(r, fd) < 0) {
		free(r);
		return false;
	}
	r->inner = true;
	r->server->tunnels++;
	r->socket = u;
	u->tunnel = r;
	c->relay = r;
	r->moved_ms = server_now_ms(r->server);
	conn_set_state(c, CONN_RELAY, 0);
	conn_wake(c);
	return true;
}

void relay_socket_closed(struct relay *r)
{
	r->socket = NULL;
	r->server->tunnels--;
	r->left_ms = server_now_ms(r->server);
}

size_t relay_unsent(const struct relay *r)
{
	return r->down_rest.length - r->down_rest.sent + tcp_unsent(r->conn->fd);
}

void relay_break(struct relay *r)
{
	if (r->http_1_0 && r->begun)
		tcp_reset_on_close(r->conn->fd);
	conn_drop(r->conn);
}

void relay_fail(struct relay *r, const char *code, const char *message)
{
	struct conn *c = r->conn;
	const struct http1_refusal how = {.known = true, .head_only = r->head_only, .page = r->page};
	r->server->options.metrics->preview_failures++;
	/* An interim answer may have been sent in part. */
	if (r->begun || r->down_rest.bytes) {
		relay_break(r);
		return;
	}
	relay_detach(c);
	http1_refuse(c, code, message, &how);
}

/* The answer has been sent: wait for the next request. r is freed afterwards. */
static void finish(struct relay *r)
{
	struct conn *c = r->conn;
	bool close_after = r->close_after || r->inner;
	bool tunnel = r->state == RELAY_TUNNEL && !r->inner;
	relay_detach(c);
	if (tunnel)
		conn_drop(c);
	else if (close_after)
		conn_linger(c);
	else
		http1_next(c);
}

/* Set the events to wait for on both sides. */
static void watch(struct relay *r)
{
	struct conn *c = r->conn;
	bool reads = !r->in_over && !r->up_rest.bytes && r->state != RELAY_CONNECTING;
	bool ended = r->state == RELAY_TUNNEL && r->in_over;
	uint32_t down = r->down_rest.bytes ? (uint32_t)EPOLLOUT : 0;
	int up = r->state == RELAY_CONNECTING || r->up_rest.bytes ? UV_WRITABLE : 0;
	if (reads)
		down |= EPOLLIN;
	else if (r->in_over && !ended)
		down |= EPOLLRDHUP;
	if (r->state != RELAY_CONNECTING && !r->out_over && !r->down_rest.bytes)
		up |= UV_READABLE;
	relay_watch_up(r, up);
	conn_watch(c, down);
}

/* Send 100 Continue once the program is connected, unless the body has begun. */
static int send_continue(struct relay *r)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	if (!r->expects || r->state == RELAY_CONNECTING)
		return 0;
	r->expects = false;
	if (r->conn->in_length > 0)
		return 0;
	int rc = relay_send_down(r, text, sizeof text - 1);
	r->begun = false;
	return rc;
}

static bool is_over(const struct relay *r)
{
	bool flushed = !r->down_rest.bytes;
	if (r->inner)
		return flushed && r->out_over;
	if (r->state == RELAY_TUNNEL)
		return flushed && r->out_over && r->in_over && !r->up_rest.bytes;
	return flushed && r->state == RELAY_BODY && r->out_over;
}

void relay_turn(struct relay *r)
{
	size_t up = HTTP1_TURN_MAX, down = HTTP1_TURN_MAX;
	struct conn *c = r->conn;
	if (send_continue(r) < 0) {
		conn_drop(c);
		return;
	}
	if (!relay_pump_up(r, &up) || !relay_pump_down(r, &down))
		return;
	if (is_over(r)) {
		finish(r);
		return;
	}
	/* OpenSSL may hold bytes that epoll does not report. Other connections have their turn first. */
	if (up == 0 || down == 0)
		conn_wake(c);
	watch(r);
}

void relay_on_conn(struct conn *c, uint32_t events)
{
	if (events & (EPOLLHUP | EPOLLERR) || c->watched & events & EPOLLRDHUP)
		conn_drop(c);
	else
		relay_turn(c->relay);
}

void relay_check_timeouts(struct conn *c, uint64_t now_ms)
{
	struct relay *r = c->relay;
	uint64_t ms = now_ms - r->moved_ms;
	bool half = r->state == RELAY_TUNNEL && r->in_over != r->out_over;
	bool left = r->inner && !r->socket && now_ms - r->left_ms > RELAY_DRAIN_MS;
	if (r->state == RELAY_CONNECTING && ms > RELAY_CONNECT_MS)
		relay_fail(r, "PORT_TIMEOUT", "The program does not accept the connection");
	else if (!r->inner && r->down_rest.bytes && ms > RELAY_STALL_MS)
		relay_break(r); /* the peer does not read */
	else if (!r->inner && r->up_rest.bytes && ms > RELAY_STALL_MS)
		relay_fail(r, "PORT_TIMEOUT", "The program does not read the request");
	else if (r->state == RELAY_HEAD && !r->in_over && !r->up_rest.bytes && ms > RELAY_BODY_MS)
		conn_drop(c);
	else if (r->state == RELAY_HEAD && ms > RELAY_HEAD_MS)
		relay_fail(r, "PORT_TIMEOUT", "The program does not answer");
	else if (left || (half && ms > TUNNEL_HALF_MS))
		conn_drop(c);
}

/*
 * Receives requests by HTTP/1.1 (RFC 9112), one at a time. The next is parsed when the answer to this one has been written;
 * pipelined bytes wait in c->in, and then in the kernel.
 */
#include "ws/net/handover.h"
#include "ws/net/http1.h"
#include "ws/net/relay.h"
#include "ws/net/takeover.h"
#include "ws/net/upgrade.h"

#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>

#define EMPTY_LINES_MAX 4u /* bytes of empty lines in front of a request */

struct exchange *http1_exchange(struct conn *c)
{
	struct exchange *x = exchange_create(c);
	c->served = true;
	if (!x)
		return NULL;
	x->close_after = true;
	conn_set_state(c, CONN_ANSWER, HTTP1_ANSWER_MS);
	return x;
}

/* Move bytes of c->in into the body. Returns whether the body is complete. */
static bool consume_buffered(struct conn *c, struct exchange *x)
{
	while (c->in_length > 0 && x->wants_body) {
		size_t room;
		char *to = exchange_body_space(x, &room);
		size_t size = c->in_length < room ? c->in_length : room;
		memcpy(to, c->in, size);
		conn_consume(c, size);
		exchange_body_add(x, size);
	}
	return !x->wants_body;
}

/* Wait for more of a body, and send the rest of 100 Continue if there is any. */
static void await_body(struct conn *c)
{
	if (http1_send_out(c) == CONN_STEP_FAILED)
		conn_drop(c);
	else
		conn_watch(c, EPOLLIN | (c->out ? (uint32_t)EPOLLOUT : 0));
}

/* Send 100 Continue (RFC 9110 10.1.1), unless the body has begun. */
static bool send_continue(struct conn *c)
{
	return c->in_length > 0 || http1_send_continue(c);
}

/* Read bytes of a stored body. */
static enum conn_step read_whole(struct conn *c, struct exchange *x, size_t *got)
{
	size_t room;
	if (consume_buffered(c, x))
		return CONN_STEP_MORE;
	char *to = exchange_body_space(x, &room);
	long n = conn_read(c, to, room);
	if (n <= 0)
		return n < 0 ? CONN_STEP_FAILED : CONN_STEP_BLOCKED;
	*got += (size_t)n;
	exchange_body_add(x, (size_t)n);
	return CONN_STEP_MORE;
}

/* Read bytes of a chunked body or an upload, from c->in first. */
static enum conn_step read_piece(struct conn *c, struct exchange *x, size_t *got)
{
	char *bytes = (char *)c->server->scratch;
	size_t most = exchange_body_read_max(x), used;
	if (most == 0 || c->in_length > 0) {
		exchange_body_feed(x, c->in, most > 0 ? c->in_length : 0, &used);
		if (used > 0)
			conn_consume(c, used);
		*got += used;
		return CONN_STEP_MORE;
	}
	long n = conn_read(c, bytes, most);
	if (n <= 0)
		return n < 0 ? CONN_STEP_FAILED : CONN_STEP_BLOCKED;
	*got += (size_t)n;
	exchange_body_feed(x, bytes, (size_t)n, &used);
	/* Bytes after the body's end belong to the next request. */
	int rc = conn_unread(c, bytes + used, (size_t)n - used);
	return rc < 0 ? CONN_STEP_FAILED : CONN_STEP_MORE;
}

/* Stop reading the body, and wait for the answer. */
static void leave_body(struct conn *c)
{
	conn_set_state(c, CONN_ANSWER, HTTP1_ANSWER_MS);
	conn_wake(c);
}

/* Read the body until it would block, is complete or is paused. */
static void receive_body(struct conn *c)
{
	struct exchange *x = c->exchange;
	size_t got = 0;
	enum conn_step step = CONN_STEP_MORE;
	if (c->server->held && takeover_has_body(c)) {
		conn_unwatch(c);
		return;
	}
	if (x->expects && exchange_body_is_due(x)) {
		x->expects = false;
		step = send_continue(c) ? CONN_STEP_MORE : CONN_STEP_FAILED;
	}
	while (step == CONN_STEP_MORE && c->state == CONN_BODY && exchange_body_is_due(x) &&
		got < HTTP1_TURN_MAX)
		step = exchange_body_in_pieces(x) ? read_piece(c, x, &got) : read_whole(c, x, &got);
	if (step == CONN_STEP_FAILED)
		conn_drop(c);
	if (c->state != CONN_BODY)
		return;
	if (!x->wants_body)
		leave_body(c);
	else if (!exchange_body_is_due(x))
		conn_unwatch(c); /* request_transport.uploading() wakes it up */
	else if (step == CONN_STEP_BLOCKED)
		await_body(c);
	else
		conn_wake(c); /* OpenSSL may hold bytes that epoll does not report */
}

void http1_probe(struct conn *c)
{
	struct exchange *x = c->exchange;
	/* A stream of GET may be endless: a half-close ends it. */
	if (x->state == EXCHANGE_STREAMING && x->request->method == METHOD_GET) {
		conn_drop(c);
	} else if (x->state == EXCHANGE_STREAMING) {
		x->quiet = true;
		conn_wake(c);
	} else if (x->state == EXCHANGE_PENDING && !x->http_1_0 && !http1_send_continue(c)) {
		conn_drop(c);
	}
}

/*
 * Serve a request after its head has been parsed, from a copy of the first length bytes of c->in, which are consumed. They
 * are kept until the answer begins, for takeover.h.
 */
static void serve(struct conn *c, const struct http_head *http, size_t length)
{
	char *kept = malloc(length);
	struct head *h = calloc(1, sizeof *h);
	struct exchange *x = h && kept ? exchange_create(c) : NULL;
	if (!x) {
		free(kept);
		free(h);
		conn_drop(c);
		return;
	}
	memcpy(kept, c->in, length);
	x->head = kept;
	x->head_length = length;
	conn_consume(c, length);
	c->served = true;
	snprintf(h->peer, sizeof h->peer, "%s", c->peer);
	const char *problem = head_extract(http, &c->server->options.dispatcher->routes, h);
	bool expects = x->expects = h->expects;
	conn_set_state(c, CONN_ANSWER, HTTP1_ANSWER_MS);
	exchange_begin(x, h, &c->arrival, problem);
	free(h);
	if (c->state != CONN_ANSWER || c->exchange != x)
		return;
	/* Skip a short unwanted body. A client that expects 100 Continue may never send it. */
	bool is_short = x->unread <= BODY_ANONYMOUS_MAX && !expects;
	c->skip = is_short ? x->unread : 0;
	x->close_after |= x->unread > 0 && !is_short;
	if (!x->wants_body) {
		conn_wake(c);
		return;
	}
	conn_set_state(c, CONN_BODY, 0);
	receive_body(c);
}

static void upgrade(struct conn *c, const struct http_head *http)
{
	struct upgrade *u = upgrade_admit(c, http);
	if (u)
		handover_websocket(c, u, http_head_field(http, "sec-websocket-key"));
}

/* Parse a copy of a head. *ret_text is owned by the caller; NULL when memory is short. */
static int parse(const char *bytes, size_t length, struct http_head *http, char **ret_text)
{
	*ret_text = malloc(length + 1);
	if (!*ret_text)
		return -ENOMEM;
	memcpy(*ret_text, bytes, length);
	return http_head_parse(*ret_text, length, http);
}

static bool is_printable(char byte)
{
	return byte > ' ' && byte < 0x7f;
}

size_t http1_empty_lines(const struct conn *c)
{
	size_t length = 0;
	if (c->excess > 0) /* c->in is a later part of the head */
		return 0;
	while (length < c->in_length && length < EMPTY_LINES_MAX &&
		(c->in[length] == '\r' || c->in[length] == '\n'))
		length++;
	return length;
}

/* Serve the head in c->in if it is complete. Returns whether it was. */
static bool serve_head(struct conn *c)
{
	struct http_head http;
	char *text;
	size_t skip = http1_empty_lines(c);
	/* Do not wait for the end of what is no head, such as a handshake of TLS. */
	if (skip < c->in_length && !is_printable(c->in[skip])) {
		http1_refuse_head(c, "VALIDATION_FAILED", "Invalid HTTP/1.1 request");
		return true;
	}
	size_t length = http_fields_head_length(c->in + skip, c->in_length - skip);
	if (length == 0)
		return false;
	int rc = parse(c->in + skip, length, &http, &text);
	conn_consume(c, skip);
	if (rc == 0 && http1_refuse_unserved(c, &http)) {
		/* It has been answered. */
	} else if (rc == 0 && relay_is_loop(c->server, &http)) {
		http1_refuse_head(c, "LOOP_DETECTED",
			"The request was forwarded by this server itself (see Via)");
	} else if (rc == 0 && relay_is_wanted(c->server, &http)) {
		conn_consume(c, length);
		relay_begin(c, &http);
	} else if (rc == 0 && upgrade_is_wanted(&http)) {
		conn_consume(c, length);
		upgrade(c, &http);
	} else if (rc == 0) {
		serve(c, &http, length);
	} else if (rc == -ENOMEM) {
		conn_drop(c);
	} else {
		http1_refuse_head(c, rc == -E2BIG ? "REQUEST_TOO_LARGE" : "VALIDATION_FAILED",
			"Invalid HTTP/1.1 request");
	}
	free(text);
	return true;
}

/* Remove bytes of an unwanted body from c->in. */
static void skip_body(struct conn *c)
{
	size_t size = c->skip < c->in_length ? c->skip : c->in_length;
	if (size > 0)
		conn_consume(c, size);
	c->skip -= size;
}

/* Read until a head is complete or it would block. */
static void resume(struct conn *c)
{
	while (c->state == CONN_HEAD) {
		if (c->server->held) {
			conn_unwatch(c);
			return;
		}
		skip_body(c);
		if (c->in_length > 0 && (c->excess > 0 ? http1_skip_excess(c) : serve_head(c)))
			return;
		bool was_empty = c->in_length == 0;
		long n = conn_fill(c);
		if (n == -ENOBUFS && !http1_skip_excess(c))
			continue;
		if (n == -ENOBUFS)
			return;
		if (n < 0) {
			conn_drop(c);
			return;
		}
		if (n == 0) {
			conn_watch(c, EPOLLIN);
			return;
		}
		if (was_empty)
			conn_set_state(c, CONN_HEAD, conn_head_within_ms(c));
	}
}

void http1_readable(struct conn *c)
{
	if (c->state == CONN_BODY)
		receive_body(c);
	else
		resume(c);
}

void http1_turn(struct conn *c)
{
	if (c->state == CONN_ANSWER && c->exchange)
		http1_answer(c, c->exchange);
	else if (c->state == CONN_ANSWER)
		http1_send_rest(c);
	else if (c->state == CONN_RELAY)
		relay_turn(c->relay);
	else if (c->state == CONN_HEAD || c->state == CONN_BODY)
		http1_readable(c);
}

void http1_begin(struct conn *c)
{
	conn_set_state(c, CONN_HEAD, conn_head_within_ms(c));
	resume(c);
}

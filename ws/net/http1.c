/*
 * Exchanges by HTTP/1.1 (RFC 9112): one request of a connection after the other. The next is looked at
 * when the answer to this one has been handed to the kernel; what has come behind it waits in the
 * connection's buffer, and then in the kernel's.
 */
#include "ws/net/handover.h"
#include "ws/net/http1.h"
#include "ws/net/relay.h"
#include "ws/net/upgrade.h"

#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>

#define ANSWER_WITHIN_MS 60000u /* to be sent, for as long as less than BODY_RATE_MIN is taken */
#define EMPTY_LINES_MAX 4u      /* bytes of empty lines in front of a request, RFC 9112 2.2 */

uint64_t http1_head_within_ms(const struct caller *c)
{
	return (uint64_t)c->server->options.header_timeout_s * 1000;
}

struct exchange *http1_exchange(struct caller *c)
{
	struct exchange *x = exchange_create(c);
	c->served = true;
	if (!x)
		return NULL;
	x->close_after = true;
	caller_move(c, CALLER_ANSWER, ANSWER_WITHIN_MS);
	return x;
}

/* By the way of answers to what is a request. */
void http1_refuse(
	struct caller *c, const char *code, const char *message, const struct http1_refusal *how)
{
	struct exchange *x = http1_exchange(c);
	if (!x) {
		caller_drop(c);
		return;
	}
	x->server->options.metrics->http_requests++;
	caller_consume(c, c->in_length);
	x->request->auth = how && how->known ? AUTH_OK : AUTH_MISSING;
	x->head_only = how && how->head_only;
	char *text = how && how->plain ? malloc(strlen(message) + 3) : NULL;
	if (text) {
		sprintf(text, "%s.\n", message);
		reply_bytes(x->request, error_status(code), "text/plain; charset=utf-8", text,
			strlen(text), text);
	} else {
		reply_error(x->request, code, message, NULL);
	}
}

static void refuse_caller(struct caller *c, const char *code, const char *message)
{
	http1_refuse(c, code, message, NULL);
}

/* Put what has come of a body where it belongs. Returns whether it is whole. */
static bool take_buffered(struct caller *c, struct exchange *x)
{
	while (c->in_length > 0 && x->wants_body) {
		size_t room;
		char *to = exchange_body_room(x, &room);
		size_t size = c->in_length < room ? c->in_length : room;
		memcpy(to, c->in, size);
		caller_consume(c, size);
		exchange_body_add(x, size);
	}
	return !x->wants_body;
}

/* Wait for more of a body; the leave to send it may wait itself, for the peer to read an answer before. */
static void await_body(struct caller *c)
{
	if (http1_send_out(c) < 0)
		caller_drop(c);
	else
		caller_watch(c, EPOLLIN | (c->out ? (uint32_t)EPOLLOUT : 0));
}

/* Say that the body may come, to who waits for that (RFC 9110 10.1.1) and has not begun. */
static bool say_continue(struct caller *c)
{
	return c->in_length > 0 || http1_send_continue(c);
}

/* Read a body that is kept in its place. Returns 1; 0 when nothing has come; or -1. */
static int read_whole(struct caller *c, struct exchange *x, size_t *got)
{
	size_t room;
	if (take_buffered(c, x))
		return 1;
	char *to = exchange_body_room(x, &room);
	long n = caller_read(c, to, room);
	if (n <= 0)
		return n < 0 ? -1 : 0;
	*got += (size_t)n;
	exchange_body_add(x, (size_t)n);
	return 1;
}

/* Read a piece of a body that comes in pieces: what has come already is first. The same results. */
static int read_piece(struct caller *c, struct exchange *x, size_t *got)
{
	char *bytes = (char *)c->server->scratch;
	size_t most = exchange_body_most(x), used;
	if (most == 0 || c->in_length > 0) {
		exchange_body_take(x, c->in, most > 0 ? c->in_length : 0, &used);
		if (used > 0)
			caller_consume(c, used);
		*got += used;
		return 1;
	}
	long n = caller_read(c, bytes, most);
	if (n <= 0)
		return n < 0 ? -1 : 0;
	*got += (size_t)n;
	exchange_body_take(x, bytes, (size_t)n, &used);
	/* What is behind the body's end is the next request's, unless there is none. */
	return caller_unread(c, bytes + used, (size_t)n - used) < 0 ? -1 : 1;
}

/* The body is not read any more: the answer is awaited, or to be sent. */
static void leave_body(struct caller *c)
{
	caller_move(c, CALLER_ANSWER, ANSWER_WITHIN_MS);
	caller_wake(c);
}

/* Read what has come of the body, until nothing has, or it is not to be read now. */
static void receive_body(struct caller *c)
{
	struct exchange *x = c->exchange;
	size_t got = 0;
	int rc = 1;
	if (x->expects && exchange_body_is_due(x)) {
		x->expects = false;
		rc = say_continue(c) ? 1 : -1;
	}
	while (rc == 1 && c->state == CALLER_BODY && exchange_body_is_due(x) && got < HTTP1_TURN_MAX)
		rc = exchange_body_in_pieces(x) ? read_piece(c, x, &got) : read_whole(c, x, &got);
	if (rc < 0)
		caller_drop(c);
	if (c->state != CALLER_BODY)
		return;
	if (!x->wants_body)
		leave_body(c);
	else if (!exchange_body_is_due(x))
		caller_unwatch(c); /* who has paused it wakes it up */
	else if (rc == 0)
		await_body(c);
	else
		caller_wake(c); /* TLS may hold bytes that nobody would tell of */
}

void http1_probe(struct caller *c)
{
	struct exchange *x = c->exchange;
	/* What is followed may go on for ever: half a close is how that is ended. */
	if (x->streaming && x->request->method == METHOD_GET) {
		caller_drop(c);
	} else if (x->streaming) {
		x->quiet = true;
		caller_wake(c);
	} else if (!x->answered && !x->http_1_0 && !http1_send_continue(c)) {
		caller_drop(c);
	}
}

static const char *code_of(int rc)
{
	return rc == -E2BIG ? "REQUEST_TOO_LARGE" : "VALIDATION_FAILED";
}

/* A request whose head is parsed. */
static void serve(struct caller *c, const struct http_head *http)
{
	struct head *h = calloc(1, sizeof *h);
	struct exchange *x = h ? exchange_create(c) : NULL;
	if (!x) {
		free(h);
		caller_drop(c);
		return;
	}
	c->served = true;
	snprintf(h->peer, sizeof h->peer, "%s", c->peer);
	const char *problem = head_take(http, h);
	bool expects = x->expects = h->expects;
	caller_move(c, CALLER_ANSWER, ANSWER_WITHIN_MS);
	exchange_begin(x, h, &c->arrival, problem);
	free(h);
	if (c->state != CALLER_ANSWER || c->exchange != x)
		return;
	/* Little that nobody wants is read over; who waits for leave to send it may never send it. */
	bool is_short = x->unread <= BODY_ANONYMOUS_MAX && !expects;
	c->skip = is_short ? x->unread : 0;
	x->close_after |= x->unread > 0 && !is_short;
	if (!x->wants_body) {
		caller_wake(c);
		return;
	}
	caller_move(c, CALLER_BODY, 0);
	receive_body(c);
}

static void upgrade(struct caller *c, const struct http_head *http)
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

/* Serve the head in c->in, if it is whole. Returns whether it was. */
static bool take_head(struct caller *c)
{
	struct http_head http;
	char *text;
	size_t skip = 0;
	while (skip < c->in_length && skip < EMPTY_LINES_MAX &&
		(c->in[skip] == '\r' || c->in[skip] == '\n'))
		skip++;
	size_t length = http_head_length(c->in + skip, c->in_length - skip);
	if (length == 0)
		return false;
	int rc = parse(c->in + skip, length, &http, &text);
	caller_consume(c, skip);
	if (rc == 0 && relay_is_loop(c->server, &http)) {
		refuse_caller(c, "LOOP_DETECTED", "This request has come from this server itself");
	} else if (rc == 0 && relay_is_wanted(c->server, &http)) {
		caller_consume(c, length);
		relay_begin(c, &http);
	} else if (rc == 0 && upgrade_is_wanted(&http)) {
		caller_consume(c, length);
		upgrade(c, &http);
	} else if (rc == 0) {
		caller_consume(c, length);
		serve(c, &http);
	} else if (rc == -ENOMEM) {
		caller_drop(c);
	} else {
		refuse_caller(c, code_of(rc), "This is no request of HTTP/1.1");
	}
	free(text);
	return true;
}

/* Take the rest of a body that nobody wants out of what has come. */
static void skip_body(struct caller *c)
{
	size_t size = c->skip < c->in_length ? c->skip : c->in_length;
	if (size > 0)
		caller_consume(c, size);
	c->skip -= size;
}

/* Read until a head is whole, or nothing is left. */
static void resume(struct caller *c)
{
	while (c->state == CALLER_HEAD) {
		skip_body(c);
		if (c->in_length > 0 && take_head(c))
			return;
		bool was_empty = c->in_length == 0;
		long n = caller_fill(c);
		if (n == -ENOBUFS) {
			refuse_caller(c, "REQUEST_TOO_LARGE", "The request's head is too large");
			return;
		}
		if (n < 0) {
			caller_drop(c);
			return;
		}
		if (n == 0) {
			caller_watch(c, EPOLLIN);
			return;
		}
		if (was_empty)
			caller_move(c, CALLER_HEAD, http1_head_within_ms(c));
	}
}

void http1_readable(struct caller *c)
{
	if (c->state == CALLER_BODY)
		receive_body(c);
	else
		resume(c);
}

void http1_turn(struct caller *c)
{
	if (c->state == CALLER_ANSWER && c->exchange)
		http1_answer(c, c->exchange);
	else if (c->state == CALLER_RELAY)
		relay_turn(c->relay);
	else if (c->state == CALLER_HEAD || c->state == CALLER_BODY)
		http1_readable(c);
}

void http1_begin(struct caller *c)
{
	caller_move(c, CALLER_HEAD, http1_head_within_ms(c));
	resume(c);
}

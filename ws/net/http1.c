/*
 * Exchanges by HTTP/1.1 (RFC 9112): one request of a connection after the other. The next is looked at
 * when the answer to this one has been handed to the kernel; what has come behind it waits in the
 * connection's buffer, and then in the kernel's.
 */
#include "ws/net/exchange.h"
#include "ws/net/handover.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>

#define KEEP_ALIVE_MS 30000u
#define ANSWER_WITHIN_MS 60000u /* to be sent, for as long as less than BODY_RATE_MIN is taken */
#define HEAD_SIZE 8192u         /* of an answer */
#define TOGETHER_MAX ((size_t)16 << 10) /* bytes of a body that go out with the head */
#define PIECE_MAX ((size_t)64 << 10)
#define TURN_MAX ((size_t)256 << 10) /* bytes sent before others have their turn */
#define EMPTY_LINES_MAX 4u           /* bytes of empty lines in front of a request, RFC 9112 2.2 */

static uint64_t head_within_ms(const struct caller *c)
{
	return (uint64_t)c->server->options.header_timeout_s * 1000;
}

/* Add text to what is sent before the answer's body. Returns false when memory is short. */
static bool add_out(struct caller *c, const char *text, size_t length)
{
	char *out = realloc(c->out, c->out_length + length);
	if (!out)
		return false;
	memcpy(out + c->out_length, text, length);
	c->out = out;
	c->out_length += length;
	return true;
}

/* Send that. Returns 1 when all has gone, 0 when the peer has to read first, or -1. */
static int send_out(struct caller *c)
{
	while (c->out_sent < c->out_length) {
		long n = caller_write(c, c->out + c->out_sent, c->out_length - c->out_sent);
		if (n <= 0)
			return n < 0 ? -1 : 0;
		c->out_sent += (size_t)n;
	}
	free(c->out);
	c->out = NULL;
	c->out_length = c->out_sent = 0;
	return 1;
}

/* A head being written. */
struct place {
	char *at, *end;
};

static bool add_header(void *user, const char *name, const char *value)
{
	struct place *p = user;
	size_t room = (size_t)(p->end - p->at);
	int n = snprintf(p->at, room, "%s: %s\r\n", name, value);
	if (n < 0 || (size_t)n >= room)
		return false;
	p->at += n;
	return true;
}

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} reasons[] = {{200, "OK"}, {201, "Created"}, {202, "Accepted"}, {204, "No Content"},
		{206, "Partial Content"}, {304, "Not Modified"}, {400, "Bad Request"},
		{401, "Unauthorized"}, {403, "Forbidden"}, {404, "Not Found"},
		{405, "Method Not Allowed"}, {408, "Request Timeout"}, {409, "Conflict"},
		{410, "Gone"}, {411, "Length Required"}, {413, "Content Too Large"},
		{415, "Unsupported Media Type"}, {416, "Range Not Satisfiable"},
		{429, "Too Many Requests"}, {500, "Internal Server Error"},
		{501, "Not Implemented"}, {503, "Service Unavailable"}};
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "Answer";
}

static bool add_framing(struct exchange *x, struct place *p)
{
	char length[24];
	snprintf(length, sizeof length, "%zu", x->request->reply.length);
	if (x->streaming && x->http_1_0)
		x->close_after = true;
	else if (x->streaming && !add_header(p, "transfer-encoding", "chunked"))
		return false;
	if (exchange_tells_length(x) && !add_header(p, "content-length", length))
		return false;
	if (x->close_after)
		return add_header(p, "connection", "close");
	return !x->http_1_0 || add_header(p, "connection", "keep-alive");
}

/* Write the answer's head to c->out, and the body's beginning with it. */
static bool write_head(struct caller *c, struct exchange *x)
{
	char head[HEAD_SIZE];
	struct place p = {head, head + sizeof head};
	int status = exchange_status(x);
	p.at += snprintf(p.at, sizeof head, "HTTP/1.1 %d %s\r\n", status, reason(status));
	if (!add_header(&p, "server", "ringside") || !exchange_headers(x, add_header, &p) ||
		!add_framing(x, &p))
		return false;
	if (p.end - p.at < 3)
		return false;
	memcpy(p.at, "\r\n", 2);
	p.at += 2;
	if (!add_out(c, head, (size_t)(p.at - head)))
		return false;
	size_t together = x->streaming ? 0 : exchange_length(x);
	if (together > TOGETHER_MAX)
		together = TOGETHER_MAX;
	if (together > 0 && !add_out(c, x->request->reply.body, together))
		return false;
	x->sent = together;
	x->head_sent = true;
	if (status >= 400)
		x->server->options.metrics->http_errors++;
	return true;
}

/* The answer has been sent: on to the next request, or to the end. */
static void finish_exchange(struct caller *c)
{
	bool close_after = c->exchange->close_after;
	exchange_free(c->exchange);
	c->exchange = NULL;
	if (close_after) {
		caller_linger(c);
		return;
	}
	caller_move(c, CALLER_HEAD, c->in_length > 0 ? head_within_ms(c) : KEEP_ALIVE_MS);
	/* There may be more in the buffers, and others have their turn first. */
	caller_wake(c);
}

/*
 * Send a piece of the answer. Returns 1 when there may be more at once, 0 when the peer has to read
 * first or there is nothing, -1 when it is lost; or 2: all has been sent.
 */
static int send_piece(struct caller *c, struct exchange *x, size_t *sent)
{
	int rc = x->over ? 2 : x->streaming && !x->event ? stream_next(x) : 1;
	if (rc != 1)
		return rc;
	const char *bytes = x->streaming ? x->event : x->request->reply.body;
	size_t length = x->streaming ? x->event_length : exchange_length(x);
	if (x->sent < length) {
		size_t size = length - x->sent < PIECE_MAX ? length - x->sent : PIECE_MAX;
		long n = caller_write(c, bytes + x->sent, size);
		if (n <= 0)
			return n < 0 ? -1 : 0;
		x->sent += (size_t)n;
		x->sent_total += (size_t)n;
		*sent += (size_t)n;
	}
	if (x->sent < length)
		return 1;
	if (!x->streaming)
		return 2;
	stream_sent(x);
	return 1;
}

/* What to be told of while an answer waits: for the peer to read, for more of it, or for all. */
static void await(struct caller *c, const struct exchange *x, bool blocked)
{
	if (blocked)
		caller_watch(c, EPOLLOUT);
	else
		caller_watch(c, x->answered || c->at_end ? 0 : EPOLLRDHUP);
}

static void answer(struct caller *c, struct exchange *x)
{
	size_t sent = 0;
	if (!x->answered && !x->streaming) {
		await(c, x, false);
		return;
	}
	if (x->streaming && !x->over && !x->request->stream.next) {
		caller_drop(c);
		return;
	}
	if (!x->head_sent && !write_head(c, x)) {
		caller_drop(c);
		return;
	}
	int rc = send_out(c);
	while (rc == 1 && sent < TURN_MAX)
		rc = send_piece(c, x, &sent);
	if (rc < 0)
		caller_drop(c);
	else if (rc == 2)
		finish_exchange(c);
	else
		await(c, x, rc == 1 || c->out || x->event || !x->streaming);
}

static void wake_caller(struct exchange *x)
{
	caller_wake(x->caller);
}

static void drop_caller(struct exchange *x)
{
	caller_drop(x->caller);
}

static int fd_of_caller(const struct exchange *x)
{
	return x->caller->fd;
}

static const struct exchange_carrier carrier = {
	.wake = wake_caller, .kill = drop_caller, .fd = fd_of_caller};

/* An answer to what is no request, by the way of those that are. */
static void refuse_caller(struct caller *c, const char *code, const char *message)
{
	struct exchange *x = exchange_create(c->server, &carrier);
	c->served = true;
	if (!x) {
		caller_drop(c);
		return;
	}
	x->caller = c;
	c->exchange = x;
	x->close_after = true;
	x->server->options.metrics->http_requests++;
	caller_consume(c, c->in_length);
	caller_move(c, CALLER_ANSWER, ANSWER_WITHIN_MS);
	reply_error(x->request, code, message, NULL);
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
	if (send_out(c) < 0)
		caller_drop(c);
	else
		caller_watch(c, EPOLLIN | (c->out ? (uint32_t)EPOLLOUT : 0));
}

static void receive_body(struct caller *c)
{
	struct exchange *x = c->exchange;
	size_t got = 0;
	bool whole = take_buffered(c, x);
	while (!whole && got < TURN_MAX) {
		size_t room;
		char *to = exchange_body_room(x, &room);
		long n = caller_read(c, to, room);
		if (n < 0) {
			caller_drop(c);
			return;
		}
		if (n == 0) {
			await_body(c);
			return;
		}
		got += (size_t)n;
		whole = exchange_body_add(x, (size_t)n);
	}
	if (!whole)
		caller_wake(c); /* TLS may hold bytes that nobody would tell of */
	else if (c->state == CALLER_BODY)
		caller_move(c, CALLER_ANSWER, ANSWER_WITHIN_MS);
	if (whole && c->state == CALLER_ANSWER)
		caller_wake(c);
}

static bool send_continue(struct caller *c)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	return add_out(c, text, sizeof text - 1) && send_out(c) >= 0;
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
	} else if (!x->answered && !x->http_1_0 && !send_continue(c)) {
		caller_drop(c);
	}
}

/* Say that the body may come, to who waits for that (RFC 9110 10.1.1) and has not begun. */
static bool say_continue(struct caller *c)
{
	return c->in_length > 0 || send_continue(c);
}

static const char *code_of(int rc)
{
	return rc == -E2BIG ? "REQUEST_TOO_LARGE" : "VALIDATION_FAILED";
}

/* A request whose head is parsed. */
static void serve(struct caller *c, const struct http_head *http)
{
	struct server *s = c->server;
	struct head *h = calloc(1, sizeof *h);
	struct exchange *x = h ? exchange_create(s, &carrier) : NULL;
	if (!x) {
		free(h);
		caller_drop(c);
		return;
	}
	x->caller = c;
	c->exchange = x;
	c->served = true;
	snprintf(h->peer, sizeof h->peer, "%s", c->peer);
	const char *problem = head_take(http, h);
	bool expects = h->expects;
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
	if (expects && !say_continue(c))
		caller_drop(c);
	else
		receive_body(c);
}

/* Whether a WebSocket's target can be read by libwebsockets, which answers in its own words if not. */
static bool target_is_sound(const struct http_head *http)
{
	struct request *r = request_create();
	bool sound = r && request_take_target(r, http->target) == 0;
	if (r)
		request_unref(r);
	return sound;
}

/* in_one: the whole handshake is libwebsockets' to read. */
static void upgrade(struct caller *c, const struct http_head *http, bool in_one)
{
	if (!handover_is_sound(http) || !target_is_sound(http))
		refuse_caller(c, "VALIDATION_FAILED", "This is no proper handshake of a WebSocket");
	else if (!in_one)
		refuse_caller(c, "VALIDATION_FAILED",
			"A WebSocket's handshake has to come in one record of TLS");
	else
		handover_websocket(c);
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
	if (rc == 0 && handover_is_wanted(&http)) {
		upgrade(c, &http, !c->wsi);
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

/* Look at what TLS has decrypted: a WebSocket's handshake stays there, for libwebsockets to read. */
static bool peek_upgrade(struct caller *c)
{
	struct http_head http;
	char *text = NULL, *bytes = malloc(HTTP_HEAD_MAX);
	if (!bytes)
		return false;
	ERR_clear_error();
	int n = SSL_peek(c->ssl, bytes, (int)HTTP_HEAD_MAX);
	size_t length = n > 0 ? http_head_length(bytes, (size_t)n) : 0;
	bool found = length > 0 && parse(bytes, length, &http, &text) == 0 &&
		handover_is_wanted(&http);
	if (found)
		upgrade(c, &http, true);
	bool begun = n > 0 && length == 0 && handover_is_begun(bytes, (size_t)n);
	if (begun)
		handover_websocket(c);
	free(text);
	free(bytes);
	return found || begun;
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
		if (c->ssl && c->in_length == 0 && c->skip == 0 && peek_upgrade(c))
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
			caller_move(c, CALLER_HEAD, head_within_ms(c));
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
		answer(c, c->exchange);
	else if (c->state == CALLER_HEAD || c->state == CALLER_BODY)
		http1_readable(c);
}

void http1_begin(struct caller *c)
{
	caller_move(c, CALLER_HEAD, head_within_ms(c));
	resume(c);
}

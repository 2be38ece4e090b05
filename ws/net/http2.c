/* Exchanges by HTTP/2: what libwebsockets' callbacks tell of a stream, and what is written to it. */
#include "ws/net/exchange.h"

#include <stdio.h>
#include <string.h>

#define HEADER_MAX 8192u
#define PIECE_MAX \
	((size_t)16000) /* one frame is at most 16 KiB, and libwebsockets does not split */

void http2_gone(struct connection *c)
{
	if (c->exchange)
		exchange_free(c->exchange);
	c->exchange = NULL;
}

static void wake_stream(struct exchange *x)
{
	lws_callback_on_writable(x->wsi);
}

static void kill_stream(struct exchange *x)
{
	connection_kill(x->wsi);
}

static int fd_of_stream(const struct exchange *x)
{
	return lws_get_socket_fd(lws_get_network_wsi(x->wsi));
}

static const struct exchange_carrier carrier = {
	.wake = wake_stream, .kill = kill_stream, .fd = fd_of_stream};

int http2_request(
	struct server *s, struct lws *wsi, struct connection *c, const char *path, size_t length)
{
	struct head h;
	http2_gone(c);
	struct exchange *x = exchange_create(s, &carrier);
	if (!x)
		return -1;
	x->wsi = wsi;
	c->exchange = x;
	const char *problem = head_read(wsi, path, &h);
	/* A NUL has been decoded: what is in front of it is another path. */
	if (!problem && strlen(path) != length)
		problem = "VALIDATION_FAILED";
	exchange_begin(x, &h, connection_arrival(wsi), problem);
	return 0;
}

int http2_body(struct connection *c, const void *bytes, size_t length)
{
	struct exchange *x = c->exchange;
	const char *from = bytes;
	if (!x || !x->wants_body)
		return 0;
	if (length > x->body_size - x->body_got)
		return -1;
	while (length > 0) {
		size_t room;
		char *to = exchange_body_room(x, &room);
		size_t piece = length < room ? length : room;
		memcpy(to, from, piece);
		from += piece;
		length -= piece;
		if (exchange_body_add(x, piece))
			break;
	}
	return 0;
}

int http2_body_done(struct connection *c)
{
	struct exchange *x = c->exchange;
	/* One of zero bytes ends here; the others have ended with their last byte. */
	if (x && x->wants_body && x->body_got == x->body_size)
		exchange_body_add(x, 0);
	return 0;
}

/* A place in memory for headers. */
struct place {
	struct lws *wsi;
	unsigned char *at, *end;
};

static bool add_header(void *user, const char *name, const char *value)
{
	struct place *p = user;
	char with_colon[64];
	size_t i;
	for (i = 0; name[i] && i < sizeof with_colon - 2; i++)
		with_colon[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
	with_colon[i++] = ':';
	with_colon[i] = '\0';
	return lws_add_http_header_by_name(p->wsi, (const unsigned char *)with_colon,
		       (const unsigned char *)value, (int)strlen(value), &p->at, p->end) == 0;
}

static bool send_head(struct exchange *x)
{
	unsigned char buffer[LWS_PRE + HEADER_MAX];
	struct place p = {x->wsi, buffer + LWS_PRE, buffer + sizeof buffer};
	int status = exchange_status(x);
	bool good = lws_add_http_header_status(x->wsi, (unsigned)status, &p.at, p.end) == 0 &&
		exchange_headers(x, add_header, &p);
	if (good && exchange_tells_length(x))
		good = lws_add_http_header_content_length(
			       x->wsi, x->request->reply.length, &p.at, p.end) == 0;
	if (!good || lws_finalize_write_http_header(x->wsi, buffer + LWS_PRE, &p.at, p.end))
		return false;
	if (status >= 400)
		x->server->options.metrics->http_errors++;
	x->head_sent = true;
	return true;
}

/* The exchange is over. Returns what the callback shall return. */
static int finish_stream(struct lws *wsi, struct connection *c)
{
	bool close_after = c->exchange->close_after;
	http2_gone(c);
	if (close_after)
		return -1;
	return lws_http_transaction_completed(wsi) ? -1 : 0;
}

/* Write a piece of length bytes. Returns bytes written, or -1 when the connection is lost. */
static long send_piece(struct exchange *x, const char *bytes, size_t length, bool final)
{
	uint8_t *payload = x->server->scratch + LWS_PRE;
	size_t size = length < PIECE_MAX ? length : PIECE_MAX;
	lws_fileofs_t allowance = lws_get_peer_write_allowance(x->wsi);
	if (allowance >= 0 && (size_t)allowance < size)
		size = (size_t)allowance;
	if (size == 0 && length > 0)
		return 0;
	memcpy(payload, bytes, size);
	enum lws_write_protocol kind = final && size == length ? LWS_WRITE_HTTP_FINAL
							       : LWS_WRITE_HTTP;
	return lws_write(x->wsi, payload, size, kind) < (int)size ? -1 : (long)size;
}

static int send_body(struct exchange *x, struct connection *c)
{
	const struct reply *reply = &x->request->reply;
	size_t length = exchange_length(x);
	long n = send_piece(x, reply->body + x->sent, length - x->sent, true);
	if (n < 0)
		return -1;
	x->sent += (size_t)n;
	if (x->sent == length)
		return finish_stream(x->wsi, c);
	lws_callback_on_writable(x->wsi);
	return 0;
}

/* The end has been sent. Closing waits for it to leave: what is still here would be lost. */
static int end_stream(struct exchange *x, struct connection *c)
{
	if (lws_partial_buffered(lws_get_network_wsi(x->wsi))) {
		lws_callback_on_writable(x->wsi);
		return 0;
	}
	x->close_after = false;
	return finish_stream(x->wsi, c);
}

static int send_event(struct exchange *x, struct connection *c)
{
	if (x->over)
		return end_stream(x, c);
	if (!x->request->stream.next)
		return -1;
	if (!x->event) {
		int rc = stream_next(x);
		if (rc <= 0)
			return rc;
	}
	long n = send_piece(x, x->event + x->sent, x->event_length - x->sent, x->event_is_last);
	if (n < 0)
		return -1;
	x->sent += (size_t)n;
	if (x->sent == x->event_length)
		stream_sent(x);
	lws_callback_on_writable(x->wsi);
	return 0;
}

int http2_writable(struct lws *wsi, struct connection *c)
{
	struct exchange *x = c->exchange;
	if (!x || (!x->answered && !x->streaming))
		return 0;
	if (!x->head_sent) {
		if (!send_head(x))
			return -1;
		lws_callback_on_writable(wsi);
		return 0;
	}
	return x->streaming ? send_event(x, c) : send_body(x, c);
}

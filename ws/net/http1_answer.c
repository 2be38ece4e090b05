/*
 * Sends answers by HTTP/1.1: a head, and a body that is in memory, a stream of events, or a download, which are pulled. Writes
 * until it would block, then waits for EPOLLOUT.
 */
#include "ws/net/http1.h"

#include "ws/net/tcp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define HEAD_SIZE 8192u                 /* of an answer */
#define TOGETHER_MAX ((size_t)16 << 10) /* bytes of a body that are sent with the head */
#define PIECE_MAX ((size_t)64 << 10)
#define CHUNK_FRAME_MAX 24u /* bytes in front of a chunk */

/* Append text to what is sent before the body. Returns false when memory is short. */
static bool add_out(struct conn *c, const char *text, size_t length)
{
	char *out = realloc(c->out, c->out_length + length);
	if (!out)
		return false;
	memcpy(out + c->out_length, text, length);
	c->out = out;
	c->out_length += length;
	return true;
}

int http1_send_out(struct conn *c)
{
	while (c->out_sent < c->out_length) {
		long n = conn_write(c, c->out + c->out_sent, c->out_length - c->out_sent);
		if (n <= 0)
			return n < 0 ? -1 : 0;
		c->out_sent += (size_t)n;
	}
	free(c->out);
	c->out = NULL;
	c->out_length = c->out_sent = 0;
	return 1;
}

/* Where the next header is written. */
struct head_writer {
	char *at, *end;
};

static bool add_header(void *user, const char *name, const char *value)
{
	struct head_writer *p = user;
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
		{417, "Expectation Failed"}, {429, "Too Many Requests"},
		{500, "Internal Server Error"}, {501, "Not Implemented"}, {502, "Bad Gateway"},
		{503, "Service Unavailable"}, {504, "Gateway Timeout"}, {508, "Loop Detected"}};
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "Answer";
}

/* Whether the length of the answer is unknown. */
static bool is_endless(const struct exchange *x)
{
	return x->streaming || (x->downloading && x->request->download.length == DOWNLOAD_UNKNOWN);
}

static bool add_framing(struct exchange *x, struct head_writer *p)
{
	char length[24];
	snprintf(length, sizeof length, "%" PRIu64, exchange_content_length(x));
	if (is_endless(x) && x->http_1_0)
		x->close_after = true;
	else if (is_endless(x) && !add_header(p, "transfer-encoding", "chunked"))
		return false;
	if (exchange_has_length(x) && !add_header(p, "content-length", length))
		return false;
	if (x->close_after)
		return add_header(p, "connection", "close");
	return !x->http_1_0 || add_header(p, "connection", "keep-alive");
}

/* Write the answer's head to c->out, and the beginning of the body. */
static bool write_head(struct conn *c, struct exchange *x)
{
	char head[HEAD_SIZE];
	struct head_writer p = {head, head + sizeof head};
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
	size_t together = x->streaming || x->downloading ? 0 : exchange_length(x);
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

void http1_next(struct conn *c)
{
	conn_set_state(
		c, CONN_HEAD, c->in_length > 0 ? http1_head_within_ms(c) : HTTP1_KEEP_ALIVE_MS);
	/* The next request may be in the buffers; other connections have their turn first. */
	conn_wake(c);
}

/* The answer has been sent: wait for the next request, or close. */
static void finish_exchange(struct conn *c)
{
	bool close_after = c->exchange->close_after;
	exchange_free(c->exchange);
	c->exchange = NULL;
	if (close_after) {
		conn_linger(c);
		return;
	}
	http1_next(c);
}

/*
 * Send a piece of the answer. Returns 1 when there may be more, 0 when it would block or there is nothing, 2 when
 * all has been sent, or -1 when the connection is lost.
 */
static int send_piece(struct conn *c, struct exchange *x, size_t *sent)
{
	int rc = x->over ? 2 : x->streaming && !x->event ? stream_next(x) : 1;
	if (rc != 1)
		return rc;
	const char *bytes = x->streaming ? x->event : x->request->reply.body;
	size_t length = x->streaming ? x->event_length : exchange_length(x);
	if (x->sent < length) {
		size_t size = length - x->sent < PIECE_MAX ? length - x->sent : PIECE_MAX;
		long n = conn_write(c, bytes + x->sent, size);
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

/* Write the frame of a chunk in front of a piece, if the answer is chunked. Returns false if memory is short. */
static bool frame_piece(struct conn *c, const struct exchange *x, size_t length)
{
	char frame[CHUNK_FRAME_MAX];
	if (!is_endless(x) || x->http_1_0)
		return true;
	int n = snprintf(frame, sizeof frame, "%zx\r\n%s", length, length > 0 ? "" : "\r\n");
	return add_out(c, frame, (size_t)n);
}

/* Get the next piece of a download. Returns as send_piece(). */
static int pull_piece(struct conn *c, struct exchange *x)
{
	enum download_state state = x->head_only
		? DOWNLOAD_END
		: download_next(x->request, &x->piece, &x->piece_length);
	switch (state) {
	case DOWNLOAD_WAIT:
		x->piece = NULL;
		return 0;
	case DOWNLOAD_PIECE:
		x->sent = 0;
		return frame_piece(c, x, x->piece_length) ? 1 : -1;
	case DOWNLOAD_END:
		x->piece = NULL;
		x->over = true;
		x->answered_ms = server_now_ms(x->server);
		download_close(x->request);
		return x->head_only || frame_piece(c, x, 0) ? 1 : -1;
	case DOWNLOAD_FAILED:
		break;
	}
	return -1;
}

/* Send a piece of a download. Returns as send_piece(). */
static int send_download(struct conn *c, struct exchange *x, size_t *sent)
{
	int rc = c->out ? http1_send_out(c) : 1;
	if (rc != 1)
		return rc;
	if (x->over)
		return 2;
	if (!x->piece)
		return pull_piece(c, x);
	size_t left = x->piece_length - x->sent;
	long n = conn_write(c, x->piece + x->sent, left < PIECE_MAX ? left : PIECE_MAX);
	if (n <= 0)
		return n < 0 ? -1 : 0;
	x->sent += (size_t)n;
	x->sent_total += (size_t)n;
	*sent += (size_t)n;
	if (x->sent < x->piece_length)
		return 1;
	x->piece = NULL;
	bool framed = is_endless(x) && !x->http_1_0;
	return !framed || add_out(c, "\r\n", 2) ? 1 : -1;
}

/* Set the events while an answer waits: for the peer to read, or for more of the answer. */
static void watch_answer(struct conn *c, const struct exchange *x, bool blocked)
{
	if (blocked)
		conn_watch(c, EPOLLOUT);
	else
		conn_watch(c, x->answered || c->at_end ? 0 : EPOLLRDHUP);
}

/* Whether the body is in memory, so that an unfinished answer always has bytes to send. */
static bool is_whole(const struct exchange *x)
{
	return !x->streaming && !x->downloading;
}

/* The answer has failed: drop the connection. If its end would look like a complete answer, reset it. */
static void abort_answer(struct conn *c, const struct exchange *x)
{
	if (x->http_1_0 && is_endless(x))
		tcp_reset_on_close(c->fd);
	conn_drop(c);
}

void http1_answer(struct conn *c, struct exchange *x)
{
	size_t sent = 0;
	if (!x->answered && !x->streaming) {
		watch_answer(c, x, false);
		return;
	}
	/* The source of the answer may have ended. */
	bool streams = !x->streaming || x->request->stream.next;
	bool downloads = !x->downloading || x->request->download.source.next;
	if (!x->over && !(streams && downloads)) {
		abort_answer(c, x);
		return;
	}
	if (!x->head_sent && !write_head(c, x)) {
		conn_drop(c);
		return;
	}
	int rc = http1_send_out(c);
	while (rc == 1 && sent < HTTP1_TURN_MAX)
		rc = x->downloading ? send_download(c, x, &sent) : send_piece(c, x, &sent);
	if (rc < 0)
		abort_answer(c, x);
	else if (rc == 2)
		finish_exchange(c);
	else
		watch_answer(c, x, rc == 1 || c->out || x->event || x->piece || is_whole(x));
}

bool http1_send_continue(struct conn *c)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	return add_out(c, text, sizeof text - 1) && http1_send_out(c) >= 0;
}

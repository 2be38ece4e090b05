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

enum conn_step http1_send_out(struct conn *c)
{
	while (c->out_sent < c->out_length) {
		long n = conn_write(c, c->out + c->out_sent, c->out_length - c->out_sent);
		if (n <= 0)
			return n < 0 ? CONN_STEP_FAILED : CONN_STEP_BLOCKED;
		c->out_sent += (size_t)n;
	}
	free(c->out);
	c->out = NULL;
	c->out_length = c->out_sent = 0;
	return CONN_STEP_MORE;
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
		{417, "Expectation Failed"}, {426, "Upgrade Required"}, {429, "Too Many Requests"},
		{500, "Internal Server Error"}, {501, "Not Implemented"}, {502, "Bad Gateway"},
		{503, "Service Unavailable"}, {504, "Gateway Timeout"}, {508, "Loop Detected"}};
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "Answer";
}

static bool add_framing(struct exchange *x, struct head_writer *p)
{
	char length[24];
	snprintf(length, sizeof length, "%" PRIu64, exchange_content_length(x));
	if (exchange_is_endless(x) && x->http_1_0)
		x->close_after = true;
	else if (exchange_is_endless(x) && !add_header(p, "transfer-encoding", "chunked"))
		return false;
	if (exchange_has_length(x) && !add_header(p, "content-length", length))
		return false;
	if (x->upgrade)
		return add_header(p, "connection", x->close_after ? "upgrade, close" : "upgrade");
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
	size_t together = x->state == EXCHANGE_ANSWERED ? exchange_length(x) : 0;
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
		c, CONN_HEAD, c->in_length > 0 ? conn_head_within_ms(c) : HTTP1_KEEP_ALIVE_MS);
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

void http1_send_rest(struct conn *c)
{
	if (c->state != CONN_ANSWER)
		conn_set_state(c, CONN_ANSWER, HTTP1_ANSWER_MS);
	enum conn_step step = http1_send_out(c);
	if (step == CONN_STEP_FAILED)
		conn_drop(c);
	else if (step == CONN_STEP_BLOCKED)
		conn_watch(c, EPOLLOUT);
	else if (c->close_after)
		conn_linger(c);
	else
		http1_next(c);
}

/* Write more of these bytes, of which x->sent are written. */
static enum conn_step write_some(
	struct conn *c, struct exchange *x, const char *bytes, size_t length, size_t *sent)
{
	size_t left = length - x->sent;
	if (left == 0)
		return CONN_STEP_MORE;
	long n = conn_write(c, bytes + x->sent, left < PIECE_MAX ? left : PIECE_MAX);
	if (n <= 0)
		return n < 0 ? CONN_STEP_FAILED : CONN_STEP_BLOCKED;
	x->sent += (size_t)n;
	x->sent_total += (size_t)n;
	*sent += (size_t)n;
	return CONN_STEP_MORE;
}

/* Send a piece of an answer in memory. */
static enum conn_step send_reply(struct conn *c, struct exchange *x, size_t *sent)
{
	enum conn_step step = write_some(c, x, x->request->reply.body, exchange_length(x), sent);
	return step == CONN_STEP_MORE && x->sent == exchange_length(x) ? CONN_STEP_DONE : step;
}

/* Send a piece of an event. */
static enum conn_step send_event(struct conn *c, struct exchange *x, size_t *sent)
{
	enum conn_step step = x->event ? CONN_STEP_MORE : stream_next(x);
	if (step == CONN_STEP_MORE)
		step = write_some(c, x, x->event, x->event_length, sent);
	if (step == CONN_STEP_MORE && x->sent == x->event_length)
		stream_sent(x);
	return step;
}

/* Write the frame of a chunk in front of a piece, if the answer is chunked. Returns false if memory is short. */
static bool frame_piece(struct conn *c, const struct exchange *x, size_t length)
{
	char frame[CHUNK_FRAME_MAX];
	if (!exchange_is_endless(x) || x->http_1_0)
		return true;
	int n = snprintf(frame, sizeof frame, "%zx\r\n%s", length, length > 0 ? "" : "\r\n");
	return add_out(c, frame, (size_t)n);
}

/* Add the last chunk, if there are chunks. Returns false if memory is short. */
static bool end_download(struct conn *c, struct exchange *x)
{
	bool framed = x->head_only || frame_piece(c, x, 0);
	exchange_move(x, EXCHANGE_OVER);
	download_close(x->request);
	return framed;
}

/* Get the next piece of a download. */
static enum conn_step pull_piece(struct conn *c, struct exchange *x)
{
	enum download_state state = x->head_only
		? DOWNLOAD_END
		: download_next(x->request, &x->piece, &x->piece_length);
	switch (state) {
	case DOWNLOAD_WAIT:
		x->piece = NULL;
		return CONN_STEP_BLOCKED;
	case DOWNLOAD_PIECE:
		x->sent = 0;
		return frame_piece(c, x, x->piece_length) ? CONN_STEP_MORE : CONN_STEP_FAILED;
	case DOWNLOAD_END:
		x->piece = NULL;
		return end_download(c, x) ? CONN_STEP_MORE : CONN_STEP_FAILED;
	case DOWNLOAD_FAILED:
		break;
	}
	return CONN_STEP_FAILED;
}

/* Send a piece of a download. */
static enum conn_step send_download(struct conn *c, struct exchange *x, size_t *sent)
{
	if (!x->piece)
		return pull_piece(c, x);
	enum conn_step step = write_some(c, x, x->piece, x->piece_length, sent);
	if (step != CONN_STEP_MORE || x->sent < x->piece_length)
		return step;
	x->piece = NULL;
	bool framed = exchange_is_endless(x) && !x->http_1_0;
	return !framed || add_out(c, "\r\n", 2) ? CONN_STEP_MORE : CONN_STEP_FAILED;
}

/* Send a piece of the answer. */
static enum conn_step send_piece(struct conn *c, struct exchange *x, size_t *sent)
{
	enum conn_step step = http1_send_out(c);
	if (step != CONN_STEP_MORE)
		return step;
	switch (x->state) {
	case EXCHANGE_ANSWERED:
		return send_reply(c, x, sent);
	case EXCHANGE_STREAMING:
		return send_event(c, x, sent);
	case EXCHANGE_DOWNLOADING:
		return send_download(c, x, sent);
	default:
		return CONN_STEP_DONE;
	}
}

/*
 * Set the events while an answer waits: for the peer to read, or for more of the answer. While it waits for more, a
 * half-close is probed (see http1_probe()), unless the answer is a download.
 */
static void watch_answer(struct conn *c, const struct exchange *x, bool blocked)
{
	bool probes = x->state == EXCHANGE_PENDING || x->state == EXCHANGE_STREAMING;
	if (blocked)
		conn_watch(c, EPOLLOUT);
	else
		conn_watch(c, probes && !c->peer_shut_down ? EPOLLRDHUP : 0);
}

/* Whether the source of the answer has ended before the answer. */
static bool is_cut(const struct exchange *x)
{
	const struct request *r = x->request;
	return (x->state == EXCHANGE_STREAMING && !r->stream.next) ||
		(x->state == EXCHANGE_DOWNLOADING && !r->download.source.next);
}

/* The answer has failed: drop the connection. If its end would look like a complete answer, reset it. */
static void abort_answer(struct conn *c, const struct exchange *x)
{
	if (x->http_1_0 && exchange_is_endless(x))
		tcp_reset_on_close(c->fd);
	conn_drop(c);
}

void http1_answer(struct conn *c, struct exchange *x)
{
	size_t sent = 0;
	enum conn_step step = CONN_STEP_MORE;
	if (x->state == EXCHANGE_PENDING) {
		watch_answer(c, x, false);
		return;
	}
	if (is_cut(x)) {
		abort_answer(c, x);
		return;
	}
	if (!x->head_sent && !write_head(c, x)) {
		conn_drop(c);
		return;
	}
	while (step == CONN_STEP_MORE && sent < HTTP1_TURN_MAX)
		step = send_piece(c, x, &sent);
	if (step == CONN_STEP_FAILED)
		abort_answer(c, x);
	else if (step == CONN_STEP_DONE)
		finish_exchange(c);
	else
		watch_answer(c, x,
			step == CONN_STEP_MORE || c->out || x->event || x->piece ||
				x->state == EXCHANGE_ANSWERED);
}

bool http1_send_continue(struct conn *c)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	return add_out(c, text, sizeof text - 1) && http1_send_out(c) != CONN_STEP_FAILED;
}

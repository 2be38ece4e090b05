/*
 * Answers by HTTP/2: what nghttp2 asks for when a stream has its turn, and its window has room. A stream that has nothing to be
 * sent at the moment is deferred.
 */
#include "ws/net/http2_stream.h"

#include "ws/net/http1.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#define HEADERS_MAX 48u                /* of an answer */
#define HEADERS_SIZE ((size_t)8 << 10) /* their texts */

/* Heads */

struct headers {
	nghttp2_nv list[HEADERS_MAX];
	size_t count;
	char text[HEADERS_SIZE];
	size_t used;
};

static uint8_t *copy(struct headers *h, const char *text, size_t length, bool lower)
{
	char *to = h->text + h->used;
	for (size_t i = 0; i < length; i++)
		to[i] = (char)(lower && text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
	h->used += length;
	return (uint8_t *)to;
}

static bool add_header(void *user, const char *name, const char *value)
{
	struct headers *h = user;
	size_t name_length = strlen(name), value_length = strlen(value);
	if (h->count == HEADERS_MAX || name_length + value_length > sizeof h->text - h->used)
		return false;
	nghttp2_nv *nv = &h->list[h->count++];
	*nv = (nghttp2_nv){.namelen = name_length, .valuelen = value_length};
	nv->name = copy(h, name, name_length, true);
	nv->value = copy(h, value, value_length, false);
	return true;
}

static bool add_all(const struct exchange *x, struct headers *h)
{
	char status[16], length[24];
	snprintf(status, sizeof status, "%d", exchange_status(x));
	snprintf(length, sizeof length, "%" PRIu64, exchange_told_length(x));
	return add_header(h, ":status", status) && add_header(h, "server", "ringside") &&
		exchange_headers(x, add_header, h) &&
		(!exchange_tells_length(x) || add_header(h, "content-length", length));
}

/* Put as much as there is room for behind what is there. */
static void put(struct exchange *x, const char *bytes, size_t length, uint8_t *to, size_t size,
	size_t *used)
{
	size_t left = length - x->sent, n = left < size - *used ? left : size - *used;
	memcpy(to + *used, bytes + x->sent, n);
	*used += n;
	x->sent += n;
}

/* Bodies: each returns bytes put into `to`, fewer than size where there are no more at once; or -1 when it cannot go on. */

static long read_reply(struct exchange *x, uint8_t *to, size_t size)
{
	size_t used = 0;
	put(x, x->request->reply.body, exchange_length(x), to, size, &used);
	x->over = x->sent == exchange_length(x);
	return (long)used;
}

static long read_events(struct exchange *x, uint8_t *to, size_t size)
{
	size_t used = 0;
	while (used < size && !x->over) {
		if (!x->event && !x->request->stream.next)
			return -1; /* what it was taken from has gone */
		int rc = x->event ? 1 : stream_next(x);
		if (rc < 0)
			return -1;
		if (rc == 0)
			break;
		put(x, x->event, x->event_length, to, size, &used);
		if (x->sent == x->event_length)
			stream_sent(x);
	}
	return (long)used;
}

static long read_download(struct exchange *x, uint8_t *to, size_t size)
{
	size_t used = 0;
	enum download_state state = DOWNLOAD_PIECE;
	while (used < size && state == DOWNLOAD_PIECE) {
		if (!x->piece) {
			state = download_next(x->request, &x->piece, &x->piece_length);
			x->sent = 0;
		}
		if (state != DOWNLOAD_PIECE)
			break;
		put(x, x->piece, x->piece_length, to, size, &used);
		if (x->sent == x->piece_length)
			x->piece = NULL;
	}
	if (state != DOWNLOAD_PIECE)
		x->piece = NULL;
	if (state == DOWNLOAD_END) {
		x->over = true;
		x->answered_ms = server_now_ms(x->server);
		download_close(x->request);
	}
	return state == DOWNLOAD_FAILED ? -1 : (long)used;
}

/* NOLINTNEXTLINE(readability-function-size): so nghttp2 calls it */
static ssize_t on_read(nghttp2_session *session, int32_t id, uint8_t *to, size_t size,
	uint32_t *flags, nghttp2_data_source *source, void *user)
{
	const struct http2_stream *s = source->ptr;
	struct exchange *x = s->exchange;
	(void)session;
	(void)id;
	(void)user;
	if (!x)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	long n = x->streaming    ? read_events(x, to, size)
		: x->downloading ? read_download(x, to, size)
				 : read_reply(x, to, size);
	if (n < 0)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	x->sent_total += (size_t)n;
	if (x->over)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return n == 0 && !x->over ? NGHTTP2_ERR_DEFERRED : n;
}

/* Whether there is anything behind the head. */
static bool has_body(const struct exchange *x)
{
	return !x->head_only && (x->streaming || x->downloading || exchange_length(x) > 0);
}

static void submit(struct http2_stream *s)
{
	struct exchange *x = s->exchange;
	struct headers h = {0};
	nghttp2_data_provider provider = {.source.ptr = s, .read_callback = on_read};
	x->head_sent = true;
	if (exchange_status(x) >= 400)
		x->server->options.metrics->http_errors++;
	if (!add_all(x, &h) ||
		nghttp2_submit_response(s->http2->session, s->id, h.list, h.count,
			has_body(x) ? &provider : NULL) != 0)
		exchange_kill(x);
}

/* Begin the answers that are there, and go on with those that had been deferred. */
static void submit_all(struct http2 *t)
{
	struct http2_stream *s;
	bool leaves = false;
	DL_FOREACH (t->streams, s) {
		struct exchange *x = s->exchange;
		if (!x || (!x->answered && !x->streaming))
			continue;
		leaves |= x->hang_up;
		if (x->head_sent)
			nghttp2_session_resume_data(t->session, s->id); /* or it is not deferred */
		else
			submit(s);
	}
	if (leaves && !t->leaving)
		nghttp2_submit_goaway(t->session, NGHTTP2_FLAG_NONE,
			nghttp2_session_get_last_proc_stream_id(t->session),
			NGHTTP2_ENHANCE_YOUR_CALM, NULL, 0);
	t->leaving |= leaves;
}

/* Send a frame. Returns bytes, 0 when there is none or the peer has to read first, or -1. */
static long send_frame(struct http2 *t)
{
	struct caller *c = t->caller;
	int rc = c->out ? http1_send_out(c) : 1;
	if (rc != 1)
		return rc;
	const uint8_t *bytes;
	ssize_t length = nghttp2_session_mem_send(t->session, &bytes);
	if (length <= 0)
		return length < 0 ? -1 : 0;
	long n = caller_write(c, bytes, (size_t)length);
	if (n < 0)
		return -1;
	if (n == length)
		return n;
	return http1_add_out(c, (const char *)bytes + n, (size_t)(length - n)) ? 0 : -1;
}

int http2_send(struct http2 *t)
{
	size_t sent = 0;
	long n = 1;
	submit_all(t);
	while (n > 0 && sent < HTTP1_TURN_MAX) {
		n = send_frame(t);
		sent += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? -1 : n > 0;
}

/* Connections of HTTP/2, and what comes by them: see http2.h. What is sent is in http2_answer.c. */
#include "ws/net/http2_stream.h"

#include "ws/net/http1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <utlist.h>

#define STREAMS_MAX 64u               /* of a connection, at once */
#define WINDOW ((size_t)64 << 10)     /* bytes of a body that may wait here, of each of them */
#define INPUT_SIZE ((size_t)16 << 10) /* bytes read at once, which is a record of TLS */
#define TABLE_SIZE ((size_t)4096)     /* of HPACK, RFC 7541 4.2 */
#define UNSENT_MAX 4096u /* frames that wait for a peer who does not read, but goes on asking */

/* Its peer hears no more of it. */
static void reset(const struct http2_stream *s)
{
	nghttp2_submit_rst_stream(
		s->http2->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_INTERNAL_ERROR);
}

static void wake_stream(struct exchange *x)
{
	caller_wake(x->caller);
}

static void kill_stream(struct exchange *x)
{
	struct http2_stream *s = x->stream;
	struct caller *c = x->caller;
	/* Where nothing leaves any more, neither would this. */
	s->http2->doomed |= c->out != NULL;
	reset(s);
	s->exchange = NULL;
	exchange_free(x);
	caller_wake(c);
}

static int fd_of_caller(const struct exchange *x)
{
	return x->caller->fd;
}

static const struct exchange_carrier carrier = {
	.wake = wake_stream, .kill = kill_stream, .fd = fd_of_caller};

/* Streams */

static struct http2_stream *stream_of(struct http2 *t, int32_t id)
{
	return nghttp2_session_get_stream_user_data(t->session, id);
}

static void stream_free(struct http2_stream *s)
{
	DL_DELETE(s->http2->streams, s);
	if (s->exchange)
		exchange_free(s->exchange);
	free(s->fields);
	free(s->held);
	free(s);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct http2 *t = user;
	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	struct http2_stream *s = t->caller ? calloc(1, sizeof *s) : NULL;
	if (!s)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	s->http2 = t;
	s->id = frame->hd.stream_id;
	DL_APPEND(t->streams, s);
	nghttp2_session_set_stream_user_data(session, s->id, s);
	return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
	struct http2_stream *s = stream_of(user, id);
	(void)session;
	(void)code;
	if (s)
		stream_free(s);
	return 0;
}

/* Heads */

/* Keep a text, and a NUL behind it; there is room. */
static void keep_text(struct http2_stream *s, nghttp2_rcbuf *text)
{
	nghttp2_vec bytes = nghttp2_rcbuf_get_buf(text);
	char *to = s->fields + s->fields_length;
	memcpy(to, bytes.base, bytes.len);
	to[bytes.len] = '\0';
	s->is_wrong |= strlen(to) != bytes.len;
	s->fields_length += bytes.len + 1;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name,
	nghttp2_rcbuf *value, uint8_t flags, void *user)
{
	struct http2_stream *s = stream_of(user, frame->hd.stream_id);
	(void)session;
	(void)flags;
	if (!s || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0; /* trailers are nobody's */
	size_t length = nghttp2_rcbuf_get_buf(name).len + nghttp2_rcbuf_get_buf(value).len + 2;
	s->is_large |= length > HTTP_HEAD_MAX - s->fields_length;
	if (s->is_large)
		return 0;
	if (!s->fields && !(s->fields = malloc(HTTP_HEAD_MAX)))
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	keep_text(s, name);
	keep_text(s, value);
	return 0;
}

/* What is no field: the request is answered so. */
static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame,
	nghttp2_rcbuf *name, nghttp2_rcbuf *value, uint8_t flags, void *user)
{
	struct http2_stream *s = stream_of(user, frame->hd.stream_id);
	(void)session;
	(void)name;
	(void)value;
	(void)flags;
	if (s)
		s->is_wrong = true;
	return 0;
}

/* One of the fields that say what is asked for, RFC 9113 8.3.1. */
static void take_pseudo(struct http_head *http, const char *name, const char *value)
{
	if (strcmp(name, ":method") == 0)
		http->method = value;
	else if (strcmp(name, ":path") == 0)
		http->target = value;
	else if (strcmp(name, ":authority") == 0)
		http->authority = value;
}

/* Whether a target is what one of HTTP/1.1 may be. */
static bool is_target(const char *target)
{
	for (const char *p = target; *p; p++)
		if (*p <= ' ' || *p >= 0x7f)
			return false;
	return target[0] == '/' || strcmp(target, "*") == 0;
}

/* The head of a request, as HTTP/1.1 would have it. Returns NULL, or the code of a refusal. */
static const char *take_fields(const struct http2_stream *s, struct http_head *http)
{
	*http = (struct http_head){.method = "", .target = "", .minor = 1};
	for (const char *at = s->fields; at && at < s->fields + s->fields_length;) {
		const char *name = at, *value = name + strlen(name) + 1;
		at = value + strlen(value) + 1;
		if (name[0] == ':')
			take_pseudo(http, name, value);
		else if (http->fields_count == HTTP_FIELDS_MAX)
			return "REQUEST_TOO_LARGE";
		else
			http->fields[http->fields_count++] = (struct http_field){
				.name = name, .value = value};
	}
	return s->is_large                                ? "REQUEST_TOO_LARGE"
		: s->is_wrong || !is_target(http->target) ? "VALIDATION_FAILED"
							  : NULL;
}

/* A request whose head is whole. */
static void serve(struct http2_stream *s)
{
	struct caller *c = s->http2->caller;
	struct http_head http;
	struct head *h = calloc(1, sizeof *h);
	struct exchange *x = h ? exchange_create(c->server, &carrier) : NULL;
	if (!x) {
		free(h);
		reset(s);
		return;
	}
	x->caller = c;
	x->stream = s;
	s->exchange = x;
	c->served = true;
	caller_move(c, CALLER_MUX, 0);
	const char *problem = take_fields(s, &http);
	if (!problem)
		problem = head_take(&http, h);
	snprintf(h->peer, sizeof h->peer, "%s", c->peer);
	x->expects = h->expects;
	h->is_unsized = !s->ended && !h->has_length;
	exchange_begin(x, h, &c->arrival, problem);
	free(h);
	free(s->fields);
	s->fields = NULL;
}

/* Bodies */

/* Bytes are no more in the way of others. */
static void let_go(struct http2_stream *s, size_t length)
{
	nghttp2_session_consume(s->http2->session, s->id, length);
}

/* Leave to send the body, for who waits for it. */
static void say_continue(struct http2_stream *s)
{
	const nghttp2_nv status = {
		.name = (uint8_t *)":status", .namelen = 7, .value = (uint8_t *)"100", .valuelen = 3};
	s->exchange->expects = false;
	nghttp2_submit_headers(s->http2->session, NGHTTP2_FLAG_NONE, s->id, NULL, &status, 1, NULL);
}

/* Give on what has come of a body, as far as it is wanted now. */
static void give_body(struct http2_stream *s)
{
	struct exchange *x = s->exchange;
	if (x && x->expects && x->wants_body && exchange_body_is_due(x) && !s->ended)
		say_continue(s);
	while (x && exchange_body_is_due(x) && (s->held_length > 0 || s->ended)) {
		size_t used, length = s->held_length;
		x->body_ended = s->ended;
		exchange_body_take(x, s->held, length, &used);
		s->held_length -= used;
		if (s->held_length > 0)
			memmove(s->held, s->held + used, s->held_length);
		let_go(s, used);
		if (used < length)
			break;
	}
	if (x && x->wants_body)
		return;
	/* Nobody wants the rest. */
	let_go(s, s->held_length);
	s->held_length = 0;
	free(s->held);
	s->held = NULL;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
	size_t length, void *user)
{
	struct http2_stream *s = stream_of(user, id);
	(void)flags;
	bool wanted = s && s->exchange && s->exchange->wants_body;
	if (wanted && !s->held)
		s->held = malloc(WINDOW);
	/* The window sees to it that there is room. */
	if (!wanted || !s->held || length > WINDOW - s->held_length) {
		nghttp2_session_consume(session, id, length);
		if (wanted)
			reset(s);
		return 0;
	}
	memcpy(s->held + s->held_length, bytes, length);
	s->held_length += length;
	give_body(s);
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct http2_stream *s = stream_of(user, frame->hd.stream_id);
	int type = frame->hd.type;
	(void)session;
	if (!s || (type != NGHTTP2_HEADERS && type != NGHTTP2_DATA))
		return 0;
	s->ended |= (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
	if (type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
		serve(s);
	give_body(s);
	return 0;
}

/* An answer to what has not come whole: the rest need not come, RFC 9113 8.1. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	const struct http2_stream *s = stream_of(user, frame->hd.stream_id);
	int type = frame->hd.type;
	bool ends = (type == NGHTTP2_HEADERS || type == NGHTTP2_DATA) &&
		(frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
	if (s && ends && !s->ended)
		nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_NO_ERROR);
	return 0;
}

/* The connection */

static nghttp2_session *open_session(struct http2 *t)
{
	nghttp2_session *session = NULL;
	nghttp2_session_callbacks *callbacks = NULL;
	nghttp2_option *option = NULL;
	if (nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&option) == 0) {
		nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
		nghttp2_session_callbacks_set_on_header_callback2(callbacks, on_header);
		nghttp2_session_callbacks_set_on_invalid_header_callback2(
			callbacks, on_invalid_header);
		nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
		nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
		nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
		nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
		nghttp2_option_set_no_auto_window_update(option, 1);
		nghttp2_option_set_max_deflate_dynamic_table_size(option, TABLE_SIZE);
		nghttp2_session_server_new2(&session, callbacks, t, option);
	}
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_option_del(option);
	return session;
}

static bool submit_settings(struct http2 *t)
{
	const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)WINDOW},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)HTTP_HEAD_MAX},
		{NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, (uint32_t)TABLE_SIZE},
	};
	return nghttp2_submit_settings(t->session, NGHTTP2_FLAG_NONE, settings,
		       sizeof settings / sizeof *settings) == 0 &&
		/* No body is in the way of another. */
		nghttp2_session_set_local_window_size(
			t->session, NGHTTP2_FLAG_NONE, 0, (int32_t)(STREAMS_MAX * WINDOW)) == 0;
}

void http2_begin(struct caller *c)
{
	struct http2 *t = calloc(1, sizeof *t);
	if (t) {
		t->caller = c;
		c->http2 = t;
		t->session = open_session(t);
	}
	if (!t || !t->session || !submit_settings(t)) {
		caller_drop(c);
		return;
	}
	caller_move(c, CALLER_MUX, http1_head_within_ms(c));
	http2_turn(c);
}

static void http2_free(struct http2 *t)
{
	nghttp2_session_del(t->session); /* calls nothing back */
	free(t);
}

void http2_end(struct caller *c)
{
	struct http2 *t = c->http2;
	if (!t)
		return;
	c->http2 = NULL;
	t->caller = NULL;
	struct http2_stream *s, *next;
	DL_FOREACH_SAFE (t->streams, s, next) {
		nghttp2_session_set_stream_user_data(t->session, s->id, NULL);
		stream_free(s);
	}
	if (!t->busy)
		http2_free(t);
}

/* Whether its peer makes us say more than it takes: refusals, say, which nghttp2 keeps whatever they are. */
static bool is_flooded(const struct http2 *t)
{
	return t->caller->out && nghttp2_session_get_outbound_queue_size(t->session) > UNSENT_MAX;
}

/* Read what has come. Returns 1 when there may be more, 0 when there is not, or -1. */
static int receive(struct http2 *t)
{
	uint8_t input[INPUT_SIZE];
	size_t got = 0;
	while (got < HTTP1_TURN_MAX && nghttp2_session_want_read(t->session)) {
		long n = caller_read(t->caller, input, sizeof input);
		if (n <= 0)
			return n < 0 ? -1 : 0;
		got += (size_t)n;
		if (nghttp2_session_mem_recv(t->session, input, (size_t)n) < 0 || !t->caller)
			return -1;
	}
	return nghttp2_session_want_read(t->session);
}

/* Whether a request is under way. */
static bool is_busy(const struct http2 *t)
{
	const struct http2_stream *s;
	DL_FOREACH (t->streams, s)
		if (s->exchange)
			return true;
	return false;
}

/* What is waited for from now on. */
static void await(struct http2 *t, bool more)
{
	struct caller *c = t->caller;
	bool busy = is_busy(t);
	bool is_over = !nghttp2_session_want_read(t->session) &&
		!nghttp2_session_want_write(t->session);
	if ((is_over || (t->leaving && !busy)) && !c->out) {
		http2_end(c);
		caller_linger(c);
		return;
	}
	if (c->limit_ms == 0 && !busy)
		caller_move(c, CALLER_MUX, HTTP1_KEEP_ALIVE_MS);
	caller_watch(c, EPOLLIN | (c->out ? (uint32_t)EPOLLOUT : 0));
	if (more)
		caller_wake(c);
}

void http2_turn(struct caller *c)
{
	struct http2 *t = c->http2;
	struct http2_stream *s;
	t->busy = true;
	int received = receive(t);
	if (t->caller)
		DL_FOREACH (t->streams, s)
			give_body(s);
	int sent = t->caller ? http2_send(t) : -1;
	t->busy = false;
	if (!t->caller)
		http2_free(t);
	else if (received < 0 || sent < 0 || t->doomed || is_flooded(t))
		caller_drop(c);
	else
		await(t, received > 0 || (sent > 0 && !c->out));
}

void http2_leave(struct caller *c)
{
	struct http2 *t = c->http2;
	nghttp2_session_terminate_session(t->session, NGHTTP2_NO_ERROR);
	t->busy = true;
	int sent = http2_send(t);
	t->busy = false;
	if (sent < 0) {
		caller_drop(c);
		return;
	}
	http2_end(c);
	caller_linger(c);
}

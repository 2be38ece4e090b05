/*
 * A piece is read whenever the previous one has been sent, until the descriptor ends; then the
 * answer comes. Descriptors that can block are polled, so that an early answer is received in
 * between: a server that refuses the body answers at once.
 */
#include "ws/client/connect/body_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void fail(struct body_stream *s, int error)
{
	s->error = error;
	s->over = true;
}

static void send_first(struct body_stream *s)
{
	size_t n = s->first_length < BODY_STREAM_PIECE ? s->first_length : BODY_STREAM_PIECE;
	if (!client_call_send(s->call, s->first, n)) {
		fail(s, -ENOMEM);
		return;
	}
	s->first += n;
	s->first_length -= n;
	s->size += n;
}

static void read_piece(struct body_stream *s)
{
	ssize_t n;
	do
		n = read(s->fd, s->piece, sizeof s->piece);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return;
	if (s->pollable)
		uv_poll_stop(&s->poll);
	if (n < 0) {
		s->read_error = -errno;
		s->over = true;
	} else if (!client_call_send(s->call, s->piece, (size_t)n)) {
		fail(s, -ENOMEM);
	}
	s->size += n > 0 ? (uint64_t)n : 0;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status; /* read() reports the error */
	(void)events;
	read_piece(poll->data);
}

static void on_writable(void *user)
{
	struct body_stream *s = user;
	if (s->over)
		return;
	if (s->first_length > 0)
		send_first(s);
	else if (s->pollable)
		uv_poll_start(&s->poll, UV_READABLE, on_readable);
	else
		read_piece(s);
}

static void on_head(void *user, int status, const char *content_type)
{
	struct body_stream *s = user;
	if (s->pollable)
		uv_poll_stop(&s->poll);
	s->answer->status = status;
	snprintf(s->answer->type, sizeof s->answer->type, "%s", content_type);
}

static void on_body(void *user, const void *bytes, size_t length)
{
	struct body_stream *s = user;
	int rc = s->over ? 0 : answer_append(s->answer, bytes, length);
	if (rc < 0)
		fail(s, rc);
}

static void on_done(void *user, int error)
{
	struct body_stream *s = user;
	s->call = NULL;
	if (s->pollable)
		uv_poll_stop(&s->poll);
	if (!s->over)
		fail(s, error);
}

static const struct client_call_callbacks callbacks = {
	.head = on_head, .body = on_body, .writable = on_writable, .done = on_done};

/* Regular files cannot be polled, and never block. */
static void open_poll(struct body_stream *s)
{
	int flags = fcntl(s->fd, F_GETFL);
	s->pollable = uv_poll_init(&s->cli->loop, &s->poll, s->fd) == 0;
	s->poll.data = s;
	/*
	 * libuv sets O_NONBLOCK, which other processes that read the same terminal do not expect.
	 */
	if (flags >= 0)
		fcntl(s->fd, F_SETFL, flags);
}

void body_stream_open(struct body_stream *s, char *path)
{
	open_poll(s);
	int rc = -ENOMEM;
	if (path)
		rc = client_request(s->cli->client,
			&(struct client_request){.method = "PUT", .path = path, .streamed = true},
			&callbacks, s, &s->call);
	if (rc < 0)
		fail(s, rc);
	free(path);
}

void body_stream_close(struct body_stream *s)
{
	if (s->call)
		client_call_cancel(s->call);
	s->call = NULL;
	if (!s->pollable)
		return;
	s->pollable = false;
	uv_close((uv_handle_t *)&s->poll, NULL);
	uv_run(&s->cli->loop, UV_RUN_NOWAIT);
}

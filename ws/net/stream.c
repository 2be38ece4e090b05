/*
 * Server-sent events: an answer that goes on until its handler says that it is complete. HTTP/1.1 gets it
 * in chunks and HTTP/2 in a stream, so that a client can tell its end from a server's that has died.
 *
 * A comment breaks every longer silence: proxies and clients do not take the stream for a dead one, and a
 * reader that has vanished is noticed, for it acknowledges nothing.
 */
#include "shell/clock.h"
#include "ws/net/exchange.h"

#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <utlist.h>

#define END_WITHIN_S 60    /* for what is left to reach the peer's kernel */
#define CHUNK_FRAME_MAX 24 /* bytes around a chunk */

void stream_open(struct exchange *x)
{
	x->streaming = true;
	x->server->options.metrics->streams++;
}

void stream_gone(struct exchange *x)
{
	x->streaming = false;
	x->server->options.metrics->streams--;
}

/* Make `before text after` what is sent next, in a chunk if those are used. Returns 0 or -1. */
static int set_event(struct exchange *x, const char *before, const char *text, const char *after)
{
	bool chunk = !exchange_is_mux(x) && !x->http_1_0;
	size_t length = strlen(before) + strlen(text) + strlen(after);
	size_t size = length + CHUNK_FRAME_MAX;
	char frame[CHUNK_FRAME_MAX] = "";
	x->event = malloc(size);
	if (!x->event)
		return -1;
	if (chunk)
		snprintf(frame, sizeof frame, "%zx\r\n", length);
	x->event_length = (size_t)snprintf(
		x->event, size, "%s%s%s%s%s", frame, before, text, after, chunk ? "\r\n" : "");
	x->sent = 0;
	return 0;
}

/* What tells the end: of a chunked body, of a stream (an empty last piece), or the close alone. */
static int set_end(struct exchange *x)
{
	bool chunked = !exchange_is_mux(x) && !x->http_1_0;
	x->event = strdup(chunked ? "0\r\n\r\n" : "");
	x->event_length = x->event ? strlen(x->event) : 0;
	x->event_is_last = true;
	x->sent = 0;
	return x->event ? 0 : -1;
}

/* Find what is to be sent next. Returns 1, 0 when there is nothing, or -1. */
static int next_event(struct exchange *x)
{
	struct request *r = x->request;
	char *json = x->head_only ? NULL : r->stream.next(r->stream.user);
	int rc;
	if (json)
		rc = set_event(x, "data: ", json, "\n\n");
	else if (x->head_only || r->stream_complete)
		rc = set_end(x);
	else if (x->quiet)
		rc = set_event(x, ":", "", "\n\n");
	else
		return 0;
	free(json);
	return rc < 0 ? -1 : 1;
}

/* The end has been sent. Closing waits for it to leave: what is still here would be lost. */
static int end(struct exchange *x, struct connection *c)
{
	if (lws_partial_buffered(lws_get_network_wsi(x->wsi))) {
		lws_callback_on_writable(x->wsi);
		return 0;
	}
	x->close_after = !exchange_is_mux(x);
	return exchange_finish(x->wsi, c);
}

int stream_send(struct exchange *x, struct connection *c)
{
	if (x->over)
		return end(x, c);
	if (!x->request->stream.next)
		return -1;
	if (!x->event) {
		int rc = next_event(x);
		if (rc <= 0)
			return rc;
	}
	size_t left = x->event_length - x->sent;
	long n = left > 0 || exchange_is_mux(x)
		? exchange_send(x, x->event + x->sent, left, x->event_is_last)
		: 0;
	if (n < 0)
		return -1;
	x->sent += (size_t)n;
	if (x->sent == x->event_length) {
		free(x->event);
		x->event = NULL;
		x->silent = 0;
		x->quiet = false;
		x->over = x->event_is_last;
	}
	if (x->over)
		lws_set_timeout(x->wsi, PENDING_TIMEOUT_HTTP_CONTENT, END_WITHIN_S);
	lws_callback_on_writable(x->wsi);
	return 0;
}

/* Whether something is on its way that the peer's kernel has not acknowledged for long. */
static bool is_dead(const struct exchange *x)
{
	struct lws *wsi = lws_get_network_wsi(x->wsi);
	int bytes = 0;
	return ioctl(lws_get_socket_fd(wsi), SIOCOUTQ, &bytes) == 0 && bytes > 0 &&
		server_last_ack_ms(wsi) > SERVER_ACK_WITHIN_MS;
}

/* Whether the reader's link has expired or been revoked. */
static bool has_no_access(const struct exchange *x, uint64_t now_ms)
{
	const struct principal *p = &x->request->principal;
	return (p->expires_ms > 0 && p->expires_ms <= now_ms) ||
		(p->link[0] && !links_find(&x->server->options.auth->links, p->link));
}

void stream_sweep(struct server *s)
{
	struct exchange *x;
	uint64_t wall = clock_wall_ms();
	unsigned quiet_s = server_quiet_s(s);
	DL_FOREACH (s->exchanges, x) {
		if (!x->streaming)
			continue;
		if (is_dead(x) || has_no_access(x, wall)) {
			server_kill(x->wsi);
		} else if (x->silent++ >= quiet_s && !x->event) {
			x->quiet = true;
			lws_callback_on_writable(x->wsi);
		}
	}
}

/*
 * Server-sent events: an answer that lasts until its handler completes it. It is chunked, so that a client can tell the end
 * from a lost connection.
 *
 * After some silence a comment is sent: proxies and clients do not time out, and a lost reader is noticed, because it
 * acknowledges nothing.
 */
#include "ws/net/conn.h"
#include "ws/net/exchange.h"
#include "ws/net/tcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define CUT_WITHIN_S 5            /* for a reader without access any more to read the last event */
#define DOWNLOAD_WINDOW_MS 60000u /* of the rate check */
#define CHUNK_FRAME_MAX 24        /* bytes around a chunk */

/* Set x->event to before, text and an empty line, as a chunk unless HTTP/1.0. Returns false if memory is short. */
static bool set_event(struct exchange *x, const char *before, const char *text)
{
	bool chunk = !x->http_1_0;
	size_t length = strlen(before) + strlen(text) + 2;
	size_t size = length + CHUNK_FRAME_MAX;
	char frame[CHUNK_FRAME_MAX] = "";
	x->event = malloc(size);
	if (!x->event)
		return false;
	if (chunk)
		snprintf(frame, sizeof frame, "%zx\r\n", length);
	x->event_length = (size_t)snprintf(
		x->event, size, "%s%s%s\n\n%s", frame, before, text, chunk ? "\r\n" : "");
	x->sent = 0;
	return true;
}

/* Set x->event to the last chunk; empty for HTTP/1.0 and HEAD. Returns as set_event(). */
static bool set_end(struct exchange *x)
{
	bool chunked = !x->http_1_0 && !x->head_only;
	x->event = strdup(chunked ? "0\r\n\r\n" : "");
	x->event_length = x->event ? strlen(x->event) : 0;
	x->event_is_last = true;
	x->sent = 0;
	return x->event != NULL;
}

enum conn_step stream_next(struct exchange *x)
{
	struct request *r = x->request;
	char *json = x->head_only ? NULL : r->stream.next(r->stream.user);
	bool set;
	if (json)
		set = set_event(x, "data: ", json);
	else if (x->head_only || r->stream_complete)
		set = set_end(x);
	else if (x->quiet)
		set = set_event(x, ":", "");
	else
		return CONN_STEP_BLOCKED;
	free(json);
	return set ? CONN_STEP_MORE : CONN_STEP_FAILED;
}

void stream_sent(struct exchange *x)
{
	free(x->event);
	x->event = NULL;
	x->silent = 0;
	x->quiet = false;
	if (x->event_is_last)
		exchange_move(x, EXCHANGE_OVER);
}

/* Whether the peer's kernel has not acknowledged sent bytes for too long. */
static bool is_dead(const struct exchange *x)
{
	return tcp_unsent(x->conn->fd) > 0 && tcp_is_dead(x->conn->fd);
}

/* Whether a reader without access any more has not read the last event in time. */
static bool is_cut_off(struct exchange *x)
{
	return x->request->cut && x->cut++ >= CUT_WITHIN_S;
}

/* Whether the peer reads a download slower than BODY_RATE_MIN. Never while the source has no piece. */
static bool is_stuck(struct exchange *x)
{
	uint64_t now_ms = server_now_ms(x->server), ms = now_ms - x->pulled_ms;
	if (x->state != EXCHANGE_DOWNLOADING || (x->piece && ms < DOWNLOAD_WINDOW_MS))
		return false;
	bool stuck = x->piece && bodies_is_slow(ms, 0, x->sent_total - x->pulled_sent);
	x->pulled_ms = now_ms;
	x->pulled_sent = x->sent_total;
	return stuck;
}

/* Check an exchange; it may be freed afterwards. */
static void check_exchange(struct exchange *x)
{
	struct server *s = x->server;
	bool streams = x->state == EXCHANGE_STREAMING;
	if (exchange_body_is_slow(x)) {
		s->options.metrics->body_timeouts++;
		exchange_body_refuse_slow(x);
	} else if (is_stuck(x) || (streams && (is_dead(x) || is_cut_off(x)))) {
		conn_drop(x->conn);
	} else if (streams && x->silent++ >= server_keepalive_s(s) && !x->event) {
		x->quiet = true;
		x->request->transport->more(x);
	}
}

void stream_sweep(struct server *s)
{
	struct exchange *x, *next;
	DL_FOREACH_SAFE (s->exchanges, x, next)
		check_exchange(x);
}

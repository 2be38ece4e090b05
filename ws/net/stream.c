/*
 * Server-sent events: an answer that goes on until its handler says that it is complete. It comes in chunks, so that a
 * client can tell its end from a server's that has died.
 *
 * A comment breaks every longer silence: proxies and clients do not take the stream for a dead one, and a
 * reader that has vanished is noticed, for it acknowledges nothing.
 */
#include "ws/net/caller.h"
#include "ws/net/exchange.h"

#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <utlist.h>

#define CUT_WITHIN_S 5 /* for what is left to be taken, when the reader may have no more */
#define DOWNLOAD_WINDOW_MS 60000u /* how long is looked how much is taken, on average */
#define CHUNK_FRAME_MAX 24        /* bytes around a chunk */

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
	bool chunk = !x->http_1_0;
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

/* What tells the end: of a chunked body, or the close alone. */
static int set_end(struct exchange *x)
{
	bool chunked = !x->http_1_0 && !x->head_only;
	x->event = strdup(chunked ? "0\r\n\r\n" : "");
	x->event_length = x->event ? strlen(x->event) : 0;
	x->event_is_last = true;
	x->sent = 0;
	return x->event ? 0 : -1;
}

int stream_next(struct exchange *x)
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

void stream_sent(struct exchange *x)
{
	free(x->event);
	x->event = NULL;
	x->silent = 0;
	x->quiet = false;
	x->over = x->event_is_last;
	if (!x->over)
		return;
	x->answered_ms = server_now_ms(x->server);
}

/* Whether something is on its way that the peer's kernel has not acknowledged for long. */
static bool is_dead(const struct exchange *x)
{
	int bytes = 0, fd = x->caller->fd;
	return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 &&
		connection_last_ack_of(fd) > CONNECTION_ACK_WITHIN_MS;
}

/* Whether its reader, who may have no more, does not take the end either. */
static bool is_cut_off(struct exchange *x)
{
	return x->request->cut && x->cut++ >= CUT_WITHIN_S;
}

/* Whether the reader of a download takes less than the least. It is not his fault when there is nothing to be taken. */
static bool is_stuck(struct exchange *x)
{
	uint64_t now_ms = server_now_ms(x->server), ms = now_ms - x->pulled_ms;
	if (!x->downloading || x->over || (x->piece && ms < DOWNLOAD_WINDOW_MS))
		return false;
	bool stuck = x->piece && bodies_is_slow(ms, 0, x->sent_total - x->pulled_sent);
	x->pulled_ms = now_ms;
	x->pulled_sent = x->sent_total;
	return stuck;
}

/* Look at one; it may be gone afterwards. */
static void look_at(struct exchange *x)
{
	struct server *s = x->server;
	if (exchange_body_is_slow(x)) {
		s->options.metrics->body_timeouts++;
		upload_break(x->request, UPLOAD_SLOW);
		caller_drop(x->caller);
	} else if (is_stuck(x) || (x->streaming && (is_dead(x) || is_cut_off(x)))) {
		caller_drop(x->caller);
	} else if (x->streaming && x->silent++ >= server_quiet_s(s) && !x->event) {
		x->quiet = true;
		x->request->transport->more(x);
	}
}

void stream_sweep(struct server *s)
{
	struct exchange *x, *next;
	DL_FOREACH_SAFE (s->exchanges, x, next)
		look_at(x);
}

/*
 * libcurl asks for events and a time limit, and this file gives it those of libuv. libcurl's handle of a call cannot be removed
 * from inside its callbacks, so calls that end there are only marked, and removed by sweep().
 */
#include "ws/fleet/node_call.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#define KEEPALIVE_S 10L
#define BUFFER_SIZE (64L << 10)

/* A socket of libcurl. It is freed when its handle has closed. */
struct watched {
	uv_poll_t poll;
	struct node_calls *all;
	curl_socket_t fd;
};

struct node_calls {
	uv_loop_t *loop;
	const char *ca;
	CURLM *multi;
	uv_timer_t timer;
	uv_timer_t sweeper; /* to remove calls that were cancelled in a callback */
	struct node_call *list;
	unsigned depth; /* inside of libcurl */
	unsigned handles;
	bool closing;
};

struct node_call {
	struct node_call *prev, *next;
	struct node_calls *all;
	const struct node_call_callbacks *callbacks;
	void *user;
	CURL *easy;
	struct curl_slist *headers;
	char *body;     /* owned */
	bool cancelled; /* to be removed */
	size_t head_length;
	bool headed;  /* head() has been called */
	bool added;   /* to libcurl */
	bool ended;   /* of a streamed body: all of it has been given */
	bool starved; /* libcurl waits for the next piece */
	bool spent;   /* writable() is due */
	char *piece;  /* of a streamed body; owned */
	size_t piece_length, piece_sent;
};

static void free_call(struct node_call *c)
{
	DL_DELETE(c->all->list, c);
	curl_multi_remove_handle(c->all->multi, c->easy);
	curl_easy_cleanup(c->easy);
	curl_slist_free_all(c->headers);
	free(c->body);
	free(c->piece);
	free(c);
}

/* Outside of libcurl: remove what was cancelled, and report what is over. */
static void sweep(struct node_calls *all);

static void enter(struct node_calls *all)
{
	all->depth++;
}

static void leave(struct node_calls *all)
{
	if (--all->depth == 0 && !all->closing)
		sweep(all);
}

static void on_sweep(uv_timer_t *timer)
{
	sweep(timer->data);
}

static int error_of(const struct node_call *c, CURLcode rc)
{
	long sent = 0;
	switch (rc) {
	case CURLE_OK:
		return 0;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return -EACCES;
	default:
		curl_easy_getinfo(c->easy, CURLINFO_REQUEST_SIZE, &sent);
		return sent > 0 ? -ECONNRESET : -ECONNREFUSED;
	}
}

static void report(struct node_call *c, CURLcode rc)
{
	void (*done)(void *user, int error) = c->callbacks->done;
	void *user = c->user;
	bool cancelled = c->cancelled;
	if (!cancelled)
		done(user, error_of(c, rc));
	free_call(c);
}

static bool add_to_curl(struct node_call *c)
{
	c->added = true;
	return curl_multi_add_handle(c->all->multi, c->easy) == CURLM_OK;
}

static void sweep(struct node_calls *all)
{
	struct node_call *c, *next;
	CURLMsg *m;
	int left;
	if (all->depth > 0)
		return;
	all->depth++; /* callbacks may cancel calls */
	while (!all->closing && (m = curl_multi_info_read(all->multi, &left))) {
		CURLcode rc = m->data.result;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &c);
		report(c, rc);
	}
	for (c = all->list; c && !all->closing; c = next) {
		next = c->next; /* which stays: cancelled calls are freed below */
		bool spent = c->spent && !c->cancelled;
		c->spent = false;
		if (spent)
			c->callbacks->writable(c->user);
	}
	all->depth--;
	DL_FOREACH_SAFE (all->list, c, next)
		if (c->cancelled)
			free_call(c);
		else if (!c->added && !add_to_curl(c))
			report(c, CURLE_OUT_OF_MEMORY);
}

/* Events */

static void on_watched_closed(uv_handle_t *handle)
{
	struct watched *w = handle->data;
	free(w);
}

static void act(struct node_calls *all, curl_socket_t fd, int flags)
{
	int running;
	enter(all);
	curl_multi_socket_action(all->multi, fd, flags, &running);
	leave(all);
}

static void on_event(uv_poll_t *poll, int status, int events)
{
	struct watched *w = poll->data;
	int flags = status < 0 ? CURL_CSELECT_ERR : 0;
	flags |= events & UV_READABLE ? CURL_CSELECT_IN : 0;
	flags |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
	act(w->all, w->fd, flags);
}

static void on_timer(uv_timer_t *timer)
{
	act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int set_timer(CURLM *multi, long ms, void *user)
{
	struct node_calls *all = user;
	(void)multi;
	if (ms < 0)
		uv_timer_stop(&all->timer);
	else /* not from inside, also for 0 */
		uv_timer_start(&all->timer, on_timer, (uint64_t)ms, 0);
	return 0;
}

static void unwatch(struct watched *w)
{
	curl_multi_assign(w->all->multi, w->fd, NULL);
	uv_poll_stop(&w->poll);
	uv_close((uv_handle_t *)&w->poll, on_watched_closed);
}

static struct watched *watch(struct node_calls *all, curl_socket_t fd)
{
	struct watched *w = calloc(1, sizeof *w);
	if (!w || uv_poll_init_socket(all->loop, &w->poll, fd) < 0) {
		free(w);
		return NULL;
	}
	w->poll.data = w;
	w->all = all;
	w->fd = fd;
	curl_multi_assign(all->multi, fd, w);
	return w;
}

static int set_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *of_socket)
{
	struct node_calls *all = user;
	struct watched *w = of_socket;
	int events = 0;
	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (w)
			unwatch(w);
		return 0;
	}
	if (!w)
		w = watch(all, fd);
	if (!w)
		return -1;
	events |= what & CURL_POLL_IN ? UV_READABLE : 0;
	events |= what & CURL_POLL_OUT ? UV_WRITABLE : 0;
	uv_poll_start(&w->poll, events, on_event);
	return 0;
}

/* Callbacks of a transfer */

/* A line of the head; the last one is empty. */
static size_t on_head_line(char *bytes, size_t size, size_t count, void *user)
{
	struct node_call *c = user;
	size_t length = size * count;
	long status = 0;
	c->head_length += length;
	if (c->cancelled || c->head_length > NODE_CALL_HEAD_MAX)
		return 0;
	curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
	bool last = length <= 2 && (bytes[0] == '\r' || bytes[0] == '\n');
	if (last && status >= 200 && !c->headed) {
		c->headed = true;
		c->callbacks->head(c->user, (int)status);
	}
	return c->cancelled ? 0 : length;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *user)
{
	struct node_call *c = user;
	size_t length = size * count;
	if (c->cancelled)
		return 0;
	if (c->callbacks->piece(c->user, bytes, length))
		return c->cancelled ? 0 : length;
	return CURL_WRITEFUNC_PAUSE;
}

static size_t on_wanted(char *to, size_t size, size_t count, void *user)
{
	struct node_call *c = user;
	size_t room = size * count, left = c->piece_length - c->piece_sent;
	if (c->cancelled)
		return CURL_READFUNC_ABORT;
	if (left == 0) {
		c->starved = !c->ended;
		return c->ended ? 0 : CURL_READFUNC_PAUSE;
	}
	size_t length = left < room ? left : room;
	memcpy(to, c->piece + c->piece_sent, length);
	c->piece_sent += length;
	c->spent = c->piece_sent == c->piece_length;
	return length;
}

/* Beginning */

static bool add_header(struct node_call *c, const struct node_call_header *h)
{
	char *line = NULL;
	if (asprintf(&line, "%s: %s", h->name, h->value) < 0)
		return false;
	struct curl_slist *longer = curl_slist_append(c->headers, line);
	free(line);
	c->headers = longer ? longer : c->headers;
	return longer;
}

static int add_headers(struct node_call *c, const struct node_call_request *q)
{
	static const struct node_call_header none = {"Expect", ""};
	for (size_t i = 0; i < q->headers_count; i++) {
		if (strpbrk(q->headers[i].name, "\r\n") || strpbrk(q->headers[i].value, "\r\n"))
			return -EINVAL;
		if (!add_header(c, &q->headers[i]))
			return -ENOMEM;
	}
	/* Without a value libcurl sends no such header. */
	return add_header(c, &none) ? 0 : -ENOMEM;
}

static CURLcode set_body(struct node_call *c, const struct node_call_request *q)
{
	CURL *e = c->easy;
	CURLcode rc = CURLE_OK;
	if (q->streamed) {
		curl_off_t length = q->stream_length == NODE_CALL_UNKNOWN
			? -1
			: (curl_off_t)q->stream_length;
		rc |= curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
		rc |= curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE, length);
		rc |= curl_easy_setopt(e, CURLOPT_READFUNCTION, on_wanted);
		rc |= curl_easy_setopt(e, CURLOPT_READDATA, c);
	} else if (q->body && (q->length > 0 || strcmp(q->method, "GET") != 0)) {
		rc |= curl_easy_setopt(e, CURLOPT_POST, 1L);
		rc |= curl_easy_setopt(e, CURLOPT_POSTFIELDS, c->body);
		rc |= curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->length);
	}
	return rc | curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, q->method);
}

static CURLcode set_options(struct node_call *c, const struct node_call_request *q)
{
	CURL *e = c->easy;
	CURLcode rc = curl_easy_setopt(e, CURLOPT_URL, q->url);
	rc |= curl_easy_setopt(e, CURLOPT_PRIVATE, c);
	rc |= curl_easy_setopt(e, CURLOPT_HTTPHEADER, c->headers);
	rc |= curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	rc |= curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	rc |= curl_easy_setopt(e, CURLOPT_NOPROXY, "*");
	rc |= curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (c->all->ca)
		rc |= curl_easy_setopt(e, CURLOPT_CAINFO, c->all->ca);
	rc |= curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	rc |= curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_head_line);
	rc |= curl_easy_setopt(e, CURLOPT_HEADERDATA, c);
	rc |= curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_bytes);
	rc |= curl_easy_setopt(e, CURLOPT_WRITEDATA, c);
	rc |= curl_easy_setopt(e, CURLOPT_BUFFERSIZE, BUFFER_SIZE);
	/* libcurl repeats any request if a kept connection breaks, but only what changes nothing may be. */
	if (strcmp(q->method, "GET") != 0)
		rc |= curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
	rc |= curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	rc |= curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
	rc |= curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)NODE_CALL_CONNECT_MS);
	rc |= curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
	rc |= curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
	rc |= curl_easy_setopt(e, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_S);
	rc |= curl_easy_setopt(e, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_S);
	if (q->silence_ms > 0) {
		rc |= curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L);
		rc |= curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)(q->silence_ms / 1000));
	}
	return rc | set_body(c, q);
}

int node_call_begin(struct node_calls *all, const struct node_call_request *q,
	const struct node_call_callbacks *callbacks, void *user, struct node_call **ret_call)
{
	struct node_call *c = calloc(1, sizeof *c);
	CURL *easy = c ? curl_easy_init() : NULL;
	if (!easy) {
		free(c);
		return -ENOMEM;
	}
	*c = (struct node_call){.all = all, .callbacks = callbacks, .user = user, .easy = easy};
	DL_APPEND(all->list, c);
	int rc = add_headers(c, q);
	if (rc == 0 && q->body) {
		c->body = malloc(q->length + 1);
		rc = c->body ? 0 : -ENOMEM;
	}
	if (rc == 0 && q->body)
		memcpy(c->body, q->body, q->length);
	/* libcurl takes no handle from inside of its callbacks. */
	bool inside = all->depth > 0;
	if (rc == 0 && (set_options(c, q) != CURLE_OK || (!inside && !add_to_curl(c))))
		rc = -ENOMEM;
	if (rc == 0 && inside)
		uv_timer_start(&all->sweeper, on_sweep, 0, 0);
	if (rc < 0)
		free_call(c);
	else
		*ret_call = c;
	return rc;
}

const char *node_call_header(const struct node_call *c, const char *name)
{
	struct curl_header *h;
	return curl_easy_header(c->easy, name, 0, CURLH_HEADER, -1, &h) == CURLHE_OK ? h->value
										     : NULL;
}

static void go_on(struct node_call *c)
{
	struct node_calls *all = c->all;
	enter(all);
	curl_easy_pause(c->easy, CURLPAUSE_CONT);
	leave(all);
}

void node_call_resume(struct node_call *c)
{
	if (!c->cancelled)
		go_on(c);
}

bool node_call_send(struct node_call *c, const char *bytes, size_t length)
{
	if (c->cancelled)
		return true;
	free(c->piece);
	c->piece = length > 0 ? malloc(length) : NULL;
	if (length > 0 && !c->piece)
		return false;
	if (length > 0)
		memcpy(c->piece, bytes, length);
	c->piece_length = length;
	c->piece_sent = 0;
	c->ended |= length == 0;
	if (c->starved)
		go_on(c);
	return true;
}

void node_call_cancel(struct node_call *c)
{
	struct node_calls *all = c->all;
	c->cancelled = true;
	if (all->depth == 0)
		free_call(c);
	else
		uv_timer_start(&all->sweeper, on_sweep, 0, 0);
}

/* Opening and closing */

static void on_timer_closed(uv_handle_t *handle)
{
	struct node_calls *all = handle->data;
	if (--all->handles == 0)
		free(all);
}

struct node_calls *node_calls_open(uv_loop_t *loop, const char *ca)
{
	struct node_calls *all = calloc(1, sizeof *all);
	CURLM *multi = all && curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_multi_init()
										: NULL;
	if (!multi) {
		free(all);
		return NULL;
	}
	*all = (struct node_calls){.loop = loop, .ca = ca, .multi = multi, .handles = 2};
	uv_timer_init(loop, &all->timer);
	uv_timer_init(loop, &all->sweeper);
	all->timer.data = all->sweeper.data = all;
	curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, all);
	curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(multi, CURLMOPT_TIMERDATA, all);
	curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)NODE_CALL_IDLE_MAX);
	return all;
}

void node_calls_close(struct node_calls *all)
{
	struct node_call *c, *next;
	if (!all)
		return;
	all->closing = true;
	DL_FOREACH_SAFE (all->list, c, next)
		free_call(c);
	curl_multi_cleanup(all->multi);
	uv_close((uv_handle_t *)&all->timer, on_timer_closed);
	uv_close((uv_handle_t *)&all->sweeper, on_timer_closed);
}

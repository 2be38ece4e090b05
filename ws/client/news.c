/* Requests are repeated after pauses that double, until one becomes a stream. */
#include "ws/client/news.h"

#include "ws/net/client.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_MS 200u
#define LAST_MS 10000u

static void on_head(void *user, int status, const char *content_type)
{
	struct news *n = user;
	bool stream = status == 200 && strncmp(content_type, "text/event-stream", 17) == 0;
	n->status = status == 200 && !stream ? 404 : status;
	if (stream)
		n->wait_ms = FIRST_MS;
}

static void on_body(void *user, const void *bytes, size_t length)
{
	struct news *n = user;
	if (n->status == 200)
		events_feed(&n->events, bytes, length, n->message, n->user);
}

/* The server has no such streams, or none for us. Full or starting servers are asked again. */
static bool is_refused(int status)
{
	return status >= 400 && status < 500 && status != 429 && status != 408;
}

static void on_done(void *user, int error);

static const struct client_call_callbacks callbacks = {
	.head = on_head, .body = on_body, .done = on_done};

static void on_retry(uv_timer_t *timer);

static void try_later(struct news *n)
{
	uv_timer_start(&n->retry, on_retry, n->wait_ms, 0);
	n->wait_ms = n->wait_ms * 2 < LAST_MS ? n->wait_ms * 2 : LAST_MS;
}

static void on_done(void *user, int error)
{
	struct news *n = user;
	(void)error; /* a complete stream is opened again as well */
	n->call = NULL;
	events_finish(&n->events);
	n->events = (struct events){0};
	if (!is_refused(n->status))
		try_later(n);
}

static void ask(struct news *n)
{
	n->status = 0;
	if (client_request(n->cli->client,
		    &(struct client_request){
			    .method = "GET", .path = n->path, .accept = "text/event-stream"},
		    &callbacks, n, &n->call) < 0)
		try_later(n);
}

static void on_retry(uv_timer_t *timer)
{
	ask(timer->data);
}

void news_open(struct news *n)
{
	uv_timer_init(&n->cli->loop, &n->retry);
	n->retry.data = n;
}

static void stop(struct news *n)
{
	uv_timer_stop(&n->retry);
	if (n->call)
		client_call_cancel(n->call);
	n->call = NULL;
	events_finish(&n->events);
	n->events = (struct events){0};
	free(n->path);
	n->path = NULL;
}

void news_follow(struct news *n, const char *path)
{
	stop(n);
	n->path = strdup(path);
	n->wait_ms = FIRST_MS;
	if (n->path)
		ask(n);
}

void news_close(struct news *n)
{
	stop(n);
	uv_close((uv_handle_t *)&n->retry, NULL);
}

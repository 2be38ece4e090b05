/*
 * A body of type text/event-stream is parsed as it comes; any other answer is kept as a whole. At
 * the end, error says whether the body ended or broke off.
 */
#include "ws/client/connect/event_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_head(void *user, int status, const char *content_type)
{
	struct event_stream *f = user;
	f->answer.status = status;
	snprintf(f->answer.type, sizeof f->answer.type, "%s", content_type);
	f->streaming = status == 200 && strncmp(content_type, "text/event-stream", 17) == 0;
}

static void on_event(void *user, const char *data, size_t length)
{
	struct event_stream *f = user;
	json_t *event = json_loadb(data, length, 0, NULL);
	if (event)
		f->event(f->user, event);
	json_decref(event);
}

static void on_body(void *user, const void *bytes, size_t length)
{
	struct event_stream *f = user;
	int rc = 0;
	if (!f->streaming)
		rc = answer_append(&f->answer, bytes, length);
	else if (!events_feed(&f->events, bytes, length, on_event, f))
		rc = -ENOMEM;
	if (rc < 0)
		f->error = rc;
}

static void on_done(void *user, int error)
{
	struct event_stream *f = user;
	f->call = NULL;
	f->over = true;
	if (f->error == 0)
		f->error = error;
	if (!f->streaming && error == 0 && f->answer.body)
		f->answer.json = json_loadb(f->answer.body, f->answer.length, 0, NULL);
}

static const struct client_call_callbacks callbacks = {
	.head = on_head, .body = on_body, .done = on_done};

int event_stream_start(struct event_stream *f, const char *method, char *path, json_t *body)
{
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	int rc = -ENOMEM;
	bool good = path && (text || !body);
	json_decref(body);
	if (good)
		rc = client_request(f->cli->client,
			&(struct client_request){.method = method,
				.path = path,
				.body = text,
				.length = text ? strlen(text) : 0},
			&callbacks, f, &f->call);
	free(text);
	free(path);
	return rc;
}

int event_stream_wait(struct event_stream *f)
{
	while (!f->over && f->call)
		uv_run(&f->cli->loop, UV_RUN_ONCE);
	if (f->error < 0)
		return f->error;
	return f->streaming ? 0 : -EPROTO;
}

void event_stream_finish(struct event_stream *f)
{
	if (f->call)
		client_call_cancel(f->call);
	f->call = NULL;
	events_finish(&f->events);
	answer_finish(&f->answer);
}

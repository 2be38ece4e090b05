/*
 * Answers that are streams: of events, as their text or as values; of a file's bytes; and subscriptions, whose stream the
 * caller asks for when it has the answer.
 */
#include "ws/rpc/job_internal.h"
#include "shell/json_read.h"
#include "ws/rpc/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An object that the caller has. */
struct subscription {
	struct job *job; /* NULL once that is over */
	bool opened;     /* its stream has been asked for */
};

/* The type of an event, which stands first in it; its length, 0 where it does not. */
static size_t event_type(const char *json, const char **ret_type)
{
	static const char start[] = "{\"type\":\"";
	if (strncmp(json, start, sizeof start - 1) != 0)
		return 0;
	*ret_type = json + sizeof start - 1;
	size_t length = strcspn(*ret_type, "\"\\");
	return (*ret_type)[length] == '"' ? length : 0;
}

/* An event as text. Returns NULL when it is left out, or memory is short: *ret_failed. */
static char *event_text(
	const struct method_row *row, const char *json, size_t *ret_length, bool *ret_failed)
{
	const char *type = "";
	size_t n = event_type(json, &type);
	char *text = NULL;
	*ret_failed = false;
	if (row->skipped && strlen(row->skipped) == n && strncmp(type, row->skipped, n) == 0)
		return NULL;
	int length = row->named && n > 0
		? asprintf(&text, "event: %.*s\ndata: %s\n\n", (int)n, type, json)
		: asprintf(&text, "data: %s\n\n", json);
	*ret_failed = length < 0;
	if (*ret_failed)
		return NULL;
	*ret_length = (size_t)length;
	return text;
}

static enum rpc_piece give_bytes(
	const void *bytes, size_t length, json_t **ret_piece, size_t *ret_size)
{
	*ret_piece = wire_of_bytes(bytes, length);
	*ret_size = length;
	return *ret_piece ? RPC_PIECE : RPC_BROKEN;
}

static enum rpc_piece next_event(void *user, json_t **ret_piece, size_t *ret_size)
{
	struct job *j = user;
	struct request *r = j->request;
	bool failed;
	char *json;
	if (j->cancelled)
		return RPC_END;
	while ((json = r->stream.next(r->stream.user))) {
		size_t length;
		char *text = event_text(j->row, json, &length, &failed);
		free(json);
		if (failed)
			return RPC_BROKEN;
		j->silent = 0;
		j->quiet = false;
		if (!text)
			continue;
		enum rpc_piece state = give_bytes(text, length, ret_piece, ret_size);
		free(text);
		return state;
	}
	if (r->stream_complete)
		return RPC_END;
	if (!j->quiet)
		return RPC_WAIT;
	j->quiet = false;
	return give_bytes(":\n\n", 3, ret_piece, ret_size);
}

/* Of a download. Nothing can be said in it while there is nothing. */
static enum rpc_piece next_bytes(void *user, json_t **ret_piece, size_t *ret_size)
{
	struct job *j = user;
	const char *bytes;
	size_t length;
	switch (download_next(j->request, &bytes, &length)) {
	case DOWNLOAD_PIECE:
		return give_bytes(bytes, length, ret_piece, ret_size);
	case DOWNLOAD_END:
		return RPC_END;
	case DOWNLOAD_FAILED:
		*ret_piece = json_string("The file cannot be read any further");
		return RPC_BROKEN;
	default:
		return RPC_WAIT;
	}
}

/* The values that events are. */
static enum rpc_piece next_value(void *user, json_t **ret_piece, size_t *ret_size)
{
	struct job *j = user;
	struct request *r = j->request;
	char *text;
	if (j->cancelled)
		return RPC_END;
	while ((text = r->stream.next(r->stream.user))) {
		json_t *event = json_read(text, strlen(text), JSON_ALLOW_NUL, NULL);
		*ret_piece = event ? j->row->event(event, j->id) : NULL;
		*ret_size = strlen(text);
		json_decref(event);
		free(text);
		if (*ret_piece)
			return RPC_PIECE;
	}
	return r->stream_complete ? RPC_END : RPC_WAIT;
}

static void on_flow_closed(void *user)
{
	struct job *j = user;
	j->flow = NULL;
	job_end(j);
}

static void count(struct job *j)
{
	j->counted = true;
	j->all->dispatcher->metrics->streams++;
}

static struct rpc_source source_of(struct job *j)
{
	return (struct rpc_source){.next = j->row->event ? next_value : next_event,
		.closed = on_flow_closed,
		.user = j};
}

/* Subscriptions */

static void subscribe(struct job *j)
{
	struct jobs *all = j->all;
	struct rpc_call *c = j->call;
	struct subscription *s = all->subscriptions < JOB_SUBSCRIPTIONS_MAX ? calloc(1, sizeof *s)
									    : NULL;
	if (!s) {
		job_answer(j, NULL,
			wire_error(
				"Error", "Too many subscriptions are open", "LIMIT_REACHED", NULL));
		return;
	}
	s->job = j;
	j->subscription = s;
	j->call = NULL;
	all->subscriptions++;
	rpc_call_object(c, METHODS_SUBSCRIPTION, s);
	all->due(all->user);
}

/* Its stream ends, or is not begun any more. */
static void cancel(struct subscription *s)
{
	struct job *j = s->job;
	if (!j)
		return;
	if (!j->flow) {
		job_end(j);
		return;
	}
	j->cancelled = true;
	rpc_flow_more(j->flow);
	j->all->due(j->all->user);
}

void job_subscription_forget(struct job *j)
{
	if (j->subscription)
		j->subscription->job = NULL;
}

static enum rpc_piece next_nothing(void *user, json_t **ret_piece, size_t *ret_size)
{
	(void)user;
	(void)ret_piece;
	(void)ret_size;
	return RPC_END;
}

static void on_nothing_closed(void *user)
{
	(void)user;
}

void job_subscription_stream(struct jobs *all, struct rpc_call *c)
{
	static const struct rpc_source nothing = {.next = next_nothing, .closed = on_nothing_closed};
	struct subscription *s = rpc_call_object_of(c);
	struct rpc_flow *flow = NULL;
	if (!s || s->opened) {
		rpc_call_reject(c,
			wire_error("Error",
				s ? "Subscription stream already opened" : "There is no such object",
				NULL, NULL));
		return;
	}
	s->opened = true;
	if (s->job) {
		const struct rpc_source source = source_of(s->job);
		rpc_call_stream(c, &source, NULL, NULL, &s->job->flow);
	} else {
		rpc_call_stream(c, &nothing, NULL, NULL, &flow);
	}
	all->due(all->user);
}

void job_subscription_cancel(struct jobs *all, struct rpc_call *c)
{
	struct subscription *s = rpc_call_object_of(c);
	if (s)
		cancel(s);
	rpc_call_resolve(c, wire_undefined());
	all->due(all->user);
}

void jobs_released(struct jobs *all, void *object)
{
	struct subscription *s = object;
	struct job *j = s->job;
	cancel(s);
	if (j && s->job)
		j->subscription = NULL;
	free(s);
	all->subscriptions--;
}

/* Answers */

void job_stream_events(struct job *j)
{
	struct rpc_call *c = j->call;
	count(j);
	if (j->row->answer == METHOD_SUBSCRIBE) {
		subscribe(j);
		return;
	}
	const struct rpc_source source = source_of(j);
	j->call = NULL;
	rpc_call_stream(c, &source, NULL, NULL, &j->flow);
}

void job_stream_download(struct job *j)
{
	struct jobs *all = j->all;
	struct rpc_call *c = j->call;
	const struct rpc_source source = {.next = next_bytes, .closed = on_flow_closed, .user = j};
	uint64_t length = j->request->download.length;
	json_t *arguments = job_arguments(c);
	json_t *file = methods_file(
		arguments, length == DOWNLOAD_UNKNOWN ? 0 : length, j->request->reply.content_type);
	json_decref(arguments);
	j->call = NULL;
	count(j);
	rpc_call_stream(c, &source, file, "content", &j->flow);
	all->due(all->user);
}

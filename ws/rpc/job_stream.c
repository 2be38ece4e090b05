/* Answers that are streams: server-sent events as text, and downloads as bytes. */
#include "ws/rpc/job_internal.h"
#include "ws/rpc/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Find the type of an event, which must be its first member. Returns its length; 0: not found. */
static size_t event_type(const char *json, const char **ret_type)
{
	static const char start[] = "{\"type\":\"";
	if (strncmp(json, start, sizeof start - 1) != 0)
		return 0;
	*ret_type = json + sizeof start - 1;
	size_t length = strcspn(*ret_type, "\"\\");
	return (*ret_type)[length] == '"' ? length : 0;
}

/* An event as text. Returns NULL if it is left out; *ret_failed: memory is short. */
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
	*ret_piece = wire_from_bytes(bytes, length);
	*ret_size = length;
	return *ret_piece ? RPC_PIECE : RPC_BROKEN;
}

static enum rpc_piece next_event(void *user, json_t **ret_piece, size_t *ret_size)
{
	struct job *j = user;
	struct request *r = j->request;
	bool failed;
	char *json;
	while ((json = r->stream.next(r->stream.user))) {
		size_t length;
		char *text = event_text(j->row, json, &length, &failed);
		free(json);
		if (failed)
			return RPC_BROKEN;
		j->silent = 0;
		j->keepalive_due = false;
		if (!text)
			continue;
		enum rpc_piece state = give_bytes(text, length, ret_piece, ret_size);
		free(text);
		return state;
	}
	if (r->stream_complete)
		return RPC_END;
	if (!j->keepalive_due)
		return RPC_WAIT;
	j->keepalive_due = false;
	return give_bytes(":\n\n", 3, ret_piece, ret_size);
}

/* The next bytes of a download, which has no keepalives. */
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

/* Answers */

void job_stream_events(struct job *j)
{
	struct jobs *all = j->all;
	struct rpc_call *c = j->call;
	const struct rpc_source source = {.next = next_event, .closed = on_flow_closed, .user = j};
	count(j);
	j->call = NULL;
	rpc_call_stream(c, &source, NULL, NULL, &j->flow);
	all->due(all->user);
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

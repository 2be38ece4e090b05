/*
 * A forward is: asking (the answer has not begun), collecting (an answer that is sent whole), streaming or downloading. What
 * ends it (the node's end, an error, the client) comes once: finish() frees it.
 */
#include "ws/fleet/forward.h"

#include "shell/clock.h"
#include "shell/cluster/key.h"
#include "shell/json_read.h"
#include "ws/auth/caller.h"
#include "ws/fleet/event_reader.h"
#include "ws/fleet/target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEADERS_MAX (REQUEST_HEADERS + 8u)
#define STATUS_MISDIRECTED 421
#define STREAM_SILENCE_MS 60000u /* a living stream sends a comment more often */

enum state { ASKING, COLLECTING, STREAMING, DOWNLOADING };

/* Bytes of an answer. */
struct piece {
	char *bytes; /* owned */
	size_t length, size;
};

struct forward {
	struct forward_options options;
	struct request *request; /* our reference */
	struct node_call *call;  /* NULL: over */
	char node[AUTH_NODE_SIZE];
	char *token; /* owned, like target and body */
	char *target, *body;
	enum state state;
	int status;
	bool uploading;             /* the body is received in pieces */
	struct piece whole;         /* collecting */
	struct event_reader events; /* streaming */
	struct piece queue, given;  /* downloading: not asked for yet; handed out */
	bool paused;                /* the node's answer waits for the client */
	bool is_over;               /* the answer has ended, or failed */
	int error;
};

static void free_all(struct forward *f)
{
	event_reader_finish(&f->events);
	free(f->whole.bytes);
	free(f->queue.bytes);
	free(f->given.bytes);
	free(f->token);
	free(f->target);
	free(f->body);
	free(f);
}

/* The request has been answered or abandoned: free f. */
static void finish(struct forward *f)
{
	struct request *r = f->request;
	void (*over)(void *user) = f->options.over;
	void *user = f->options.user;
	r->gone = NULL;
	if (f->call)
		node_call_cancel(f->call);
	free_all(f);
	request_unref(r);
	over(user);
}

static bool append(struct piece *p, const char *bytes, size_t length, size_t most)
{
	if (length > most - p->length)
		return false;
	size_t size = p->size ? p->size : 4096;
	while (size < p->length + length)
		size *= 2;
	if (size > p->size) {
		char *grown = realloc(p->bytes, size);
		if (!grown)
			return false;
		p->bytes = grown;
		p->size = size;
	}
	memcpy(p->bytes + p->length, bytes, length);
	p->length += length;
	return true;
}

/* Errors */

/* Answer that the node cannot be reached. error: of struct node_call_callbacks. */
static void refuse(struct forward *f, int error)
{
	if (error == -ENOMEM)
		reply_error(f->request, "OUT_OF_MEMORY", "Out of memory", NULL);
	else if (error == -ECONNREFUSED || error == -EACCES)
		reply_error(f->request, "NODE_UNREACHABLE",
			error == -EACCES ? "The certificate of the node is not trusted"
					 : "The node cannot be reached",
			json_pack("{s:s}", "node", f->node));
	else
		reply_error(f->request, "NODE_LOST",
			"The connection to the node was lost: the request may have been carried out",
			json_pack("{s:s}", "node", f->node));
}

/* Answering */

/* The headers of an answer that pass, as literals. */
static const char *const passed[] = {"Ringside-Node", "Content-Type", "Set-Cookie", "Retry-After",
	"WWW-Authenticate", "Allow", "ETag", "Last-Modified", "Accept-Ranges", "Content-Range",
	"Content-Disposition", "Content-Security-Policy", "Mcp-Session-Id", "X-Accel-Buffering",
	"Ringside-From", "Ringside-To", "Ringside-Head", "Ringside-End", "Ringside-First",
	"Ringside-Lost", "Ringside-Oldest", "Ringside-Omitted", "Ringside-Screen",
	"Ringside-Version"};

static void pass_headers(struct forward *f, bool type)
{
	size_t left = REPLY_HEADERS_MAX - f->request->reply.headers_count;
	for (size_t i = 0; i < sizeof passed / sizeof *passed && left > 0; i++) {
		const char *value = node_call_header(f->call, passed[i]);
		if (!value || (!type && strcmp(passed[i], "Content-Type") == 0))
			continue;
		reply_header(f->request, passed[i], value);
		left--;
	}
}

static const char *type_of(const struct forward *f)
{
	const char *type = node_call_header(f->call, "Content-Type");
	return type ? type : "";
}

static bool is_json(const struct forward *f)
{
	return strncasecmp(type_of(f), "application/json", 16) == 0;
}

/* The whole answer is there. */
static void give_whole(struct forward *f)
{
	struct request *r = f->request;
	json_t *json = r->wants_json && is_json(f)
		? json_read(f->whole.bytes ? f->whole.bytes : "", f->whole.length, 0, NULL)
		: NULL;
	pass_headers(f, !json && !is_json(f));
	if (json) {
		reply_json(r, f->status, json);
		return;
	}
	char *bytes = f->whole.bytes;
	f->whole.bytes = NULL;
	reply_bytes(r, f->status, is_json(f) ? "application/json" : NULL, bytes ? bytes : "",
		f->whole.length, bytes);
}

/* Events */

static void resume(struct forward *f)
{
	if (!f->paused || !f->call)
		return;
	f->paused = false;
	node_call_resume(f->call);
}

/* The last event of a stream that was lost. */
static char *lost_event(struct forward *f)
{
	f->error = 0;
	return dump_json(json_pack("{s:s, s:s, s:s, s:s}", "type", "error", "code", "NODE_LOST",
		"message", "The connection to the node was lost", "node", f->node));
}

static char *next_event(void *user)
{
	struct forward *f = user;
	char *event = event_reader_next(&f->events);
	if (!event && f->is_over && f->error < 0)
		event = lost_event(f);
	if (event_reader_length(&f->events) < FORWARD_QUEUE_MAX / 2)
		resume(f);
	return event;
}

static void on_closed(void *user)
{
	finish(user);
}

static void begin_stream(struct forward *f)
{
	pass_headers(f, false);
	f->state = STREAMING;
	/* It may close f. */
	reply_stream(f->request,
		&(struct event_stream){.next = next_event, .closed = on_closed, .user = f});
}

/* Downloads */

static enum download_state next_piece(void *user, const char **ret_bytes, size_t *ret_length)
{
	struct forward *f = user;
	struct piece spent = f->given;
	if (f->queue.length == 0) {
		resume(f);
		return !f->is_over ? DOWNLOAD_WAIT : f->error < 0 ? DOWNLOAD_FAILED : DOWNLOAD_END;
	}
	f->given = f->queue;
	f->queue = (struct piece){.bytes = spent.bytes, .size = spent.size};
	*ret_bytes = f->given.bytes;
	*ret_length = f->given.length;
	resume(f);
	return DOWNLOAD_PIECE;
}

static void begin_download(struct forward *f, uint64_t length)
{
	pass_headers(f, true);
	f->state = DOWNLOADING;
	/* It may close f. */
	download_reply(f->request, f->status, NULL, length,
		&(struct download_source){.next = next_piece, .closed = on_closed, .user = f});
}

/* Callbacks of the call */

/* The node does not have the object. */
static void misdirect(struct forward *f)
{
	char owner[AUTH_NODE_SIZE] = "";
	const char *value = node_call_header(f->call, "Ringside-Owner");
	void (*misdirected)(void *user, const char *owner) = f->options.misdirected;
	void *user = f->options.user;
	struct request *r = f->request;
	if (value && key_is_node(value))
		snprintf(owner, sizeof owner, "%s", value);
	node_call_cancel(f->call);
	r->gone = NULL;
	free_all(f);
	misdirected(user, owner);
	request_unref(r);
}

static void on_head(void *user, int status)
{
	struct forward *f = user;
	uint64_t length = DOWNLOAD_UNKNOWN;
	struct request *r = f->request;
	const char *announced = node_call_header(f->call, "Content-Length");
	bool events = strncasecmp(type_of(f), "text/event-stream", 17) == 0;
	bool raw = strncmp(r->path, "/v1/", 4) == 0; /* events of another form */
	bool empty = status == 204 ||
		status == 304; /* RFC 9110 6.4.1: no body, whatever the head says */
	f->status = status;
	if (announced && !params_number(announced, INT64_MAX, &length))
		length = DOWNLOAD_UNKNOWN;
	if (status == STATUS_MISDIRECTED && !f->uploading)
		misdirect(f);
	else if (events && status == 200 && !raw && r->transport && r->transport->streaming)
		begin_stream(f);
	else if (!empty && r->transport && r->transport->downloading &&
		(length == DOWNLOAD_UNKNOWN || length > FORWARD_WHOLE_MAX))
		begin_download(f, length);
	else
		f->state = COLLECTING;
}

/* Nothing of the request has been sent. */
static void give_back(struct forward *f)
{
	char node[AUTH_NODE_SIZE];
	void (*unreachable)(void *user, const char *node) = f->options.unreachable;
	void *user = f->options.user;
	struct request *r = f->request;
	memcpy(node, f->node, sizeof node);
	r->gone = NULL;
	free_all(f);
	unreachable(user, node);
	request_unref(r);
}

/* The answer cannot be passed on. */
static void fail(struct forward *f, int error)
{
	if (f->call)
		node_call_cancel(f->call);
	f->call = NULL;
	f->is_over = true;
	f->error = error;
	if (f->state == STREAMING) {
		reply_stream_complete(f->request);
	} else if (f->state == DOWNLOADING) {
		download_more(f->request);
	} else if (error == -ECONNREFUSED && !f->uploading) {
		give_back(f);
	} else {
		refuse(f, error);
		finish(f);
	}
}

static bool on_piece(void *user, const char *bytes, size_t length)
{
	struct forward *f = user;
	int rc = 0;
	if (f->state == STREAMING) {
		f->paused = event_reader_length(&f->events) > FORWARD_QUEUE_MAX &&
			event_reader_has_next(&f->events);
		if (f->paused)
			return false;
		rc = event_reader_add(&f->events, bytes, length);
		if (rc == 0)
			reply_stream_more(f->request);
	} else if (f->state == DOWNLOADING) {
		f->paused = f->queue.length > 0 && f->queue.length + length > FORWARD_QUEUE_MAX;
		if (f->paused)
			return false;
		rc = append(&f->queue, bytes, length, SIZE_MAX / 4) ? 0 : -ENOMEM;
		if (rc == 0)
			download_more(f->request);
	} else {
		rc = append(&f->whole, bytes, length, FORWARD_REPLY_MAX) ? 0 : -ENOMEM;
	}
	if (rc < 0)
		fail(f, rc);
	return true;
}

static void on_done(void *user, int error)
{
	struct forward *f = user;
	if (error < 0) {
		f->call = NULL; /* it is freed by itself */
		fail(f, error);
		return;
	}
	f->is_over = true;
	if (f->state == STREAMING) {
		f->call = NULL;
		reply_stream_complete(f->request);
	} else if (f->state == DOWNLOADING) {
		f->call = NULL;
		download_more(f->request);
	} else {
		give_whole(f); /* it reads headers of the call */
		f->call = NULL;
		finish(f);
	}
}

/* The body, in pieces */

static void on_writable(void *user)
{
	struct forward *f = user;
	upload_resume(f->request);
}

static void on_upload_piece(void *user, const char *bytes, size_t length)
{
	struct forward *f = user;
	upload_pause(f->request);
	if (!f->call)
		return;
	if (!node_call_send(f->call, bytes, length))
		fail(f, -ENOMEM);
}

static void on_upload_complete(void *user)
{
	struct forward *f = user;
	if (f->call && !node_call_send(f->call, NULL, 0))
		fail(f, -ENOMEM);
}

static void on_upload_broken(void *user, enum upload_end why)
{
	(void)why; /* the node sees that the body is incomplete */
	finish(user);
}

/* The request */

static const struct node_call_callbacks callbacks = {
	.head = on_head, .piece = on_piece, .writable = on_writable, .done = on_done};

static void on_gone(void *user)
{
	finish(user);
}

/* The names of enum request_header. */
static const char *const header_names[REQUEST_HEADERS] = {
	[HEADER_RANGE] = "Range",
	[HEADER_IF_RANGE] = "If-Range",
	[HEADER_IF_MATCH] = "If-Match",
	[HEADER_IF_NONE_MATCH] = "If-None-Match",
	[HEADER_IF_MODIFIED_SINCE] = "If-Modified-Since",
	[HEADER_IF_UNMODIFIED_SINCE] = "If-Unmodified-Since",
	[HEADER_CONTENT_RANGE] = "Content-Range",
	[HEADER_ACCEPT] = "Accept",
	[HEADER_MCP_PROTOCOL_VERSION] = "MCP-Protocol-Version",
	[HEADER_MCP_METHOD] = "Mcp-Method",
	[HEADER_MCP_NAME] = "Mcp-Name",
	[HEADER_MCP_SESSION_ID] = "Mcp-Session-Id",
};

/* Headers in the making. */
struct headers {
	struct node_call_header list[HEADERS_MAX];
	size_t count;
};

static void add(struct headers *h, const char *name, const char *value)
{
	if (value && *value)
		h->list[h->count++] = (struct node_call_header){name, value};
}

static void add_headers(struct headers *h, const struct forward *f)
{
	const struct request *r = f->request;
	bool bridge = strncmp(r->path, "/v1/", 4) == 0;
	bool body = f->uploading || r->body_length > 0 || r->json;
	add(h, "Authorization", f->token);
	add(h, "User-Agent", r->agent);
	add(h, bridge ? "Session-Id" : "X-Session-Id", r->session_header);
	for (size_t i = 0; i < REQUEST_HEADERS; i++)
		add(h, header_names[i], r->headers[i]);
	if (!r->headers[HEADER_ACCEPT])
		add(h, "Accept",
			r->accepts_page             ? "text/html"
				: r->accepts_events ? "text/event-stream"
				: r->accepts_tar    ? "application/x-tar"
						    : "application/json");
	if (body)
		add(h, "Content-Type",
			r->sends_tar                      ? "application/x-tar"
				: r->method == METHOD_PUT ? "application/octet-stream"
							  : "application/json");
}

/* "Bearer TOKEN", for the caller of r. */
static char *make_token(const struct forward *f)
{
	const struct request *r = f->request;
	struct caller caller = {0};
	char *value = NULL;
	if (r->auth == AUTH_OK)
		caller_of(&r->principal, &caller);
	caller.secure = r->secure;
	caller.client = r->caller;
	snprintf(caller.peer, sizeof caller.peer, "%s", r->peer);
	char *token = caller_sign(f->options.auth, &caller, f->node, clock_wall_ms());
	if (token && asprintf(&value, "Bearer %s", token) < 0)
		value = NULL;
	free(token);
	return value;
}

static int send_request(struct forward *f)
{
	const struct request *r = f->request;
	struct headers h = {.count = 0};
	bool live = f->uploading && r->upload.live;
	add_headers(&h, f);
	if (r->json)
		f->body = json_dumps(r->json, JSON_COMPACT);
	if (r->json && !f->body)
		return -ENOMEM;
	const struct node_call_request q = {.method = method_name(r->method),
		.url = f->target,
		.headers = h.list,
		.headers_count = h.count,
		.body = live      ? NULL
			: r->json ? f->body
				  : r->body,
		.length = live    ? 0
			: r->json ? strlen(f->body)
				  : r->body_length,
		.streamed = live,
		.stream_length = live ? upload_length(r) : 0,
		.silence_ms = r->accepts_events ? STREAM_SILENCE_MS : 0};
	f->uploading = live;
	return node_call_begin(f->options.calls, &q, &callbacks, f, &f->call);
}

struct forward *forward_begin(
	const struct forward_options *options, struct request *r, const struct forward_to *to)
{
	struct forward *f = request_alloc(r, sizeof *f);
	if (!f)
		return NULL;
	f->options = *options;
	f->request = request_ref(r);
	f->uploading = r->match.row->upload;
	snprintf(f->node, sizeof f->node, "%s", to->node);
	f->token = make_token(f);
	f->target = target_write(&(struct target){.url = to->url,
		.path = r->path,
		.params = r->params,
		.params_count = r->params_count,
		.node = to->chosen ? to->node : NULL});
	int rc = f->token && f->target ? send_request(f) : -ENOMEM;
	if (rc < 0) {
		reply_error(r, "OUT_OF_MEMORY", "Out of memory", NULL);
		free_all(f);
		request_unref(r);
		return NULL;
	}
	r->gone = on_gone;
	r->gone_user = f;
	if (f->uploading)
		upload_begin(r,
			&(struct upload_sink){.piece = on_upload_piece,
				.complete = on_upload_complete,
				.broken = on_upload_broken,
				.user = f});
	return f;
}

static char *no_event(void *user)
{
	(void)user;
	return NULL;
}

static enum download_state no_piece(void *user, const char **ret_bytes, size_t *ret_length)
{
	(void)user;
	(void)ret_bytes;
	(void)ret_length;
	return DOWNLOAD_FAILED;
}

static void on_nothing(void *user)
{
	(void)user;
}

void forward_cancel(struct forward *f)
{
	struct request *r = f->request;
	if (r->stream.next)
		r->stream = (struct event_stream){.next = no_event, .closed = on_nothing};
	if (r->download.source.next)
		r->download.source = (struct download_source){
			.next = no_piece, .closed = on_nothing};
	finish(f);
}

bool forward_lose(struct forward *f)
{
	bool begun = f->state == STREAMING || f->state == DOWNLOADING;
	if (!f->is_over)
		fail(f, -ECONNRESET);
	return !begun;
}

const char *forward_node(const struct forward *f)
{
	return f->node;
}

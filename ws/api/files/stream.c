/*
 * POST /api/read/stream: a file of any size as events: metadata, chunks, complete. One chunk is
 * read ahead, so a stalled client costs the memory of one chunk. An unreadable file gives one
 * error event.
 */
#include "shell/own_error.h"
#include "ws/api/files/call.h"
#include "ws/api/files/type.h"
#include "ws/api/rows.h"
#include "ws/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the file in a chunk: a multiple of 3, so that only the last one has base64 padding. */
#define CHUNK 65535u

enum stream_state { STREAM_CHUNKS, STREAM_LAST, STREAM_OVER };

struct file_stream {
	struct job job;
	struct file_call *call;
	enum stream_state state;
	struct reply_text event; /* waits for the transport; length 0: none */
	bool busy;               /* the job is on a thread */
	bool closed;             /* the transport has closed */
	bool binary;
	char type[MIME_SIZE];
	uint64_t offset;
	struct text_decoder decoder;
	int error;
	char bytes[CHUNK];
};

static void destroy(struct file_stream *s)
{
	s->call->api->file_streams--;
	reply_text_finish(&s->event);
	file_call_free(s->call);
	free(s);
}

/* Events, as the container sends them */

static void begin(struct file_stream *s, const char *type)
{
	s->event.length = 0;
	reply_text_raw(&s->event, "{\"type\":\"");
	reply_text_raw(&s->event, type);
	reply_text_raw(&s->event, "\"");
}

static void put_error(struct file_stream *s, int error)
{
	char text[PLACE_PATH_MAX + 128];
	bool missing = error == -ENOENT || error == -ENOTDIR || error == -EISDIR || error == -EINVAL;
	snprintf(text, sizeof text, missing ? "File not found: %s" : "%s: %s", s->call->path,
		error_text(error));
	begin(s, "error");
	reply_text_raw(&s->event, ",\"error\":");
	reply_text_cstring(&s->event, text);
	reply_text_raw(&s->event, "}");
}

static void put_metadata(struct file_stream *s)
{
	begin(s, "metadata");
	reply_text_raw(&s->event, ",\"mimeType\":");
	reply_text_cstring(&s->event, s->type);
	reply_text_raw(&s->event, ",\"size\":");
	reply_text_number(&s->event, (unsigned long long)s->call->content.st.st_size);
	reply_text_raw(&s->event, ",\"isBinary\":");
	reply_text_bool(&s->event, s->binary);
	reply_text_raw(
		&s->event, s->binary ? ",\"encoding\":\"base64\"}" : ",\"encoding\":\"utf-8\"}");
}

static void put_complete(struct file_stream *s)
{
	begin(s, "complete");
	reply_text_raw(&s->event, ",\"bytesRead\":");
	reply_text_number(&s->event, s->offset);
	reply_text_raw(&s->event, "}");
}

/* A chunk of text. Returns false if it is only the beginning of a character. */
static bool put_text(struct file_stream *s, size_t mark, size_t length)
{
	char text[TEXT_SIZE(CHUNK)];
	size_t n = length > 0 ? text_decode(&s->decoder, s->bytes + mark, length - mark, text)
			      : text_decode_end(&s->decoder, text);
	begin(s, "chunk");
	reply_text_raw(&s->event, ",\"data\":\"");
	reply_text_escaped(&s->event, text, n);
	reply_text_raw(&s->event, "\"}");
	if (n == 0)
		s->event.length = 0;
	return n > 0;
}

/* On a thread: one event */

static int read_chunk(struct file_stream *s)
{
	size_t length;
	bool has_event = false;
	while (!has_event) {
		int rc = content_read(&s->call->content, s->offset, s->bytes, CHUNK, &length);
		if (rc < 0)
			return rc;
		bool begins = s->offset == 0;
		s->offset += length;
		if (length > 0 && s->binary) {
			begin(s, "chunk");
			reply_text_raw(&s->event, ",\"data\":");
			reply_text_base64(&s->event, s->bytes, length);
			reply_text_raw(&s->event, "}");
			has_event = true;
		} else if (length > 0 || s->decoder.held_count > 0) {
			has_event = put_text(
				s, begins ? file_type_bom_length(s->bytes, length) : 0, length);
		} else {
			put_complete(s);
			s->state = STREAM_LAST;
			has_event = true;
		}
	}
	return 0;
}

static void on_work(struct job *job)
{
	struct file_stream *s = (struct file_stream *)job;
	s->error = read_chunk(s);
}

/* On the loop */

static void on_done(struct job *job, int error)
{
	struct file_stream *s = (struct file_stream *)job;
	s->busy = false;
	if (s->closed) {
		destroy(s);
		return;
	}
	error = error < 0 ? error : s->event.failed ? -ENOMEM : s->error;
	if (error < 0) {
		reply_text_finish(&s->event);
		put_error(s, error);
		s->state = STREAM_LAST;
	}
	if (s->state == STREAM_LAST)
		reply_stream_complete(s->call->request);
	else
		reply_stream_more(s->call->request);
}

static void read_next(struct file_stream *s)
{
	int rc = crew_send(s->call->api->crew, &s->job);
	s->busy = rc == 0;
	if (rc < 0) {
		put_error(s, rc);
		s->state = STREAM_LAST;
		reply_stream_complete(s->call->request);
	}
}

static char *copy_event(const struct file_stream *s)
{
	char *text = malloc(s->event.length + 1);
	if (!text)
		return NULL;
	memcpy(text, s->event.text, s->event.length);
	text[s->event.length] = '\0';
	return text;
}

static char *next(void *user)
{
	struct file_stream *s = user;
	if (s->busy || s->event.length == 0)
		return NULL;
	char *text = copy_event(s);
	if (!text) {
		/* An event must not be skipped: end the stream with an error. */
		reply_text_finish(&s->event);
		put_error(s, -ENOMEM);
		text = copy_event(s);
		s->state = STREAM_LAST;
		s->call->request->stream_complete = true;
	}
	s->event.length = 0;
	if (s->state == STREAM_LAST)
		s->state = STREAM_OVER;
	else
		read_next(s);
	return text;
}

static void on_closed(void *user)
{
	struct file_stream *s = user;
	s->closed = true;
	if (!s->busy)
		destroy(s);
}

/* Begin the stream with the metadata, or with the error. */
static void open_stream(struct file_call *c)
{
	int error = c->error;
	struct request *r = request_ref(c->request);
	bool has_slot = c->api->file_streams < api_share(c->request, FILE_STREAMS_MAX);
	struct file_stream *s = has_slot ? request_alloc(r, sizeof *s) : NULL;
	if (!s) {
		if (!has_slot)
			reply_error(r, "LIMIT_REACHED", "Too many files are being read", NULL);
		file_call_free(c);
		request_unref(r);
		return;
	}
	c->api->file_streams++;
	s->call = c;
	s->job = (struct job){.work = on_work, .done = on_done};
	memcpy(s->job.owner, c->job.owner, sizeof s->job.owner);
	memcpy(s->type, c->type, sizeof s->type);
	s->binary = file_type_is_binary(s->type, NULL);
	s->state = error < 0 ? STREAM_LAST : STREAM_CHUNKS;
	if (error < 0)
		put_error(s, error);
	else
		put_metadata(s);
	reply_stream(r, &(struct event_stream){.next = next, .closed = on_closed, .user = s});
	if (error < 0)
		reply_stream_complete(r);
	request_unref(r);
}

static int open_target(struct file_call *c)
{
	struct content content;
	int rc = content_open(&c->place, c->path, &content);
	if (rc < 0)
		return rc;
	rc = file_type_find(&content, c->path, NULL, 0, c->type);
	if (rc < 0)
		content_close(&content);
	else
		c->content = content;
	return rc;
}

static void read_streaming(struct request *r)
{
	static const struct file_action action = {.operation = "file.read",
		.path = "path",
		.work = open_target,
		.reply = open_stream,
		.replies_errors = true};
	file_call(r, &action);
}

const struct route_row api_file_stream_rows[] = {
	{METHOD_POST, "/api/read/stream", ROUTE_OWNER_OR_TRUSTED, .plain = read_streaming},
	{.path = NULL},
};

/*
 * `ringside mcp`: the Model Context Protocol on standard input and output, for programs that start their
 * servers: each line is posted to /mcp of the running server, and what it answers is printed as lines.
 * Requests run side by side, begun in the order of their lines.
 */
#include "shell/id.h"
#include "ws/client/connect/call.h"
#include "ws/client/command.h"
#include "ws/client/connect/connection.h"
#include "ws/client/connect/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define LINE_MAX_BYTES ((size_t)1 << 20) /* what the server takes */
#define GRACE_MS 1000u
#define INTERNAL_ERROR (-32603)

struct bridge;

/* A line that has been posted. */
struct post {
	struct post *prev, *next;
	struct bridge *bridge;
	struct client_call *call;
	json_t *id; /* that it must be answered by; NULL: it is no request; owned */
	int status;
	bool streaming, answered;
	struct events events;
	char *body; /* of an answer that is no stream; owned */
	size_t length;
};

struct bridge {
	struct cli *cli;
	char path[64];
	struct post *posts; /* under way */
	uv_pipe_t input;
	bool over;
	char *text; /* the line that is coming in; owned */
	size_t length, size;
	bool too_long; /* its rest is dropped */
	char chunk[65536];
};

static void print_line(struct bridge *b, const char *text, size_t length)
{
	/* Line feeds cannot be in it: JSON has them escaped; those between its tokens are blanks as well. */
	for (size_t i = 0; i < length; i++)
		putchar(text[i] == '\n' || text[i] == '\r' ? ' ' : text[i]);
	putchar('\n');
	if (fflush(stdout) != 0)
		b->over = true;
}

static void print_error(struct bridge *b, const json_t *id, const char *message)
{
	json_t *error = json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id, "error",
		"code", INTERNAL_ERROR, "message", message);
	char *text = error ? json_dumps(error, JSON_COMPACT) : NULL;
	if (text)
		print_line(b, text, strlen(text));
	free(text);
	json_decref(error);
}

static void post_free(struct post *p)
{
	DL_DELETE(p->bridge->posts, p);
	events_finish(&p->events);
	json_decref(p->id);
	free(p->body);
	free(p);
}

static void on_head(void *user, int status, const char *content_type)
{
	struct post *p = user;
	p->status = status;
	p->streaming = strncmp(content_type, "text/event-stream", 17) == 0;
}

static void on_event(void *user, const char *data, size_t length)
{
	struct post *p = user;
	json_t *message = json_loadb(data, length, 0, NULL);
	if (p->id && json_equal(json_object_get(message, "id"), p->id) &&
		!json_object_get(message, "method"))
		p->answered = true;
	json_decref(message);
	print_line(p->bridge, data, length);
}

static void on_body(void *user, const void *bytes, size_t length)
{
	struct post *p = user;
	if (p->streaming) {
		events_feed(&p->events, bytes, length, on_event, p);
		return;
	}
	char *body = realloc(p->body, p->length + length + 1);
	if (!body)
		return;
	memcpy(body + p->length, bytes, length);
	p->body = body;
	p->length += length;
}

/* An answer in the protocol's own words is passed on; what is only HTTP's is put into them. */
static void finish_post(struct post *p, int error)
{
	json_t *message = p->length > 0 ? json_loadb(p->body, p->length, 0, NULL) : NULL;
	if (error == 0 && json_object_get(message, "jsonrpc")) {
		print_line(p->bridge, p->body, p->length);
	} else if (error == 0 && json_is_array(message)) {
		print_line(p->bridge, p->body, p->length);
	} else if (p->id && !p->answered && (error != 0 || p->status >= 300)) {
		/* Otherwise it was cancelled, and is not to be answered. */
		const char *text = json_string_value(json_object_get(message, "message"));
		print_error(p->bridge, p->id, text ? text : "The server is lost");
	}
	json_decref(message);
}

static void on_done(void *user, int error)
{
	struct post *p = user;
	finish_post(p, error);
	post_free(p);
}

static const struct client_call_callbacks callbacks = {
	.head = on_head, .body = on_body, .done = on_done};

static void post_line(struct bridge *b, const char *text, size_t length)
{
	json_t *message = json_loadb(text, length, 0, NULL);
	json_t *id = json_object_get(message, "method") ? json_object_get(message, "id") : NULL;
	struct post *p = calloc(1, sizeof *p);
	int rc = -ENOMEM;
	if (p) {
		p->bridge = b;
		p->id = json_incref(id);
		DL_APPEND(b->posts, p);
		rc = client_request(b->cli->client,
			&(struct client_request){.method = "POST",
				.path = b->path,
				.body = text,
				.length = length,
				.accept = "application/json, text/event-stream"},
			&callbacks, p, &p->call);
	}
	if (rc < 0 && id)
		print_error(b, id, "The server cannot be reached");
	if (rc < 0 && p)
		post_free(p);
	json_decref(message);
}

static void end_message(struct bridge *b)
{
	size_t length = b->length;
	if (b->too_long)
		print_error(b, json_null(), "The line is too long");
	while (length > 0 && strchr(" \t\r", b->text[length - 1]))
		length--;
	if (length > 0 && !b->too_long)
		post_line(b, b->text, length);
	b->length = 0;
	b->too_long = false;
}

static bool keep_partial(struct bridge *b, const char *bytes, size_t length)
{
	size_t needed = b->length + length;
	if (needed > LINE_MAX_BYTES)
		return false;
	if (needed > b->size) {
		char *text = realloc(b->text, needed * 2);
		if (!text)
			return false;
		b->text = text;
		b->size = needed * 2;
	}
	if (length > 0)
		memcpy(b->text + b->length, bytes, length);
	b->length = needed;
	return true;
}

static void take_lines(struct bridge *b, const char *p, size_t length)
{
	const char *end = p + length;
	while (p < end) {
		const char *feed = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((feed ? feed : end) - p);
		if (!b->too_long && !keep_partial(b, p, n)) {
			b->too_long = true;
			b->length = 0;
		}
		if (feed)
			end_message(b);
		p += n + 1;
	}
}

static void on_chunk(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct bridge *b = handle->data;
	(void)suggested;
	*buffer = uv_buf_init(b->chunk, sizeof b->chunk);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
	struct bridge *b = stream->data;
	if (n > 0)
		take_lines(b, buffer->base, (size_t)n);
	else if (n < 0)
		b->over = true;
}

/* A key that tells our requests from those of others, for their cancelling. */
static int make_path(struct bridge *b)
{
	return id_hex(b->path + snprintf(b->path, sizeof b->path, "/mcp?stdio="), 33);
}

static void on_grace(uv_timer_t *timer)
{
	bool *over = timer->data;
	*over = true;
}

/* Whoever has closed our input may still want the answers, but not for long. */
static void finish_posts(struct bridge *b)
{
	uv_timer_t timer;
	bool over = false;
	uv_timer_init(&b->cli->loop, &timer);
	timer.data = &over;
	uv_timer_start(&timer, on_grace, GRACE_MS, 0);
	while (b->posts && !over && !ferror(stdout))
		uv_run(&b->cli->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(&b->cli->loop, UV_RUN_NOWAIT);
}

static int run_mcp(struct cli *cli)
{
	static struct bridge b;
	int option;
	while ((option = cli_option(cli, ":", NULL)) != -1)
		if (option == '?')
			return cli->status;
	if (!cli_done(cli))
		return cli->status;
	int rc = connection_open(cli);
	if (rc != 0)
		return rc;
	b = (struct bridge){.cli = cli};
	/* A descriptor of its own: that of others must not become one that does not block. */
	int fd = dup(STDIN_FILENO);
	rc = fd < 0 ? -errno : make_path(&b);
	if (rc < 0)
		return cli_fail(cli, "%s", strerror(-rc));
	uv_pipe_init(&cli->loop, &b.input, 0);
	b.input.data = &b;
	rc = uv_pipe_open(&b.input, fd);
	if (rc == 0)
		rc = uv_read_start((uv_stream_t *)&b.input, on_chunk, on_read);
	while (rc == 0 && !b.over)
		uv_run(&cli->loop, UV_RUN_ONCE);
	finish_posts(&b);
	struct post *p, *next;
	DL_FOREACH_SAFE (b.posts, p, next) {
		if (p->call)
			client_call_cancel(p->call);
		post_free(p);
	}
	uv_close((uv_handle_t *)&b.input, NULL);
	uv_run(&cli->loop, UV_RUN_NOWAIT);
	free(b.text);
	return rc < 0 ? cli_fail(cli, "standard input: %s", strerror(-rc)) : 0;
}

const struct command command_mcp = {
	.name = "mcp",
	.run = run_mcp,
	.arguments = "[OPTIONS]",
	.summary = "Speak the Model Context Protocol on standard input and output",
	.options = "",
};

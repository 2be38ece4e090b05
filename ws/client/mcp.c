/*
 * `ringside mcp`: the Model Context Protocol on standard input and output, for programs that start their
 * servers: each line is posted to /mcp of the running server, and what it answers is printed as lines.
 * Requests run side by side, begun in the order of their lines. What the server has to say of itself, and to ask, comes
 * with answers, and on a stream (ws/client/news.h); what it is answered is a line like any other.
 *
 * A server that goes away is waited for: what it has not got is kept, and so is what may be asked twice (ws/client/again.h).
 * The next one knows us by the same key, and by the client's name, which goes with it.
 */
#include "shell/id.h"
#include "ws/client/again.h"
#include "ws/client/connect/call.h"
#include "ws/client/command.h"
#include "ws/client/connect/connection.h"
#include "ws/client/connect/events.h"
#include "ws/client/input_lines.h"
#include "ws/client/news.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define LINE_MAX_BYTES ((size_t)1 << 20) /* what the server takes */
#define GRACE_MS 1000u
#define RETRY_MS 200u
#define AWAY_MS 60000u /* that a server is waited for: clients give up then, too */
#define POSTS_MAX 512u /* under way, and kept; the server takes as many */
#define CLIENT_MAX 64u /* bytes of a client's name that it takes */
#define INTERNAL_ERROR (-32603)

struct bridge;

/* A line that has been posted. */
struct post {
	struct post *prev, *next;
	struct bridge *bridge;
	struct client_call *call; /* NULL: it is kept until there is a server */
	json_t *message;          /* owned; NULL: it is no JSON */
	json_t *id; /* that it must be answered by, borrowed; NULL: it is no request */
	char *text; /* what is posted, text_length bytes; owned */
	size_t text_length;
	uint64_t away_ms; /* since when there is no server for it; 0: there is one */
	int status;
	bool streaming, answered;
	bool sent;      /* the server may have got it */
	bool cancelled; /* it is not to be answered */
	struct events events;
	char *body; /* of an answer that is no stream; owned */
	size_t length;
};

struct bridge {
	struct cli *cli;
	char *path;         /* owned */
	struct post *posts; /* list, in the order of their lines */
	size_t count;
	uv_timer_t retry; /* runs while some are kept */
	struct news news; /* once the client has initialized */
	uv_pipe_t input;
	bool over;
	struct input_lines lines;
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

static void print_message(struct bridge *b, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	if (text)
		print_line(b, text, strlen(text));
	free(text);
	json_decref(message);
}

static void print_error(struct bridge *b, const json_t *id, const char *message)
{
	print_message(b,
		json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id, "error", "code",
			INTERNAL_ERROR, "message", message));
}

static void post_free(struct post *p)
{
	DL_DELETE(p->bridge->posts, p);
	p->bridge->count--;
	events_finish(&p->events);
	json_decref(p->message);
	free(p->text);
	free(p->body);
	free(p);
}

static void on_head(void *user, int status, const char *content_type)
{
	struct post *p = user;
	p->away_ms = 0;
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

static bool is_method(const json_t *message, const char *method)
{
	const char *name = json_string_value(json_object_get(message, "method"));
	return name && strcmp(name, method) == 0;
}

/* An answer in the protocol's own words is passed on; what is only HTTP's is put into them. */
static void finish_post(struct post *p)
{
	json_t *message = p->length > 0 ? json_loadb(p->body, p->length, 0, NULL) : NULL;
	bool began = is_method(p->message, "initialize") && json_object_get(message, "result");
	if (json_object_get(message, "jsonrpc") || json_is_array(message)) {
		print_line(p->bridge, p->body, p->length);
	} else if (p->id && !p->answered && p->status >= 300) {
		/* Otherwise it was cancelled, and is not to be answered. */
		const char *text = json_string_value(json_object_get(message, "message"));
		print_error(p->bridge, p->id, text ? text : "The server is lost");
	}
	if (began)
		news_follow(&p->bridge->news, p->bridge->path);
	json_decref(message);
}

static void give_up(struct post *p)
{
	const struct client_target *t = &p->bridge->cli->target;
	size_t i;
	json_t *one;
	const char *where = t->socket ? t->socket : t->host;
	if (p->id)
		print_message(p->bridge, again_lost(p->message, p->sent, where));
	else if (!p->message)
		print_error(p->bridge, json_null(), "The server cannot be reached");
	json_array_foreach (p->message, i, one)
		if (json_object_get(one, "id") && json_object_get(one, "method"))
			print_message(p->bridge, again_lost(one, p->sent, where));
	post_free(p);
}

static void on_retry(uv_timer_t *timer);

/* There is no server for it, or none any more. */
static void keep_post(struct post *p, int error)
{
	struct bridge *b = p->bridge;
	uint64_t now = uv_now(&b->cli->loop);
	p->call = NULL;
	p->sent = p->sent || error != -ECONNREFUSED;
	p->away_ms = p->away_ms ? p->away_ms : now;
	if (p->answered || p->cancelled) {
		post_free(p);
		return;
	}
	if ((p->sent && !again_is_safe(p->message)) || now - p->away_ms >= AWAY_MS) {
		give_up(p);
		return;
	}
	events_finish(&p->events);
	free(p->body);
	p->body = NULL;
	p->length = 0;
	p->status = 0;
	p->streaming = false;
	if (!uv_is_active((uv_handle_t *)&b->retry))
		uv_timer_start(&b->retry, on_retry, RETRY_MS, 0);
}

static void on_done(void *user, int error)
{
	struct post *p = user;
	if (error != 0) {
		keep_post(p, error);
		return;
	}
	finish_post(p);
	post_free(p);
}

static const struct client_call_callbacks callbacks = {
	.head = on_head, .body = on_body, .done = on_done};

static void send_post(struct post *p)
{
	int rc = client_request(p->bridge->cli->client,
		&(struct client_request){.method = "POST",
			.path = p->bridge->path,
			.body = p->text,
			.length = p->text_length,
			.accept = "application/json, text/event-stream"},
		&callbacks, p, &p->call);
	if (rc < 0)
		keep_post(p, -ECONNREFUSED);
}

/* text is taken. */
static void set_text(struct post *p, char *text, size_t length)
{
	free(p->text);
	p->text = text;
	p->text_length = length;
}

static void on_retry(uv_timer_t *timer)
{
	struct bridge *b = timer->data;
	struct post *p, *next;
	DL_FOREACH_SAFE (b->posts, p, next) {
		if (p->call)
			continue;
		if (p->sent) {
			again_mark(p->message);
			char *text = json_dumps(p->message, JSON_COMPACT);
			if (text)
				set_text(p, text, strlen(text));
		}
		send_post(p);
	}
}

/* What is cancelled is not sent again. The server is told as well, if it has got it. */
static void cancel_post(struct bridge *b, const json_t *message)
{
	const json_t *id = json_object_get(json_object_get(message, "params"), "requestId");
	struct post *p, *next;
	DL_FOREACH_SAFE (b->posts, p, next) {
		if (!p->id || !json_equal(p->id, id))
			continue;
		p->cancelled = true;
		if (!p->call)
			post_free(p);
	}
}

/* The next server is to know who we are, and what is to be asked of us, without having been told. */
static void name_client(struct bridge *b, const json_t *message)
{
	const json_t *params = json_object_get(message, "params");
	const char *name = json_string_value(
		json_object_get(json_object_get(params, "clientInfo"), "name"));
	const json_t *elicits = json_object_get(
		json_object_get(json_object_get(params, "capabilities"), "elicitation"), "url");
	char *encoded = call_encode(name && strlen(name) <= CLIENT_MAX ? name : "");
	size_t key = strcspn(b->path, "&");
	char *path = NULL;
	if (encoded &&
		asprintf(&path, "%.*s&client=%s%s", (int)key, b->path, encoded,
			elicits ? "&elicits=url" : "") >= 0) {
		free(b->path);
		b->path = path;
	}
	free(encoded);
}

static bool some_are_kept(const struct bridge *b)
{
	const struct post *p;
	DL_FOREACH (b->posts, p)
		if (!p->call)
			return true;
	return false;
}

static struct post *make_post(struct bridge *b, const char *text, size_t length)
{
	struct post *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->bridge = b;
	/* What the server would refuse is the server's to refuse, as it stands. */
	p->message = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	if (json_object_get(p->message, "method"))
		p->id = json_object_get(p->message, "id");
	bool changed = again_prepare(p->message);
	char *copy = changed ? json_dumps(p->message, JSON_COMPACT) : malloc(length + 1);
	if (copy && !changed)
		memcpy(copy, text, length);
	set_text(p, copy, copy && changed ? strlen(copy) : length);
	DL_APPEND(b->posts, p);
	b->count++;
	if (p->text)
		return p;
	post_free(p);
	return NULL;
}

static void post_line(struct bridge *b, const char *text, size_t length)
{
	bool wait = some_are_kept(b);
	struct post *p = make_post(b, text, length);
	if (!p) {
		print_error(b, json_null(), "Out of memory");
		return;
	}
	if (b->count > POSTS_MAX) {
		print_error(b, p->id ? p->id : json_null(), "Too many messages are under way");
		post_free(p);
		return;
	}
	if (is_method(p->message, "notifications/cancelled"))
		cancel_post(b, p->message);
	if (is_method(p->message, "initialize"))
		name_client(b, p->message);
	/* Behind those that are kept, but for what has something to say of one that is not. */
	if (wait && !is_method(p->message, "notifications/cancelled"))
		keep_post(p, -ECONNREFUSED);
	else
		send_post(p);
}

static void on_line(void *user, const char *text, size_t length)
{
	struct bridge *b = user;
	if (!text)
		print_error(b, json_null(), "The line is too long");
	else if (length > 0)
		post_line(b, text, length);
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
		input_lines_feed(&b->lines, buffer->base, (size_t)n, on_line, b);
	else if (n < 0)
		b->over = true;
}

static void on_news(void *user, const char *text, size_t length)
{
	print_line(user, text, length);
}

/* A key that tells our requests from those of others, for their cancelling. */
static int make_path(struct bridge *b)
{
	char key[33];
	int rc = id_hex(key, sizeof key);
	if (rc == 0 && asprintf(&b->path, "/mcp?stdio=%s", key) < 0) {
		b->path = NULL;
		rc = -ENOMEM;
	}
	return rc;
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

/* Until our input ends, and then as long as answers are worth waiting for. Returns 0 or a negative errno. */
static int turn(struct bridge *b)
{
	/* A descriptor of its own: that of others must not become one that does not block. */
	int fd = dup(STDIN_FILENO);
	if (fd < 0)
		return -errno;
	int rc = uv_pipe_open(&b->input, fd);
	if (rc < 0)
		close(fd);
	if (rc == 0)
		rc = uv_read_start((uv_stream_t *)&b->input, on_chunk, on_read);
	while (rc == 0 && !b->over)
		uv_run(&b->cli->loop, UV_RUN_ONCE);
	finish_posts(b);
	return rc;
}

static void close_bridge(struct bridge *b)
{
	struct post *p, *next;
	DL_FOREACH_SAFE (b->posts, p, next) {
		if (p->call)
			client_call_cancel(p->call);
		post_free(p);
	}
	news_close(&b->news);
	uv_close((uv_handle_t *)&b->retry, NULL);
	uv_close((uv_handle_t *)&b->input, NULL);
	uv_run(&b->cli->loop, UV_RUN_NOWAIT);
	input_lines_finish(&b->lines);
	free(b->path);
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
	b = (struct bridge){.cli = cli,
		.lines = {.max = LINE_MAX_BYTES},
		.news = {.cli = cli, .message = on_news, .user = &b}};
	rc = make_path(&b);
	if (rc < 0)
		return cli_fail(cli, "%s", strerror(-rc));
	uv_timer_init(&cli->loop, &b.retry);
	b.retry.data = &b;
	uv_pipe_init(&cli->loop, &b.input, 0);
	b.input.data = &b;
	news_open(&b.news);
	rc = turn(&b);
	close_bridge(&b);
	return rc < 0 ? cli_fail(cli, "standard input: %s", strerror(-rc)) : 0;
}

const struct command command_mcp = {
	.name = "mcp",
	.run = run_mcp,
	.starts = true,
	.arguments = "[OPTIONS]",
	.summary = "Speak the Model Context Protocol on standard input and output",
	.options = "",
};

/*
 * `ringside mcp`: the Model Context Protocol on standard input and output. Each line is posted to
 * /mcp of the running server, and its answers are printed as lines. Requests run in parallel and
 * start in the order of their lines. Notifications and requests of the server come with answers or
 * on a stream (ws/client/news.h).
 *
 * If the server goes away, messages that it has not received, or that may be sent twice
 * (ws/client/resend.h), are kept and sent to the next one. The key and the client's name in the path
 * tell the next server which client this is.
 */
#include "shell/id.h"
#include "ws/client/resend.h"
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

#define LINE_MAX_BYTES ((size_t)1 << 20) /* the server accepts no more */
#define GRACE_MS 1000u                   /* for answers after the end of input */
#define RETRY_MS 200u
#define AWAY_MS 60000u /* how long to wait for a server: clients give up then, too */
#define POSTS_MAX 512u /* under way or kept; the server accepts as many */
#define CLIENT_MAX 64u /* bytes of a client's name that it accepts */
#define INTERNAL_ERROR (-32603)

struct bridge;

/* A line that has been posted. */
struct post {
	struct post *prev, *next;
	struct bridge *bridge;
	struct client_call *call; /* NULL: kept until there is a server */
	json_t *message;          /* owned; NULL: not JSON */
	json_t *id;               /* of a request, borrowed; NULL: needs no answer */
	char *text;               /* the body, text_length bytes; owned */
	size_t text_length;
	uint64_t away_ms; /* loop time since when there is no server; 0: there is one */
	bool streaming, answered;
	bool sent;      /* the server may have received it */
	bool cancelled; /* needs no answer any more */
	struct events events;
	struct answer answer; /* its body: if it is not a stream; owned */
	bool too_long;        /* the answer has more than CALL_ANSWER_MAX bytes */
};

/* Connects standard input and output with /mcp. */
struct bridge {
	struct cli *cli;
	char *path;         /* owned */
	struct post *posts; /* in the order of their lines */
	size_t count;
	uv_timer_t retry; /* runs while posts are kept */
	struct news news; /* from `initialize` on */
	uv_pipe_t input;
	bool over;
	struct input_lines lines;
	char chunk[65536];
};

static void print_line(struct bridge *b, const char *text, size_t length)
{
	/* JSON escapes line feeds in strings; those between tokens may become blanks. */
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
	answer_finish(&p->answer);
	free(p);
}

static void on_head(void *user, int status, const char *content_type)
{
	struct post *p = user;
	p->away_ms = 0;
	p->answer.status = status;
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
	if (answer_append(&p->answer, bytes, length) < 0)
		p->too_long = true;
}

static bool is_method(const json_t *message, const char *method)
{
	const char *name = json_string_value(json_object_get(message, "method"));
	return name && strcmp(name, method) == 0;
}

/* Pass JSON-RPC answers on; turn plain HTTP errors into JSON-RPC errors. */
static void finish_post(struct post *p)
{
	const struct answer *a = &p->answer;
	json_t *message = a->length > 0 ? json_loadb(a->body, a->length, 0, NULL) : NULL;
	bool began = is_method(p->message, "initialize") && json_object_get(message, "result");
	if (json_object_get(message, "jsonrpc") || json_is_array(message)) {
		print_line(p->bridge, a->body, a->length);
	} else if (p->id && p->too_long) {
		print_error(p->bridge, p->id, "The answer is too long");
	} else if (p->id && !p->answered && a->status >= 300) {
		/* A 2xx without an answer: the request was cancelled. */
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
		print_message(p->bridge, resend_failure(p->message, p->sent, where));
	else if (!p->message)
		print_error(p->bridge, json_null(), "The server cannot be reached");
	json_array_foreach (p->message, i, one)
		if (json_object_get(one, "id") && json_object_get(one, "method"))
			print_message(p->bridge, resend_failure(one, p->sent, where));
	post_free(p);
}

static void on_retry(uv_timer_t *timer);

/* There is no server: keep the post for the next one, or answer it with an error. */
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
	if ((p->sent && !resend_is_safe(p->message)) || now - p->away_ms >= AWAY_MS) {
		give_up(p);
		return;
	}
	events_finish(&p->events);
	answer_finish(&p->answer);
	p->too_long = false;
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

/* Takes text. */
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
			resend_mark(p->message);
			char *text = json_dumps(p->message, JSON_COMPACT);
			if (text)
				set_text(p, text, strlen(text));
		}
		send_post(p);
	}
}

/*
 * Do not send a cancelled request again. The server gets the notification too if it has the
 * request.
 */
static void cancel_posts(const struct post *by)
{
	const json_t *id = json_object_get(json_object_get(by->message, "params"), "requestId");
	struct post *p, *next;
	DL_FOREACH_SAFE (by->bridge->posts, p, next) {
		/* A notification with an id of its own must not cancel itself. */
		if (p == by || !p->id || !json_equal(p->id, id))
			continue;
		p->cancelled = true;
		if (!p->call)
			post_free(p);
	}
}

/* Put the name and the abilities of `initialize` into the path, for the next server. */
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

static bool has_kept_posts(const struct bridge *b)
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
	/* Invalid messages are sent as they are; the server refuses them. */
	p->message = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	if (json_object_get(p->message, "method"))
		p->id = json_object_get(p->message, "id");
	bool changed = resend_prepare(p->message);
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
	bool wait = has_kept_posts(b);
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
		cancel_posts(p);
	if (is_method(p->message, "initialize"))
		name_client(b, p->message);
	/* Keep the order behind kept posts; a cancellation may concern one that was sent. */
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

/* The key distinguishes our requests from those of other clients when they are cancelled. */
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

/* After the end of input, wait a moment for the answers. */
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

/* Run until the input ends and the last answers have come. Returns 0 or a negative errno. */
static int run_bridge(struct bridge *b)
{
	/* A descriptor of its own, which is closed with the handle. */
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
	if (!cli_expect_end(cli))
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
	rc = run_bridge(&b);
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

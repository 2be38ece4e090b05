/*
 * POST /v1/sandbox/ID/exec: run words as a command. Its output is sent as named server-sent events:
 * stdout and stderr in base64, then exit. The command is cancelled if the client disconnects, and
 * paused while the client reads slowly.
 *
 * Clients decode each event on its own, so an event contains only whole characters.
 */
#include "ring/utf8.h"
#include "shell/run/run.h"
#include "shell/memory_stream.h"
#include "shell/own_error.h"
#include "shell/quote.h"
#include "ws/api/bridge/sandbox.h"
#include "ws/json/run.h"
#include "ws/api/later/output_queue.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/api/rows.h"
#include "ws/base64.h"
#include "ws/download.h"
#include "ws/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 65536u
#define QUIET_MS 15000u /* without output; then send a comment as a keep-alive */
#define HELD_MAX 3u     /* bytes of an incomplete character */
#define PIECE_MAX (OUTPUT_PIECE_MAX + HELD_MAX)
#define EVENT_SIZE (BASE64_SIZE(PIECE_MAX) + 64)

/* A command. It is freed after the run has ended and the transport has closed. */
struct call {
	struct sandbox_run entry;
	struct api *api;
	struct request *request;  /* our reference */
	struct run *run;          /* NULL after its end */
	struct quota_place place; /* until then */
	uv_timer_t quiet;
	bool open;     /* the transport is open */
	bool ended;    /* the run has ended */
	bool end_sent; /* the last event has been sent */
	int code;
	bool timed_out;
	uint64_t timeout_ms, lost;
	bool comment_due;
	struct output_queue queue;
	char *command;            /* the script and its words; owned */
	const char *words;        /* in command */
	char id[NAME_ID_MAX + 1]; /* of the sandbox */
	struct {
		uint8_t bytes[HELD_MAX];
		size_t length;
	} held[RUN_STREAMS]; /* an incomplete character */
	uint8_t piece[PIECE_MAX];
	char event[EVENT_SIZE];
};

static void on_quiet_closed(uv_handle_t *handle)
{
	struct call *c = handle->data;
	quota_release(&c->place);
	output_queue_finish(&c->queue);
	request_unref(c->request);
	free(c->command);
	free(c);
}

/* The log line of each command, as in ws/api/run.c. */
static void write_log(const struct call *c, const struct run_result *result)
{
	char command[LOG_COMMAND_SIZE], code[16], ms[24];
	log_command(c->words, command);
	snprintf(code, sizeof code, "%d", run_exit_code(result));
	snprintf(ms, sizeof ms, "%" PRIu64, result->duration_us / 1000);
	log_write(result->survivors > 0 ? LOG_WARN : LOG_INFO, "bridge", "exec", "sandbox", c->id,
		"peer", c->request->peer, "principal", typist_author(c->request), "command",
		command, "end", run_end_name(result), "exit", code, "ms", ms, NULL);
}

static void maybe_free(struct call *c)
{
	if (c->run || c->open || uv_is_closing((uv_handle_t *)&c->quiet))
		return;
	sandbox_leave(&c->entry);
	uv_close((uv_handle_t *)&c->quiet, on_quiet_closed);
}

/* The answer */

static enum download_state give_event(
	struct call *c, const char **ret_bytes, size_t *ret_length, int length)
{
	*ret_bytes = c->event;
	*ret_length = (size_t)length;
	uv_timer_again(&c->quiet);
	return DOWNLOAD_PIECE;
}

static int format_output(struct call *c, unsigned stream, const void *bytes, size_t length)
{
	int n = snprintf(c->event, sizeof c->event,
		"event: %s\ndata: ", stream == RUN_STDERR ? "stderr" : "stdout");
	n += (int)base64_encode(bytes, length, c->event + n);
	return n + snprintf(c->event + n, sizeof c->event - (size_t)n, "\n\n");
}

/* Format the whole characters of a piece and keep the rest. Returns the length, or 0. */
static int format_piece(struct call *c, const struct output_piece *p)
{
	size_t length = c->held[p->stream].length;
	memcpy(c->piece, c->held[p->stream].bytes, length);
	memcpy(c->piece + length, p->bytes, p->length);
	length += p->length;
	size_t tail = utf8_incomplete(c->piece, length);
	length -= tail;
	memcpy(c->held[p->stream].bytes, c->piece + length, tail);
	c->held[p->stream].length = tail;
	return length > 0 ? format_output(c, p->stream, c->piece, length) : 0;
}

/* At the end: format an incomplete character. Returns the length of the event, or 0. */
static int format_held(struct call *c)
{
	for (unsigned i = 0; i < RUN_STREAMS; i++) {
		size_t length = c->held[i].length;
		c->held[i].length = 0;
		if (length > 0)
			return format_output(c, i, c->held[i].bytes, length);
	}
	return 0;
}

static int format_end(struct call *c)
{
	char line[64];
	if (c->timed_out) {
		c->timed_out = false;
		int n = snprintf(line, sizeof line, "Command timed out after %" PRIu64 "ms\n",
			c->timeout_ms);
		return format_output(c, RUN_STDERR, line, (size_t)n);
	}
	c->end_sent = true;
	if (c->lost > 0)
		return snprintf(c->event, sizeof c->event,
			"event: error\ndata: {\"error\":\"%" PRIu64
			" bytes of the output are lost\",\"code\":\"exec_error\"}\n\n",
			c->lost);
	return snprintf(
		c->event, sizeof c->event, "event: exit\ndata: {\"exit_code\":%d}\n\n", c->code);
}

static enum download_state next(void *user, const char **ret_bytes, size_t *ret_length)
{
	struct call *c = user;
	struct output_piece *p;
	int length = 0;
	while (length == 0 && (p = output_queue_take(&c->queue)) != NULL) {
		c->lost += p->dropped;
		length = p->dropped > 0 ? 0 : format_piece(c, p);
		free(p);
		if (c->run && c->queue.size <= OUTPUT_QUEUE_LOW)
			run_pause(c->run, false);
	}
	if (length == 0 && c->end_sent)
		return DOWNLOAD_END;
	if (length == 0 && c->ended)
		length = format_held(c);
	if (length == 0 && c->ended)
		length = format_end(c);
	if (length > 0)
		return give_event(c, ret_bytes, ret_length, length);
	if (!c->comment_due)
		return DOWNLOAD_WAIT;
	c->comment_due = false;
	return give_event(c, ret_bytes, ret_length, snprintf(c->event, sizeof c->event, ":\n\n"));
}

static void on_closed(void *user)
{
	struct call *c = user;
	c->open = false;
	output_queue_finish(&c->queue);
	if (c->run)
		run_cancel(c->run, RUN_GRACE_MS);
	maybe_free(c);
}

static void on_quiet(uv_timer_t *timer)
{
	struct call *c = timer->data;
	c->comment_due = c->open;
	if (c->open)
		download_more(c->request);
}

/* The run */

static void on_output(void *user, enum run_stream stream, const void *bytes, size_t length)
{
	struct call *c = user;
	if (!c->open)
		return;
	output_queue_put(&c->queue, stream, bytes, length);
	if (c->queue.size >= OUTPUT_QUEUE_HIGH)
		run_pause(c->run, true);
	download_more(c->request);
}

static void on_done(void *user, const struct run_result *result)
{
	struct call *c = user;
	c->run = NULL;
	quota_release(&c->place);
	c->api->metrics->runs_active--;
	c->api->metrics->run_timeouts += result->timed_out;
	c->ended = true;
	c->code = run_exit_code(result);
	c->timed_out = result->timed_out;
	write_log(c, result);
	sandbox_leave(&c->entry);
	if (c->open)
		download_more(c->request);
	maybe_free(c);
}

/* The sandbox is being deleted. */
static void end_run(struct sandbox_run *entry)
{
	struct call *c = (struct call *)entry;
	if (c->run)
		run_cancel(c->run, RUN_GRACE_MS);
}

/* The command */

/*
 * The shell command: the sandbox's script with the words as arguments, which begin at *ret_words.
 * Returns NULL without memory.
 */
static char *command_of(
	const struct sandbox *s, const json_t *words, size_t *ret_length, size_t *ret_words)
{
	char *text = NULL;
	FILE *to = memory_stream(&text, ret_length);
	if (!to)
		return NULL;
	char enter[PLACE_PATH_MAX + 8];
	snprintf(enter, sizeof enter, "%s.enter", s->root);
	fputs("exec bash ", to);
	quote_put(to, enter);
	fflush(to);
	*ret_words = *ret_length + 1;
	size_t i;
	const json_t *word;
	json_array_foreach (words, i, word) {
		putc(' ', to);
		quote_put(to, json_string_value(word));
	}
	fclose(to);
	return text;
}

/* Returns false after it has answered r. */
static bool check_words(struct request *r, const json_t *words)
{
	size_t i;
	const json_t *word;
	const char *wrong = json_array_size(words) == 0 ? "argv must be a non-empty array"
		: json_array_size(words) > WORDS_MAX    ? "argv must have at most 65536 words"
							: NULL;
	json_array_foreach (words, i, word)
		if (!json_string_value(word) ||
			strlen(json_string_value(word)) != json_string_length(word))
			wrong = "argv must be strings without NUL";
	return !wrong || sandbox_refuse(r, 400, "invalid_request", wrong);
}

struct asked {
	json_t *body;
	struct body_environment env;
	const char *names[BODY_ENV_MAX + 1], *values[BODY_ENV_MAX + 1];
	char cwd[PLACE_PATH_MAX];
	struct run_options options;
};

/* Parse cwd; its default and the variables come from the session. */
static bool parse_place(
	struct request *r, const struct sandbox_session *session, struct asked *asked)
{
	const char *cwd;
	size_t n = 0;
	const char *key;
	json_t *value;
	if (!body_text(r, asked->body, "cwd", &cwd))
		return false;
	snprintf(asked->cwd, sizeof asked->cwd, "%s", session->cwd);
	if (cwd && !sandbox_path(cwd, asked->cwd))
		return sandbox_refuse(r, 403, "invalid_request",
			"cwd must resolve to a location within /workspace");
	json_object_foreach ((json_t *)session->env, key, value) {
		asked->names[n] = key;
		asked->values[n++] = json_string_value(value);
	}
	asked->names[n] = "RINGSIDE_SANDBOX_AT";
	asked->values[n++] = asked->cwd;
	asked->options.env_names = asked->names;
	asked->options.env_values = asked->values;
	asked->options.env_count = n;
	return true;
}

static void refuse_start(struct request *r, int error)
{
	if (error == -ERR_LIMIT)
		sandbox_refuse(r, 429, "capacity_exceeded", "Too many commands run at once");
	else if (error == -E2BIG || error == -EINVAL)
		sandbox_refuse(r, 400, "invalid_request", "The command is too long");
	else
		sandbox_refuse_error(
			r, "exec_transport_error", "The command cannot be started", error);
}

/* command: owned. words: their offset in it. */
static void start(struct request *r, struct sandbox *s, const struct asked *asked, char *command,
	size_t words)
{
	static const struct run_callbacks callbacks = {.output = on_output, .done = on_done};
	struct api *a = api_of(r);
	struct call *c = request_alloc(r, sizeof *c);
	if (!c) {
		free(command);
		return;
	}
	c->api = a;
	c->command = command;
	c->words = command + words;
	memcpy(c->id, s->id, sizeof c->id);
	c->request = request_ref(r);
	c->timeout_ms = asked->options.timeout_ms;
	uv_timer_init(a->sessions->loop, &c->quiet);
	c->quiet.data = c;
	if (!access_acquire(a->access, r, QUOTA_FORKS, &c->place)) {
		maybe_free(c);
		return;
	}
	int rc = run_start(a->runs, &asked->options, &callbacks, c, &c->run);
	if (rc < 0) {
		c->run = NULL;
		refuse_start(r, rc);
		maybe_free(c);
		return;
	}
	a->metrics->runs++;
	a->metrics->runs_active++;
	sandbox_enter(s, &c->entry, end_run);
	uv_timer_start(&c->quiet, on_quiet, QUIET_MS, QUIET_MS);
	c->open = true;
	reply_header(r, "Cache-Control", "no-cache");
	download_reply(r, 200, "text/event-stream", DOWNLOAD_UNKNOWN,
		&(struct download_source){.next = next, .closed = on_closed, .user = c});
}

static void exec_in(struct request *r, struct sandbox *s, void *user)
{
	struct asked *asked = user;
	struct sandbox_session session;
	size_t at;
	asked->body = body_read(r);
	const json_t *words = json_object_get(asked->body, "argv");
	if (!asked->body || !check_words(r, words) || !sandbox_session_of(r, s, &session) ||
		!body_number(r, asked->body, "timeout_ms", 0, BODY_TIME_MAX_MS,
			&asked->options.timeout_ms) ||
		!parse_place(r, &session, asked))
		goto out;
	char *command = command_of(s, words, &asked->options.command_length, &at);
	if (!command) {
		refuse_memory(r);
		goto out;
	}
	asked->options.command = command;
	asked->options.cwd = s->root;
	start(r, s, asked, command, at);
out:
	free(asked);
}

static void exec_words(struct request *r)
{
	if (!sandbox_check_transport(r))
		return;
	struct asked *asked = request_alloc(r, sizeof *asked);
	if (asked)
		sandbox_use(r, exec_in, asked);
}

const struct route_row api_bridge_exec_rows[] = {
	{METHOD_POST, "/v1/sandbox/{}/exec", ROUTE_OWNER, .plain = exec_words},
	{.path = NULL},
};

/*
 * Commands without a session: POST /api/run, and the stateless exec of the Sandbox container's protocol. The answer is
 * one reply with all output, or a stream of events. A command is killed if its client disconnects.
 */
#include "shell/clock.h"
#include "shell/output/inlet.h"
#include "ws/api/api.h"
#include "ws/api/cwd_check.h"
#include "ws/api/read/body.h"
#include "ws/api/inherit.h"
#include "ws/json/run.h"
#include "ws/json/session.h"
#include "ws/api/later/output_queue.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/api/rows.h"
#include "ws/base64.h"
#include "ws/log.h"
#include "ws/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_DEFAULT 24u
#define COLS_DEFAULT 80u

/* The fields of a request; texts are borrowed from its body. */
struct params {
	struct run_options options;
	struct body_environment env;
	unsigned char *input; /* decoded; owned */
	int input_fd;         /* read end of an inlet, or 0; owned */
	bool base64, stream;
	bool container; /* answer in the container's protocol */
};

/* The next event of a stream. */
enum stage { STAGE_START, STAGE_OUTPUT, STAGE_DONE };

/* One command of one request. Freed once the command has ended and the answer is finished. */
struct call {
	struct api *api;
	struct request *request;  /* our reference */
	struct run *run;          /* NULL once it is over */
	struct quota_place place; /* released when run ends */
	bool container, base64;
	bool stream; /* the answer is a stream that has not been closed */
	pid_t pid;
	uint64_t timeout_ms;
	char *command, *cwd; /* owned */
	/* Of a stream: */
	enum stage stage;
	struct output_queue queue;
	struct text_decoder decoders[RUN_STREAMS];
	unsigned decoders_ended;
	bool timed_out;
	uint64_t lost; /* bytes not delivered */
	json_t *end;   /* fields of the last event; NULL while the command runs */
};

static void call_free(struct call *c)
{
	quota_release(&c->place);
	output_queue_finish(&c->queue);
	json_decref(c->end);
	free(c->command);
	free(c->cwd);
	request_unref(c->request);
	free(c);
}

static void write_log(const struct call *c, const struct run_result *result)
{
	const struct request *r = c->request;
	char command[LOG_COMMAND_SIZE], code[16], ms[24], pid[16], survivors[16];
	log_command(c->command, command);
	snprintf(code, sizeof code, "%d", run_exit_code(result));
	snprintf(ms, sizeof ms, "%" PRIu64, result->duration_us / 1000);
	snprintf(pid, sizeof pid, "%d", (int)c->pid);
	snprintf(survivors, sizeof survivors, "%u", result->survivors);
	log_write(result->survivors > 0 ? LOG_WARN : LOG_INFO, "run", "done", "id", pid, "peer",
		r->peer, "principal", typist_author(c->request), "command", command, "cwd", c->cwd,
		"end", run_end_name(result), "exit", code, "ms", ms, "survivors", survivors, NULL);
}

static void format_timeout(const struct call *c, char text[64])
{
	snprintf(text, 64, "Command timed out after %" PRIu64 "ms\n", c->timeout_ms);
}

/* A reply */

static void reply_result(const struct call *c, const struct run_result *result)
{
	json_t *body = json_object();
	bool good = run_output_json(body, result, c->base64);
	char line[64];
	json_object_set_new(body, "command", json_string(c->command));
	if (c->container) {
		json_object_set_new(body, "exitCode", json_integer(run_exit_code(result)));
		json_object_set_new(
			body, "duration", json_integer((json_int_t)(result->duration_us / 1000)));
		format_timeout(c, line);
		if (result->timed_out)
			good &= run_json_add_line(body, "stderr", line);
	} else {
		run_end_json(body, result);
	}
	if (!good) {
		json_decref(body);
		reply_error(c->request, "OUT_OF_MEMORY", "Out of memory for the output", NULL);
		return;
	}
	/* The request succeeds even if the command has failed. */
	json_object_set_new(body, "success", json_boolean(run_exit_code(result) == 0));
	reply_success(c->request, body);
}

/* A stream of events */

static json_t *event(const char *type)
{
	return json_pack("{s:s, s:o}", "type", type, "timestamp", time_json(clock_wall_ms()));
}

static char *data_event(unsigned stream, json_t *data)
{
	json_t *e = event(run_stream_name(stream));
	json_object_set_new(e, "data", data);
	return dump_json(e);
}

/* The event of a piece. NULL if the piece completes no character, or, with *good false, if memory is short. */
static char *piece_event(struct call *c, const struct output_piece *p, bool *good)
{
	struct text_decoder *d = &c->decoders[p->stream];
	if (p->dropped > 0) {
		uint64_t missing = p->dropped + d->held_count;
		c->lost += missing;
		json_t *e = event("truncated");
		json_object_set_new(e, "stream", json_string(run_stream_name(p->stream)));
		json_object_set_new(e, "bytes", json_integer((json_int_t)missing));
		d->held_count = 0;
		return dump_json(e);
	}
	json_t *data = c->base64 ? base64_json(p->bytes, p->length)
				 : text_json(d, p->bytes, p->length, false);
	if (data && json_string_length(data) == 0) {
		json_decref(data);
		return NULL;
	}
	char *text = data ? data_event(p->stream, data) : NULL;
	*good = text != NULL;
	return text;
}

static char *next_output(struct call *c)
{
	struct output_piece *p;
	char *text = NULL;
	while (!text && (p = output_queue_take(&c->queue))) {
		bool good = true;
		text = piece_event(c, p, &good);
		if (!good)
			c->lost += p->length;
		free(p);
	}
	if (c->run && c->queue.size <= OUTPUT_QUEUE_LOW)
		run_pause(c->run, false);
	return text;
}

/* The events after all output: incomplete characters, then the end. */
static char *next_end(struct call *c)
{
	while (c->decoders_ended < RUN_STREAMS) {
		unsigned i = c->decoders_ended++;
		if (c->decoders[i].held_count > 0)
			return data_event(i, text_json(&c->decoders[i], "", 0, true));
	}
	if (c->container && c->timed_out) {
		char line[64];
		c->timed_out = false;
		format_timeout(c, line);
		return data_event(RUN_STDERR, json_string(line));
	}
	json_t *e = event("complete");
	json_object_update(e, c->end);
	json_object_set_new(e, "lost", json_integer((json_int_t)c->lost));
	for (unsigned i = 0; i < RUN_STREAMS; i++)
		if (c->decoders[i].lossy)
			json_object_set_new(e, "lossy", json_true());
	c->stage = STAGE_DONE;
	return dump_json(e);
}

static char *next_event(void *user)
{
	struct call *c = user;
	if (c->stage == STAGE_DONE)
		return NULL;
	if (c->stage == STAGE_START) {
		json_t *e = event("start");
		json_object_set_new(e, "command", json_string(c->command));
		json_object_set_new(e, "pid", json_integer(c->pid));
		c->stage = STAGE_OUTPUT;
		return dump_json(e);
	}
	char *text = next_output(c);
	return text || !c->end ? text : next_end(c);
}

static void on_closed(void *user)
{
	struct call *c = user;
	c->stream = false;
	output_queue_finish(&c->queue);
	if (c->run)
		run_cancel(c->run, RUN_GRACE_MS);
	else
		call_free(c);
}

/* The run */

static void on_output(void *user, enum run_stream stream, const void *bytes, size_t length)
{
	struct call *c = user;
	if (!c->stream)
		return;
	output_queue_put(&c->queue, stream, bytes, length);
	/* A slow reader pauses the command: this stream is its only reader. */
	if (c->queue.size >= OUTPUT_QUEUE_HIGH)
		run_pause(c->run, true);
	reply_stream_more(c->request);
}

static void on_done(void *user, const struct run_result *result)
{
	struct call *c = user;
	c->run = NULL;
	quota_release(&c->place);
	c->request->gone = NULL;
	c->api->metrics->runs_active--;
	c->api->metrics->run_timeouts += result->timed_out;
	write_log(c, result);
	if (!c->request->done)
		reply_result(c, result);
	if (!c->stream) {
		call_free(c);
		return;
	}
	c->timed_out = result->timed_out;
	c->end = json_object();
	run_end_json(c->end, result);
	reply_stream_complete(c->request); /* may close it, and free c */
}

/* The client disconnected before the answer. */
static void on_gone(void *user)
{
	struct call *c = user;
	run_cancel(c->run, RUN_GRACE_MS);
}

static void on_started(void *user, pid_t pid)
{
	struct call *c = user;
	c->pid = pid;
}

static const struct run_callbacks run_callbacks = {
	.started = on_started, .output = on_output, .done = on_done};

static void reply_refusal(struct request *r, const struct run_options *o, int error)
{
	if (o->cwd && refuse_if_directory(r, &o->found, o->cwd, error))
		return;
	switch (error) {
	case -EXDEV:
		refuse_directory_not_in_sandbox(r, o->cwd);
		break;
	case -ENXIO:
		reply_invalid(r, "stdinFrom", "There is no such input, or it is already in use",
			"not_found");
		break;
	case -E2BIG:
		reply_invalid(r, "env", "The environment is too large for execve()", "invalid");
		break;
	default:
		refuse_run(r, "The command", error);
	}
}

static void start_run(struct api *a, struct request *r, const struct params *params)
{
	const struct run_options *o = &params->options;
	if (refuse_if_draining(r, a->sessions))
		return;
	struct call *c = calloc(1, sizeof *c);
	int rc = -ENOMEM;
	if (!c)
		goto err_reply;
	c->api = a;
	c->request = request_ref(r);
	if (!access_acquire(a->access, r, QUOTA_FORKS, &c->place)) {
		call_free(c);
		return;
	}
	c->container = params->container;
	c->base64 = params->base64;
	c->stream = params->stream;
	c->timeout_ms = o->timeout_ms;
	c->command = strdup(o->command);
	c->cwd = strdup(o->cwd);
	if (c->command && c->cwd)
		rc = run_start(a->runs, o, &run_callbacks, c, &c->run);
	if (rc < 0) {
		call_free(c);
		goto err_reply;
	}
	a->metrics->runs++;
	a->metrics->runs_active++;
	if (c->stream) {
		reply_stream(r,
			&(struct event_stream){.next = next_event, .closed = on_closed, .user = c});
	} else {
		r->gone = on_gone;
		r->gone_user = c;
	}
	return;
err_reply:
	reply_refusal(r, o, rc);
}

/* The request */

/* Parse a field that is one of two words; the first is the default. Returns false if r has been answered. */
static bool parse_choice(struct request *r, const json_t *body, const char *field,
	const char *const words[2], bool *ret_second)
{
	char message[64];
	const char *word;
	if (!body_text(r, body, field, &word))
		return false;
	*ret_second = word && strcmp(word, words[1]) == 0;
	if (!word || *ret_second || strcmp(word, words[0]) == 0)
		return true;
	snprintf(message, sizeof message, "Must be %s or %s", words[0], words[1]);
	return reply_invalid(r, field, message, "invalid");
}

/* Parse the fields of both protocols: command, cwd, env, timeoutMs. */
static bool parse_common(struct api *a, struct request *r, const json_t *body, struct params *params)
{
	struct run_options *o = &params->options;
	if (!body_command(r, body, &o->command, &o->command_length) ||
		!body_text(r, body, "cwd", &o->cwd) ||
		!body_environment(r, body, "env", &params->env) ||
		!body_number(r, body, "timeoutMs", 0, BODY_TIME_MAX_MS, &o->timeout_ms))
		return false;
	if (!body_absolute(r, o->cwd))
		return false;
	if (o->cwd)
		o->found = r->directory;
	else
		o->cwd = a->sessions->config.cwd;
	o->env_names = params->env.names;
	o->env_values = params->env.values;
	o->env_count = params->env.count;
	return true;
}

/* Take the read end of the inlet `id` as standard input. */
static bool open_inlet(struct request *r, const char *id, struct params *params)
{
	struct run_options *o = &params->options;
	struct inlet *i = inlet_find(api_of(r)->inlets, id);
	int fd = i ? inlet_reader(i) : -ENOENT;
	if (fd < 0) {
		reply_refusal(r, o, fd == -ENOENT ? -ENXIO : fd);
		return false;
	}
	o->input_fd = params->input_fd = fd;
	return true;
}

static bool parse_input(struct request *r, const json_t *body, struct params *params)
{
	struct run_options *o = &params->options;
	const json_t *text = json_object_get(body, "stdin");
	const char *base64, *from;
	if (!body_text(r, body, "stdinBase64", &base64) || !body_text(r, body, "stdinFrom", &from))
		return false;
	if (from && (text || base64))
		return reply_invalid(
			r, "stdinFrom", "Cannot be combined with stdin or stdinBase64", "invalid");
	if (from && !open_inlet(r, from, params))
		return false;
	if (json_is_null(text))
		text = NULL;
	if (text && (!json_is_string(text) || base64))
		return reply_invalid(r, "stdin",
			base64 ? "Cannot be combined with stdinBase64" : "Must be a string",
			"invalid");
	if (text) {
		o->input = json_string_value(text);
		o->input_length = json_string_length(text);
	} else if (base64) {
		o->input = params->input = base64_decode(base64, &o->input_length);
		if (!params->input)
			return reply_invalid(r, "stdinBase64", "Must be base64", "invalid");
	}
	return true;
}

static bool parse_output_options(struct request *r, const json_t *body, struct params *params)
{
	static const char *const streams[] = {"terminals", "pipes"};
	static const char *const encodings[] = {"text", "base64"};
	struct run_options *o = &params->options;
	uint64_t rows = ROWS_DEFAULT, cols = COLS_DEFAULT, most = RUN_OUTPUT_DEFAULT;
	bool pipes;
	if (!parse_choice(r, body, "streams", streams, &pipes) ||
		!parse_choice(r, body, "encoding", encodings, &params->base64) ||
		!body_number(r, body, "rows", 1, PRESENCE_SIDE_MAX, &rows) ||
		!body_number(r, body, "cols", 1, PRESENCE_SIDE_MAX, &cols) ||
		!body_number(r, body, "maxOutput", 0, RUN_OUTPUT_MAX, &most) ||
		!body_flag(r, body, "stream", &params->stream))
		return false;
	o->terminals = !pipes;
	o->rows = (unsigned)rows;
	o->cols = (unsigned)cols;
	/* A stream sends all output in events and keeps none. */
	o->output_max = params->stream ? 0 : (size_t)most;
	return true;
}

void api_run_body(struct api *a, struct request *r, json_t *body, const struct inherited *inherited)
{
	struct params params = {.input = NULL};
	if (inherited) {
		params.options.preamble = inherited->preamble;
		params.options.preamble_length = inherited->preamble_length;
	}
	if (parse_common(a, r, body, &params) && parse_output_options(r, body, &params) &&
		parse_input(r, body, &params)) {
		if (inherited && inherited->cwd && !json_object_get(body, "cwd")) {
			params.options.cwd = inherited->cwd;
			params.options.found = r->directory;
		}
		start_run(a, r, &params);
	}
	free(params.input);
	if (params.input_fd > 0)
		close(params.input_fd);
}

static void run_after_check(struct api *a, struct request *r, json_t *body)
{
	api_run_body(a, r, body, NULL);
}

static void run_command(struct request *r)
{
	cwd_check_body(api_of(r), r, run_after_check);
}

void api_execute_run(struct api *a, struct request *r, json_t *body, bool stream)
{
	struct params params = {.container = true, .stream = stream};
	params.options.output_max = stream ? 0 : RUN_OUTPUT_DEFAULT;
	if (parse_common(a, r, body, &params))
		start_run(a, r, &params);
}

const struct route_row api_run_rows[] = {
	{METHOD_POST, "/api/run", ROUTE_OWNER, .plain = run_command},
	{.path = NULL},
};

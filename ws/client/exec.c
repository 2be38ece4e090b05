/*
 * `ringside exec`: a command in the shell of a session. It has a key, so that asking again after the server
 * was lost gives the same command and not a second one; its output is followed from its beginning, and what
 * has been printed already is dropped.
 */
#include "ws/client/connect/call.h"
#include "ws/client/command.h"
#include "ws/client/connect/connection.h"
#include "ws/client/connect/follow.h"
#include "ws/client/connect/interrupt.h"
#include "ws/client/connect/sink.h"
#include "ws/client/connect/words.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define PATIENCE_MS 30000u /* for a server that is away */
#define PAUSE_FIRST_MS 50u
#define PAUSE_MAX_MS 1000u

enum {
	OPT_PIPES = 256,
	OPT_TERMINALS,
	OPT_CWD,
	OPT_ENV,
	OPT_QUEUE,
	OPT_ISOLATE,
	OPT_KEY,
	OPT_AUTHOR,
	OPT_TIMEOUT = 't',
	OPT_INPUT = 'i',
	OPT_DETACH = 'd',
};

static const struct option options[] = {
	{"pipes", no_argument, NULL, OPT_PIPES},
	{"terminals", no_argument, NULL, OPT_TERMINALS},
	{"cwd", required_argument, NULL, OPT_CWD},
	{"env", required_argument, NULL, OPT_ENV},
	{"queue", no_argument, NULL, OPT_QUEUE},
	{"isolate", no_argument, NULL, OPT_ISOLATE},
	{"key", required_argument, NULL, OPT_KEY},
	{"author", required_argument, NULL, OPT_AUTHOR},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{"stdin", no_argument, NULL, OPT_INPUT},
	{"detach", no_argument, NULL, OPT_DETACH},
	{0},
};

struct job {
	struct line *line;
	const char *session;
	json_t *body, *env; /* owned */
	bool input, detach;
	char id[160];
	char cursor[80]; /* behind what has come: from there on another stream goes on */
	uint64_t lost;   /* bytes of output that have not come */
	struct sink sink;
	json_t *end; /* the exec, once it has ended; owned */
	struct interrupt interrupt;
	struct client_call *cancel; /* under way */
	struct follow *following;   /* NULL: nothing is */
	bool server_lost;           /* and found again */
};

/* Options */

static int take_option(struct line *l, struct job *j, int option)
{
	uint64_t ms;
	static const struct {
		int option;
		const char *field;
	} texts[] = {{OPT_CWD, "cwd"}, {OPT_KEY, "key"}, {OPT_AUTHOR, "author"}};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].option == option)
			return json_object_set_new(j->body, texts[i].field, json_string(optarg)) == 0
				? 0
				: line_usage(l, "--%s is not UTF-8", texts[i].field);
	switch (option) {
	case OPT_ENV:
		return line_variable(j->env, optarg) ? 0 : line_usage(l, "--env is NAME=VALUE");
	case OPT_TIMEOUT:
		if (!line_seconds(optarg, &ms) || ms == 0)
			return line_usage(l, "--timeout is a number of seconds");
		return json_object_set_new(j->body, "timeoutMs", json_integer((json_int_t)ms));
	case OPT_PIPES:
	case OPT_TERMINALS:
		return json_object_set_new(j->body, "streams",
			json_string(option == OPT_PIPES ? "pipes" : "terminals"));
	case OPT_QUEUE:
		return json_object_set_new(j->body, "queue", json_true());
	case OPT_ISOLATE:
		return json_object_set_new(j->body, "isolate", json_true());
	case OPT_INPUT:
		j->input = true;
		return 0;
	default:
		j->detach = true;
		return 0;
	}
}

static void make_key(char key[40])
{
	unsigned char bytes[16];
	int n = snprintf(key, 40, "cli-");
	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		memset(bytes, 0, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		n += snprintf(key + n, 40 - (size_t)n, "%02x", bytes[i]);
}

static int take_options(struct line *l, struct job *j)
{
	int option, rc = 0;
	while (rc == 0 && (option = line_option(l, "+:t:id", options)) != -1)
		rc = option == '?' ? l->status : take_option(l, j, option);
	return rc;
}

static int take(struct line *l, struct job *j)
{
	char key[40];
	int rc = take_options(l, j);
	if (rc != 0)
		return rc;
	j->session = line_argument(l);
	if (!j->session)
		return line_usage(l, "in which session?");
	/* Those behind the session, up to the command, are ours as well. */
	rc = take_options(l, j);
	if (rc != 0)
		return rc;
	char *command = words_command(l);
	if (!command)
		return l->status;
	json_object_set_new(j->body, "command", json_string(command));
	free(command);
	if (!json_object_get(j->body, "key")) {
		make_key(key);
		json_object_set_new(j->body, "key", json_string(key));
	}
	if (json_object_size(j->env) > 0)
		json_object_set(j->body, "env", j->env);
	json_object_set_new(j->body, "yieldMs", json_integer(0));
	if (!j->detach && !l->json)
		json_object_set_new(j->body, "hold", json_true());
	return 0;
}

/* Patience: a server that was killed comes back, and its commands with it. */

struct patience {
	unsigned waited_ms, pause_ms;
};

/* Whether it is worth trying again; if so, after a pause. */
static bool try_again(struct line *l, struct patience *p, int rc)
{
	if ((rc != -ECONNREFUSED && rc != -ECONNRESET) || p->waited_ms >= PATIENCE_MS)
		return false;
	do {
		p->pause_ms = p->pause_ms == 0 ? PAUSE_FIRST_MS : p->pause_ms * 2;
		if (p->pause_ms > PAUSE_MAX_MS)
			p->pause_ms = PAUSE_MAX_MS;
		usleep(p->pause_ms * 1000);
		p->waited_ms += p->pause_ms;
		uv_run(&l->loop, UV_RUN_NOWAIT); /* Ctrl-C */
	} while (connection_probe(l) < 0 && p->waited_ms < PATIENCE_MS);
	return true;
}

static bool follow_again(struct job *j, struct patience *p, int rc)
{
	bool again = try_again(j->line, p, rc);
	j->server_lost = j->server_lost || again;
	return again;
}

static int lost(struct line *l, int rc)
{
	return line_fail(l, "the server is lost, the command may go on: %s",
		rc == -EPROTO ? "it answers strangely" : strerror(-rc));
}

/* Cancelling */

static void on_cancel_head(void *user, int status, const char *content_type)
{
	(void)user;
	(void)status;
	(void)content_type;
}

static void on_cancel_body(void *user, const void *bytes, size_t length)
{
	(void)user;
	(void)bytes;
	(void)length;
}

static void on_cancel_done(void *user, int error)
{
	struct job *j = user;
	(void)error; /* whether it has ended, the stream tells */
	j->cancel = NULL;
	/* All was tried. Without a reader there is nothing to wait for any more. */
	if (j->sink.error < 0 && j->following)
		j->following->over = true;
}

static const struct client_call_callbacks cancel_callbacks = {
	.head = on_cancel_head, .body = on_cancel_body, .done = on_cancel_done};

/* By the ladder; asked a second time, at once. */
static void cancel(struct job *j, bool at_once)
{
	const char *body = at_once ? "{\"signal\":\"KILL\"}" : "{}";
	char *path = call_path(j->session, "/exec/%s/cancel", j->id);
	if (j->cancel)
		client_call_cancel(j->cancel);
	j->cancel = NULL;
	if (path && j->id[0])
		client_request(j->line->client,
			&(struct client_request){
				.method = "POST", .path = path, .body = body, .length = strlen(body)},
			&cancel_callbacks, j, &j->cancel);
	free(path);
}

static void on_interrupted(void *user, int signo)
{
	struct job *j = user;
	if (j->interrupt.count >= 3 || !j->id[0])
		_exit(128 + signo);
	cancel(j, j->interrupt.count == 2);
}

/* Following */

static void on_event(void *user, const json_t *event)
{
	struct job *j = user;
	const json_t *data = json_object_get(event, "data");
	const char *type = json_string_value(json_object_get(event, "type"));
	const char *cursor = json_string_value(json_object_get(event, "cursor"));
	if (!type)
		return;
	bool error = strcmp(type, "stderr") == 0;
	if (strcmp(type, "output") == 0 || strcmp(type, "stdout") == 0 || error)
		sink_put(&j->sink, error ? SINK_ERR : SINK_OUT, data, strcmp(type, "output") == 0);
	else if (strcmp(type, "truncated") == 0)
		j->lost += (uint64_t)json_integer_value(json_object_get(event, "bytes"));
	else if (strcmp(type, "end") == 0)
		j->end = json_incref((json_t *)data);
	if (cursor) {
		snprintf(j->cursor, sizeof j->cursor, "%s", cursor);
		sink_mark(&j->sink);
	}
	if (j->sink.error < 0 && j->interrupt.count == 0) {
		/* Nobody reads: what Ctrl-C does, as a broken pipe would have done to a command of our own. */
		j->interrupt.count = 1;
		cancel(j, false);
	}
}

static int follow(struct job *j)
{
	struct line *l = j->line;
	struct patience patience = {0};
	int rc;
	do {
		struct follow f = {.line = l, .event = on_event, .user = j};
		sink_restart(&j->sink);
		j->following = &f;
		rc = follow_start(&f, "GET",
			call_path(j->session, "/exec/%s/stream?format=base64%s%s", j->id,
				j->cursor[0] ? "&cursor=" : "", j->cursor),
			NULL);
		if (rc == 0)
			rc = follow_wait(&f);
		if (f.streaming)
			patience = (struct patience){0};
		bool refused = rc == -EPROTO && f.answer.json;
		if (refused)
			call_complain(l, &f.answer);
		j->following = NULL;
		follow_finish(&f);
		if (refused)
			return l->status;
		/* A stream without an end is one that broke off, however politely. */
		rc = rc == 0 ? -ECONNRESET : rc;
	} while (!j->end && j->sink.error == 0 && follow_again(j, &patience, rc));
	sink_end(&j->sink);
	return j->end || j->sink.error < 0 ? 0 : lost(l, rc);
}

/* Or wait for the end alone, with all the output in it. */
static int await(struct job *j)
{
	struct line *l = j->line;
	struct patience patience = {0};
	for (;;) {
		struct answer a;
		int rc = call_try(
			l, "GET", call_path(j->session, "/exec/%s?waitMs=60000", j->id), NULL, &a);
		if (rc < 0 && follow_again(j, &patience, rc))
			continue;
		if (rc < 0)
			return lost(l, rc);
		patience = (struct patience){0};
		json_t *data = json_object_get(a.json, "data");
		const char *state = json_string_value(json_object_get(data, "state"));
		if (a.status != 200) {
			call_complain(l, &a);
			answer_finish(&a);
			return l->status;
		}
		if (state && strcmp(state, "done") == 0)
			j->end = json_incref(data);
		answer_finish(&a);
		if (j->end)
			return 0;
	}
}

static int submit(struct job *j)
{
	struct line *l = j->line;
	struct answer a;
	struct patience patience = {0};
	int rc;
	do
		rc = call_try(l, "POST", call_path(j->session, "/exec"), json_incref(j->body), &a);
	while (rc < 0 && try_again(l, &patience, rc));
	if (rc < 0)
		return lost(l, rc);
	if (a.status == 200) {
		json_t *data = json_object_get(a.json, "data");
		const char *id = json_string_value(json_object_get(data, "id"));
		snprintf(j->id, sizeof j->id, "%s", id ? id : "");
		if (j->detach && l->json)
			rc = line_print_json(l, json_incref(data));
		else if (j->detach && puts(j->id) >= 0)
			rc = line_flush(l);
	} else {
		rc = call_complain(l, &a);
	}
	answer_finish(&a);
	return rc;
}

/* What the command's end means for ours. */
static int status_of(struct job *j)
{
	const json_t *code = json_object_get(j->end, "exitCode");
	const char *by = json_string_value(json_object_get(j->end, "endedBy"));
	if (j->sink.error == -EPIPE)
		return 128 + SIGPIPE;
	if (j->sink.error < 0)
		return line_fail(j->line, "standard output: %s", strerror(-j->sink.error));
	if (j->lost > 0)
		return line_fail(j->line,
			"%llu bytes of its output are lost: they were not read in time",
			(unsigned long long)j->lost);
	if (json_is_true(json_object_get(j->end, "timedOut")))
		return LINE_TIME_OVER;
	if (json_is_integer(code))
		return (int)json_integer_value(code);
	if (j->interrupt.count > 0 && j->interrupt.signo > 0)
		return 128 + j->interrupt.signo;
	if (by && strcmp(by, "not_started") == 0)
		return line_fail(j->line, "the shell has not taken the command: nothing was run");
	return line_fail(j->line, "nobody knows how the command ended (%s)", by ? by : "no reason");
}

/* It was in the queue of a server that was killed: nothing was run, and its key sees to it that it is run once. */
static bool is_to_be_asked_again(struct job *j)
{
	const char *by = json_string_value(json_object_get(j->end, "endedBy"));
	if (!j->server_lost || j->interrupt.count > 0 || !by || strcmp(by, "not_started") != 0)
		return false;
	j->server_lost = false;
	json_decref(j->end);
	j->end = NULL;
	return true;
}

static int perform(struct job *j)
{
	struct line *l = j->line;
	int rc;
	do {
		rc = submit(j);
		if (rc != 0 || j->detach)
			return rc;
		rc = l->json ? await(j) : follow(j);
		if (rc != 0)
			return rc;
	} while (is_to_be_asked_again(j));
	if (l->json && line_print_json(l, json_incref(j->end)) != 0)
		return l->status;
	return status_of(j);
}

static int run_exec(struct line *l)
{
	struct job j = {.line = l,
		.body = json_object(),
		.env = json_object(),
		.sink = {.plain = !isatty(STDOUT_FILENO)}};
	int rc = take(l, &j);
	if (rc == 0)
		rc = connection_open(l);
	if (rc == 0 && j.input)
		rc = words_stream(l, j.body);
	if (rc == 0) {
		j.interrupt.interrupted = on_interrupted;
		j.interrupt.user = &j;
		interrupt_open(&j.interrupt, l);
		rc = perform(&j);
		if (j.cancel)
			client_call_cancel(j.cancel);
		interrupt_close(&j.interrupt, l);
	}
	json_decref(j.body);
	json_decref(j.env);
	json_decref(j.end);
	return rc;
}

const struct command command_exec = {
	.name = "exec",
	.run = run_exec,
	.passes = true,
	.arguments = "[OPTIONS] SESSION COMMAND...",
	.summary = "Run a command in the shell of a session, and end as it does",
	.options =
		"  --pipes               its stdout and stderr apart, neither a terminal\n"
		"  --terminals           apart, each a terminal (default: one stream, as typed)\n"
		"  -i, --stdin           it reads our standard input (default: the session's terminal)\n"
		"  -t, --timeout S       end it after so long; the status is 124\n"
		"  --queue               wait for what runs in the session (default: that is an error)\n"
		"  --isolate             in a fork of the shell: what it changes is gone afterwards\n"
		"  --cwd DIR, --env NAME=VALUE\n"
		"                        for this command alone\n"
		"  -d, --detach          print its id, and do not wait\n"
		"  --key KEY             the same key is the same command\n"
		"  --author NAME         who asks, for the record\n",
};

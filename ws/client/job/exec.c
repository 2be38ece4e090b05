/*
 * `ringside exec`: runs a command in the shell of a session. The request has a key, so that
 * repeating it after the server was lost does not run the command twice. Its stream then continues
 * at the last cursor, and output that was printed already is dropped.
 */
#include "shell/id.h"
#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"
#include "ws/client/connect/event_stream.h"
#include "ws/client/attach/tty.h"
#include "ws/client/job/advice.h"
#include "ws/client/job/interactive.h"
#include "ws/client/job/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 30000u /* wait this long for a lost server */
#define PAUSE_FIRST_MS 50u
#define PAUSE_MAX_MS 1000u

enum {
	OPT_PIPES = JOB_OPTION_OWN,
	OPT_TERMINALS,
	OPT_QUEUE,
	OPT_ISOLATE,
	OPT_HISTORY,
	OPT_KEY,
	OPT_LABEL,
	OPT_INTERACTIVE,
	OPT_DETACH = 'd',
};

static const struct option options[] = {
	JOB_OPTIONS,
	{"pipes", no_argument, NULL, OPT_PIPES},
	{"terminals", no_argument, NULL, OPT_TERMINALS},
	{"queue", no_argument, NULL, OPT_QUEUE},
	{"isolate", no_argument, NULL, OPT_ISOLATE},
	{"history", no_argument, NULL, OPT_HISTORY},
	{"key", required_argument, NULL, OPT_KEY},
	{"label", required_argument, NULL, OPT_LABEL},
	{"interactive", no_argument, NULL, OPT_INTERACTIVE},
	{"detach", no_argument, NULL, OPT_DETACH},
	{0},
};

/* One `ringside exec`. */
struct exec_job {
	struct job job;
	const char *session;
	bool detach, interactive;
	bool advises;    /* print hints */
	char id[160];    /* "": not known yet */
	bool asking;     /* the request that returns the id is under way */
	bool leaving;    /* leave the command as soon as the id is known */
	char cursor[80]; /* the next stream continues there */
	struct advice advice;
	struct interactive terminal;
	struct client_call *cancel;     /* under way, or NULL */
	struct event_stream *following; /* the current stream, or NULL */
	bool server_lost;               /* the server was lost and came back */
};

static int parse_option(struct exec_job *e, int option)
{
	json_t *body = e->job.body;
	switch (option) {
	case OPT_PIPES:
	case OPT_TERMINALS:
		return json_object_set_new(
			body, "streams", json_string(option == OPT_PIPES ? "pipes" : "terminals"));
	case OPT_QUEUE:
		return json_object_set_new(body, "queue", json_true());
	case OPT_ISOLATE:
		return json_object_set_new(body, "isolate", json_true());
	case OPT_HISTORY:
		return json_object_set_new(body, "history", json_true());
	case OPT_KEY:
		return job_put_text(&e->job, "key", optarg);
	case OPT_LABEL:
		return job_put_text(&e->job, "label", optarg);
	case OPT_INTERACTIVE:
		e->interactive = true;
		return 0;
	case OPT_DETACH:
		e->detach = true;
		return 0;
	default:
		return job_parse_option(&e->job, option);
	}
}

static int parse_options(struct exec_job *e)
{
	struct cli *cli = e->job.cli;
	int option, rc = 0;
	while (job_expand_it(cli), rc == 0 && (option = cli_option(cli, "+:t:id", options)) != -1)
		rc = option == '?' ? cli->status : parse_option(e, option);
	return rc;
}

static int parse_line(void *user)
{
	struct exec_job *e = user;
	struct cli *cli = e->job.cli;
	json_t *body = e->job.body;
	char key[4 + 33] = "cli-";
	int rc = parse_options(e);
	if (rc != 0)
		return rc;
	e->session = cli_required(cli, "SESSION");
	if (!e->session)
		return cli->status;
	/* Options may also stand between the session and the command. */
	rc = parse_options(e);
	if (rc == 0)
		rc = job_parse_command(&e->job);
	if (rc != 0)
		return rc;
	if (e->interactive &&
		(e->detach || cli->json || e->job.reads_stdin || json_object_get(body, "streams")))
		return cli_usage(cli,
			"--interactive cannot be used with --stdin, --pipes, --terminals, --detach or --json");
	if (!json_object_get(body, "key")) {
		rc = id_hex(key + strlen(key), 33);
		if (rc < 0)
			return cli_fail(cli, "%s", strerror(-rc));
		json_object_set_new(body, "key", json_string(key));
	}
	json_object_set_new(body, "yieldMs", json_integer(0));
	if (!e->detach && !cli->json)
		json_object_set_new(body, "hold", json_true());
	return 0;
}

/* How long we have waited for a lost server. */
struct patience {
	unsigned waited_ms, pause_ms;
};

/* Wait for a lost server. Returns whether to try again. */
static bool try_again(struct cli *cli, struct patience *p, int rc)
{
	if ((rc != -ECONNREFUSED && rc != -ECONNRESET) || p->waited_ms >= PATIENCE_MS)
		return false;
	do {
		p->pause_ms = p->pause_ms == 0 ? PAUSE_FIRST_MS : p->pause_ms * 2;
		if (p->pause_ms > PAUSE_MAX_MS)
			p->pause_ms = PAUSE_MAX_MS;
		usleep(p->pause_ms * 1000);
		p->waited_ms += p->pause_ms;
		uv_run(&cli->loop, UV_RUN_NOWAIT); /* Ctrl-C */
	} while (connection_probe(cli) < 0 && p->waited_ms < PATIENCE_MS);
	return true;
}

static int report_lost(struct cli *cli, int rc)
{
	return cli_fail(cli, "lost the connection to the server, the command may still run: %s",
		rc == -EPROTO ? "unexpected answer" : strerror(-rc));
}

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
	struct exec_job *e = user;
	(void)error; /* the stream reports the end of the command */
	e->cancel = NULL;
	/* Our output has no reader any more, so do not wait for the end. */
	if (e->job.output.error < 0 && e->following)
		e->following->over = true;
}

static const struct client_call_callbacks cancel_callbacks = {
	.head = on_cancel_head, .body = on_cancel_body, .done = on_cancel_done};

/* Cancel the command: INT, QUIT, TERM and KILL in turn, or KILL at once. */
static void send_cancel(struct exec_job *e, bool at_once)
{
	const char *body = at_once ? "{\"signal\":\"KILL\"}" : "{}";
	char *path = call_path(e->session, "/exec/%s/cancel", e->id);
	if (e->cancel)
		client_call_cancel(e->cancel);
	e->cancel = NULL;
	if (path && e->id[0])
		client_request(e->job.cli->client,
			&(struct client_request){
				.method = "POST", .path = path, .body = body, .length = strlen(body)},
			&cancel_callbacks, e, &e->cancel);
	free(path);
}

static bool wait_for_server(struct exec_job *e, struct patience *p, int rc)
{
	bool again = try_again(e->job.cli, p, rc);
	e->server_lost = e->server_lost || again;
	/* It has received only a part of its input. */
	if (again && input_is_cut(&e->job.input, true))
		send_cancel(e, false);
	return again;
}

/* Exit; the command runs on. */
static void leave(const struct exec_job *e)
{
	tty_close();
	advice_left(e->session, e->id);
	_exit(128 + SIGQUIT);
}

static void on_interrupted(void *user, int signo)
{
	struct exec_job *e = user;
	unsigned count = e->job.interrupt.count;
	/* The command may run already: it is cancelled or left once its id is known. */
	bool soon = !e->id[0] && e->asking && !e->detach;
	if (signo == SIGQUIT && e->id[0])
		leave(e);
	e->leaving = signo == SIGQUIT && soon;
	if (count >= 3 || (!e->id[0] && (!soon || count >= 2))) {
		tty_close();
		_exit(128 + signo);
	}
	if (!soon)
		send_cancel(e, count == 2);
}

static void on_event(void *user, const json_t *event)
{
	struct exec_job *e = user;
	struct job *j = &e->job;
	const char *type = json_string_value(json_object_get(event, "type"));
	const char *cursor = json_string_value(json_object_get(event, "cursor"));
	if (!type)
		return;
	if (!job_handle_output(j, event) && strcmp(type, "end") == 0)
		j->end = json_incref(json_object_get(event, "data"));
	/* Before that event another command of the queue may run. */
	if (e->advises && !e->advice.open && strcmp(type, "start") == 0)
		advice_open(&e->advice, j->cli, e->session, e->id);
	if (cursor) {
		snprintf(e->cursor, sizeof e->cursor, "%s", cursor);
		output_mark(&e->job.output);
	}
	if (e->job.output.error < 0 && e->job.interrupt.count == 0) {
		/* Our output has no reader: cancel the command, as SIGPIPE would have killed it. */
		e->job.interrupt.count = 1;
		send_cancel(e, false);
	}
}

static int follow_exec(struct exec_job *e)
{
	struct cli *cli = e->job.cli;
	struct patience patience = {0};
	int rc;
	do {
		struct event_stream f = {.cli = cli, .event = on_event, .user = e};
		output_restart(&e->job.output);
		e->following = &f;
		rc = event_stream_start(&f, "GET",
			call_path(e->session, "/exec/%s/stream?format=base64%s%s", e->id,
				e->cursor[0] ? "&cursor=" : "", e->cursor),
			NULL);
		if (rc == 0)
			rc = event_stream_wait(&f);
		if (f.streaming)
			patience = (struct patience){0};
		bool refused = rc == -EPROTO && f.answer.json;
		if (refused)
			call_report_error(cli, &f.answer);
		e->following = NULL;
		event_stream_finish(&f);
		if (refused)
			return cli->status;
		/* A stream that ended without an "end" event was cut off. */
		rc = rc == 0 ? -ECONNRESET : rc;
	} while (!e->job.end && e->job.output.error == 0 && wait_for_server(e, &patience, rc));
	output_end(&e->job.output);
	return e->job.end || e->job.output.error < 0 ? 0 : report_lost(cli, rc);
}

/* For --json: wait for the end, which contains all output. */
static int await_end(struct exec_job *e)
{
	struct cli *cli = e->job.cli;
	struct patience patience = {0};
	for (;;) {
		struct answer a;
		int rc = call_try(cli, "GET", call_path(e->session, "/exec/%s?waitMs=60000", e->id),
			NULL, &a);
		if (rc < 0 && wait_for_server(e, &patience, rc))
			continue;
		if (rc < 0)
			return report_lost(cli, rc);
		patience = (struct patience){0};
		json_t *data = json_object_get(a.json, "data");
		const char *state = json_string_value(json_object_get(data, "state"));
		if (a.status != 200) {
			call_report_error(cli, &a);
			answer_finish(&a);
			return cli->status;
		}
		if (state && strcmp(state, "done") == 0)
			e->job.end = json_incref(data);
		answer_finish(&a);
		if (e->job.end)
			return 0;
	}
}

static int submit_exec(struct exec_job *e)
{
	struct cli *cli = e->job.cli;
	struct answer a;
	struct patience patience = {0};
	int rc;
	e->id[0] = '\0';
	do {
		e->asking = true;
		rc = call_try(
			cli, "POST", call_path(e->session, "/exec"), json_incref(e->job.body), &a);
		e->asking = false;
	} while (rc < 0 && e->job.interrupt.count == 0 && try_again(cli, &patience, rc));
	if (rc < 0)
		return report_lost(cli, rc);
	if (a.status == 200) {
		json_t *data = json_object_get(a.json, "data");
		const char *id = json_string_value(json_object_get(data, "id"));
		snprintf(e->id, sizeof e->id, "%s", id ? id : "");
		if (e->leaving && e->id[0])
			leave(e);
		if (e->detach && cli->json)
			rc = cli_print_json(cli, json_incref(data));
		else if (e->detach && puts(e->id) >= 0)
			rc = cli_flush(cli);
	} else {
		rc = call_report_error(cli, &a);
		advice_busy(cli, &a);
	}
	answer_finish(&a);
	return rc;
}

/* The exit status for the command's end. */
static int find_status(struct exec_job *e)
{
	struct job *j = &e->job;
	const char *by = json_string_value(json_object_get(j->end, "endedBy"));
	int status = job_output_status(j);
	if (status != 0)
		return status;
	if (j->lost > 0)
		return cli_fail(j->cli,
			"%llu bytes of its output are lost: they were not read in time",
			(unsigned long long)j->lost);
	if (input_is_cut(&j->input, e->server_lost))
		return input_report_cut(&j->input);
	status = job_end_status(j);
	if (json_is_true(json_object_get(j->end, "suspect")))
		return cli_fail(j->cli,
			"the exit status %d cannot be trusted: a program has tried to forge it",
			status);
	if (status >= 0)
		return status;
	if (j->interrupt.count > 0 && j->interrupt.signo > 0)
		return 128 + j->interrupt.signo;
	if (by && strcmp(by, "not_started") == 0)
		return cli_fail(j->cli, "the shell has not accepted the command: nothing was run");
	return cli_fail(
		j->cli, "the exit status of the command is unknown (%s)", by ? by : "no reason");
}

/*
 * Whether the command was only queued when the server was killed. Submitting it again runs it once.
 */
static bool must_submit_again(struct exec_job *e)
{
	const char *by = json_string_value(json_object_get(e->job.end, "endedBy"));
	if (!e->server_lost || e->job.interrupt.count > 0 || e->job.input.stream || !by ||
		strcmp(by, "not_started") != 0)
		return false;
	e->server_lost = false;
	json_decref(e->job.end);
	e->job.end = NULL;
	return true;
}

/* With --detach: stay until the command's input has been sent. */
static void send_input(struct exec_job *e)
{
	struct job *j = &e->job;
	while (!input_is_over(&j->input) && j->interrupt.count == 0)
		uv_run(&j->cli->loop, UV_RUN_ONCE);
	if (input_is_cut(&j->input, true))
		j->cli->status = input_report_cut(&j->input);
}

static int submit_and_follow(struct exec_job *e)
{
	struct job *j = &e->job;
	int rc;
	do {
		rc = submit_exec(e);
		if (rc == 0 && e->detach)
			send_input(e);
		if (rc != 0 || e->detach)
			return rc != 0 ? rc : j->cli->status;
		if (j->interrupt.count > 0)
			send_cancel(e, false);
		interactive_begin(&e->terminal);
		e->advises = !j->cli->json && !j->reads_stdin && !e->interactive;
		rc = j->cli->json ? await_end(e) : follow_exec(e);
		advice_close(&e->advice);
		if (rc != 0)
			return rc;
	} while (must_submit_again(e));
	if (j->cli->json && cli_print_json(j->cli, json_incref(j->end)) != 0)
		return j->cli->status;
	return find_status(e);
}

static void on_left(void *user)
{
	struct exec_job *e = user;
	tty_close();
	advice_left(e->session, e->id);
	_exit(0);
}

static bool on_terminal_output(void *user, const char *bytes, size_t length)
{
	return interactive_write(user, bytes, length);
}

static int perform_exec(void *user)
{
	struct exec_job *e = user;
	int rc = 0;
	if (e->interactive) {
		e->terminal.left = on_left;
		e->terminal.user = e;
		e->job.output.sink = on_terminal_output;
		e->job.output.sink_user = &e->terminal;
		rc = interactive_open(&e->terminal, e->job.cli, e->session);
	}
	if (rc == 0)
		rc = submit_and_follow(e);
	interactive_close(&e->terminal);
	if (e->cancel)
		client_call_cancel(e->cancel);
	return rc;
}

static const struct job_callbacks callbacks = {
	.take = parse_line, .perform = perform_exec, .interrupted = on_interrupted};

static int run_exec(struct cli *cli)
{
	struct exec_job e = {0};
	job_open(&e.job, cli);
	e.job.output.plain = !isatty(STDOUT_FILENO);
	return job_run(&e.job, &callbacks, &e);
}

const struct command command_exec = {
	.name = "exec",
	.run = run_exec,
	.passes = true,
	.arguments = "[OPTIONS] SESSION COMMAND...",
	.summary = "Run a command in the shell of a session, and exit with its status",
	.options =
		"  --pipes               separate stdout and stderr, as pipes\n"
		"  --terminals           separate stdout and stderr, as terminals (default: one stream)\n"
		"  -i, --stdin           the command reads our standard input (default: the session's terminal)\n"
		"  -it, --interactive    use this keyboard and this window's size; C-\\ leaves the command,\n"
		"                        which runs on\n"
		"  -t, --timeout S       kill it after this time; the exit status is 124\n"
		"  --queue               wait for the command that runs there (default: that is an error)\n"
		"  --isolate             in a fork of the shell: its changes to the shell are dropped\n"
		"  --history             add it to the shell's history\n"
		"  --cwd DIR, --env NAME=VALUE\n"
		"                        for this command only\n"
		"  -d, --detach          print its id, and do not wait\n"
		"  --key KEY             a repeated key does not run the command again\n"
		"  --label NAME          your name, for the record\n",
};

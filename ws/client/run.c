/* `ringside run`: a command on its own, where the server is. */
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
#include <sys/ioctl.h>
#include <unistd.h>

enum { OPT_PIPES = 256, OPT_TERMINALS, OPT_CWD, OPT_ENV, OPT_TIMEOUT = 't', OPT_INPUT = 'i' };

static const struct option options[] = {
	{"pipes", no_argument, NULL, OPT_PIPES},
	{"terminals", no_argument, NULL, OPT_TERMINALS},
	{"cwd", required_argument, NULL, OPT_CWD},
	{"env", required_argument, NULL, OPT_ENV},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{"stdin", no_argument, NULL, OPT_INPUT},
	{0},
};

struct job {
	struct line *line;
	json_t *body, *env; /* owned */
	bool input, terminals;
	struct follow follow;
	struct sink sink;
	uint64_t lost; /* bytes of output that have not come */
	json_t *end;   /* how it ended; owned */
	struct interrupt interrupt;
};

static int take_option(struct line *l, struct job *j, int option)
{
	uint64_t ms;
	switch (option) {
	case OPT_CWD:
		return json_object_set_new(j->body, "cwd", json_string(optarg)) == 0
			? 0
			: line_usage(l, "--cwd is not UTF-8");
	case OPT_ENV:
		return line_variable(j->env, optarg) ? 0 : line_usage(l, "--env is NAME=VALUE");
	case OPT_TIMEOUT:
		if (!line_seconds(optarg, &ms) || ms == 0)
			return line_usage(l, "--timeout is a number of seconds");
		return json_object_set_new(j->body, "timeoutMs", json_integer((json_int_t)ms));
	case OPT_INPUT:
		j->input = true;
		return 0;
	default:
		j->terminals = option == OPT_TERMINALS;
		return 0;
	}
}

/* As if it ran here: in this directory, on something like what we write to. */
static void add_surroundings(struct job *j)
{
	char cwd[PATH_MAX];
	struct winsize size;
	if (!j->line->url && !json_object_get(j->body, "cwd") && getcwd(cwd, sizeof cwd))
		json_object_set_new(j->body, "cwd", json_string(cwd));
	json_object_set_new(j->body, "streams", json_string(j->terminals ? "terminals" : "pipes"));
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
		json_object_set_new(j->body, "cols", json_integer(size.ws_col));
		json_object_set_new(j->body, "rows", json_integer(size.ws_row));
	}
	if (json_object_size(j->env) > 0)
		json_object_set(j->body, "env", j->env);
	if (!j->line->json) {
		json_object_set_new(j->body, "stream", json_true());
		json_object_set_new(j->body, "encoding", json_string("base64"));
	}
}

static int take(struct line *l, struct job *j)
{
	int option, rc = 0;
	while (rc == 0 && (option = line_option(l, "+:t:i", options)) != -1)
		rc = option == '?' ? l->status : take_option(l, j, option);
	if (rc != 0)
		return rc;
	char *command = words_command(l);
	if (!command)
		return l->status;
	json_object_set_new(j->body, "command", json_string(command));
	free(command);
	add_surroundings(j);
	return 0;
}

/* The server ends what it runs for somebody who goes away. */
static void on_interrupted(void *user, int signo)
{
	struct job *j = user;
	(void)signo;
	if (j->follow.call)
		client_call_cancel(j->follow.call);
	j->follow.call = NULL;
	j->follow.error = -ECANCELED;
	j->follow.over = true;
}

static void on_event(void *user, const json_t *event)
{
	struct job *j = user;
	const char *type = json_string_value(json_object_get(event, "type"));
	if (!type)
		return;
	bool error = strcmp(type, "stderr") == 0;
	if (error || strcmp(type, "stdout") == 0)
		sink_put(&j->sink, error ? SINK_ERR : SINK_OUT, json_object_get(event, "data"),
			false);
	else if (strcmp(type, "truncated") == 0)
		j->lost += (uint64_t)json_integer_value(json_object_get(event, "bytes"));
	else if (strcmp(type, "complete") == 0)
		j->end = json_incref((json_t *)event);
	if (j->sink.error < 0)
		j->follow.over = true;
}

static int status_of(struct job *j, int rc)
{
	struct line *l = j->line;
	if (j->interrupt.count > 0)
		return 128 + j->interrupt.signo;
	if (j->sink.error == -EPIPE)
		return 128 + SIGPIPE;
	if (j->sink.error < 0)
		return line_fail(l, "standard output: %s", strerror(-j->sink.error));
	if (rc == -EPROTO && j->follow.answer.status != 200)
		return call_complain(l, &j->follow.answer);
	if (rc == -EPROTO && l->json)
		j->end = json_incref(j->follow.answer.json);
	const json_t *code = json_object_get(j->end, "exitCode");
	if (!json_is_integer(code))
		return line_fail(l, "the server is lost, and the command with it");
	if (l->json && line_print_json(l, json_incref(j->end)) != 0)
		return l->status;
	if (j->lost > 0)
		return line_fail(
			l, "%llu bytes of its output are lost", (unsigned long long)j->lost);
	return json_is_true(json_object_get(j->end, "timedOut")) ? LINE_TIME_OVER
								 : (int)json_integer_value(code);
}

static int perform(struct job *j)
{
	struct follow *f = &j->follow;
	*f = (struct follow){.line = j->line, .event = on_event, .user = j};
	int rc = follow_start(f, "POST", strdup("/api/run"), json_incref(j->body));
	if (rc == 0)
		rc = follow_wait(f);
	rc = status_of(j, rc);
	follow_finish(f);
	return rc;
}

static int run_run(struct line *l)
{
	struct job j = {.line = l,
		.body = json_object(),
		.env = json_object(),
		.terminals = isatty(STDOUT_FILENO)};
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
		interrupt_close(&j.interrupt, l);
	}
	json_decref(j.body);
	json_decref(j.env);
	json_decref(j.end);
	return rc;
}

const struct command command_run = {
	.name = "run",
	.run = run_run,
	.passes = true,
	.arguments = "[OPTIONS] COMMAND...",
	.summary = "Run a command on its own, and end as it does",
	.options = "  --pipes, --terminals  what its stdout and stderr are (default: as ours)\n"
		   "  -i, --stdin           it reads our standard input (default: nothing)\n"
		   "  -t, --timeout S       end it after so long; the status is 124\n"
		   "  --cwd DIR             (default: the current one)\n"
		   "  --env NAME=VALUE      may be repeated\n",
};

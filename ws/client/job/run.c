/*
 * `ringside run`: runs a command on the server's machine, without a session. The server kills the
 * command when the request is closed: by Ctrl-C, or because our output has no reader. If the server
 * dies, so does the command.
 */
#include "ws/client/connect/event_stream.h"
#include "ws/client/job/job.h"
#include "ws/client/job/terminal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { OPT_PIPES = JOB_OPTION_OWN, OPT_TERMINALS, OPT_INTERACTIVE };

static const struct option options[] = {
	JOB_OPTIONS,
	{"pipes", no_argument, NULL, OPT_PIPES},
	{"terminals", no_argument, NULL, OPT_TERMINALS},
	{"interactive", no_argument, NULL, OPT_INTERACTIVE},
	{0},
};

/* One `ringside run`. */
struct run_job {
	struct job job;
	bool terminals; /* stdout and stderr are terminals */
	bool streams;   /* --pipes or --terminals was given */
	bool interactive;
	struct event_stream stream;
};

/* Complete the request: directory, kind of output and window size as here. */
static void add_defaults(struct run_job *r)
{
	json_t *body = r->job.body;
	char cwd[PATH_MAX];
	struct winsize size;
	if (!r->job.cli->url && !json_object_get(body, "cwd") && getcwd(cwd, sizeof cwd))
		json_object_set_new(body, "cwd", json_string(cwd));
	json_object_set_new(body, "streams", json_string(r->terminals ? "terminals" : "pipes"));
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
		json_object_set_new(body, "cols", json_integer(size.ws_col));
		json_object_set_new(body, "rows", json_integer(size.ws_row));
	}
	if (!r->job.cli->json) {
		json_object_set_new(body, "stream", json_true());
		json_object_set_new(body, "encoding", json_string("base64"));
	}
}

static int parse_option(struct run_job *r, int option)
{
	switch (option) {
	case OPT_PIPES:
	case OPT_TERMINALS:
		r->terminals = option == OPT_TERMINALS;
		r->streams = true;
		return 0;
	case OPT_INTERACTIVE:
		r->interactive = true;
		return 0;
	default:
		return job_parse_option(&r->job, option);
	}
}

static int parse_line(void *user)
{
	struct run_job *r = user;
	struct cli *cli = r->job.cli;
	int option, rc = 0;
	while (job_expand_it(cli), rc == 0 && (option = cli_option(cli, "+:t:i", options)) != -1)
		rc = option == '?' ? cli->status : parse_option(r, option);
	if (rc == 0)
		rc = job_parse_command(&r->job);
	if (rc == 0 && r->interactive && (r->streams || r->job.reads_stdin || cli->json))
		return cli_usage(cli,
			"--interactive cannot be used with --stdin, --pipes, --terminals or --json");
	if (rc == 0)
		add_defaults(r);
	return rc;
}

/* Close the request: the server kills the command then. */
static void on_interrupted(void *user, int signo)
{
	struct run_job *r = user;
	(void)signo;
	terminal_interrupted(&r->job);
	if (r->stream.call)
		client_call_cancel(r->stream.call);
	r->stream.call = NULL;
	r->stream.error = -ECANCELED;
	r->stream.over = true;
}

static void on_event(void *user, const json_t *event)
{
	struct run_job *r = user;
	const char *type = json_string_value(json_object_get(event, "type"));
	if (!type)
		return;
	if (!job_handle_output(&r->job, event) && strcmp(type, "complete") == 0)
		r->job.end = json_incref((json_t *)event);
	if (r->job.output.error < 0)
		r->stream.over = true;
}

/* The exit status for the command's end; rc: how the answer ended. */
static int find_status(struct run_job *r, int rc)
{
	struct job *j = &r->job;
	struct cli *cli = j->cli;
	if (j->interrupt.count > 0)
		return 128 + j->interrupt.signo;
	int status = job_output_status(j);
	if (status != 0)
		return status;
	if (rc == -EPROTO && r->stream.answer.status != 200)
		return call_report_error(cli, &r->stream.answer);
	if (rc == -EPROTO && cli->json)
		j->end = json_incref(r->stream.answer.json);
	if (!json_is_integer(json_object_get(j->end, "exitCode")))
		return cli_fail(cli, "lost the connection to the server, and the command with it");
	if (cli->json && cli_print_json(cli, json_incref(j->end)) != 0)
		return cli->status;
	if (j->lost > 0)
		return cli_fail(
			cli, "%llu bytes of its output are lost", (unsigned long long)j->lost);
	if (input_is_cut(&j->input, false))
		return input_report_cut(&j->input);
	return job_end_status(j);
}

static int perform_run(void *user)
{
	struct run_job *r = user;
	struct event_stream *stream = &r->stream;
	if (r->interactive)
		return terminal_run(&r->job,
			(uint64_t)json_integer_value(json_object_get(r->job.body, "timeoutMs")));
	*stream = (struct event_stream){.cli = r->job.cli, .event = on_event, .user = r};
	int rc = event_stream_start(stream, "POST", strdup("/api/run"), json_incref(r->job.body));
	if (rc == 0)
		rc = event_stream_wait(stream);
	rc = find_status(r, rc);
	event_stream_finish(stream);
	return rc;
}

static const struct job_callbacks callbacks = {
	.take = parse_line, .perform = perform_run, .interrupted = on_interrupted};

static int run_run(struct cli *cli)
{
	struct run_job r = {.terminals = isatty(STDOUT_FILENO)};
	job_open(&r.job, cli);
	return job_run(&r.job, &callbacks, &r);
}

const struct command command_run = {
	.name = "run",
	.run = run_run,
	.passes = true,
	.starts = true,
	.arguments = "[OPTIONS] COMMAND...",
	.summary = "Run a command without a session, and exit with its status",
	.options = "  --pipes, --terminals  kind of its stdout and stderr (default: as ours)\n"
		   "  -it, --interactive    in a terminal of its own, with this keyboard and this window's size;\n"
		   "                        C-\\ leaves it, and it runs on as a session\n"
		   "  -i, --stdin           the command reads our standard input (default: no input)\n"
		   "  -t, --timeout S       kill it after this time; the exit status is 124\n"
		   "  --cwd DIR             (default: the current directory)\n"
		   "  --env NAME=VALUE      may be repeated\n",
};

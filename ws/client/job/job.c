#include "ws/client/job/job.h"

#include "ws/client/connect/connection.h"
#include "ws/client/job/quoting.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void job_open(struct job *j, struct cli *cli)
{
	*j = (struct job){.cli = cli, .body = json_object(), .env = json_object()};
}

static void close_job(struct job *j)
{
	json_decref(j->body);
	json_decref(j->env);
	json_decref(j->end);
}

int job_put_text(struct job *j, const char *field, const char *text)
{
	if (json_object_set_new(j->body, field, json_string(text)) == 0)
		return 0;
	return cli_usage(j->cli, "--%s is not UTF-8", field);
}

int job_parse_option(struct job *j, int option)
{
	uint64_t ms;
	switch (option) {
	case JOB_CWD:
		return job_put_text(j, "cwd", optarg);
	case JOB_ENV:
		return cli_add_variable(j->env, optarg)
			? 0
			: cli_usage(j->cli, "--env must be NAME=VALUE");
	case JOB_TIMEOUT:
		if (!cli_seconds(optarg, &ms) || ms == 0)
			return cli_usage(j->cli, "--timeout must be a number of seconds above 0");
		return json_object_set_new(j->body, "timeoutMs", json_integer((json_int_t)ms));
	default:
		j->reads_stdin = true;
		return 0;
	}
}

void job_expand_it(struct cli *cli)
{
	static char interactive[] = "--interactive";
	const char *word = optind < cli->argc ? cli->argv[optind] : "";
	if (strcmp(word, "-it") == 0 || strcmp(word, "-ti") == 0)
		cli->argv[optind] = interactive;
}

int job_parse_command(struct job *j)
{
	char *command = quoting_command(j->cli);
	if (!command)
		return j->cli->status;
	json_object_set_new(j->body, "command", json_string(command));
	free(command);
	if (json_object_size(j->env) > 0)
		json_object_set(j->body, "env", j->env);
	return 0;
}

bool job_handle_output(struct job *j, const json_t *event)
{
	const char *type = json_string_value(json_object_get(event, "type"));
	const json_t *data = json_object_get(event, "data");
	if (strcmp(type, "stdout") == 0)
		output_write(&j->output, OUTPUT_OUT, data, false);
	else if (strcmp(type, "stderr") == 0)
		output_write(&j->output, OUTPUT_ERR, data, false);
	else if (strcmp(type, "output") == 0)
		output_write(&j->output, OUTPUT_OUT, data, true);
	else if (strcmp(type, "truncated") == 0)
		j->lost += (uint64_t)json_integer_value(json_object_get(event, "bytes"));
	else
		return false;
	return true;
}

int job_run(struct job *j, const struct job_callbacks *callbacks, void *user)
{
	int rc = callbacks->take(user);
	if (rc == 0)
		rc = connection_open(j->cli);
	if (rc == 0 && j->reads_stdin)
		rc = input_open(&j->input, j->cli, j->body);
	if (rc == 0) {
		j->interrupt.interrupted = callbacks->interrupted;
		j->interrupt.user = user;
		interrupt_open(&j->interrupt, j->cli);
		rc = callbacks->perform(user);
		interrupt_close(&j->interrupt, j->cli);
	}
	input_close(&j->input);
	close_job(j);
	return rc;
}

int job_output_status(struct job *j)
{
	if (j->output.error == -EPIPE)
		return 128 + SIGPIPE;
	if (j->output.error < 0)
		return cli_fail(j->cli, "standard output: %s", strerror(-j->output.error));
	return 0;
}

int job_end_status(const struct job *j)
{
	const json_t *code = json_object_get(j->end, "exitCode");
	if (json_is_true(json_object_get(j->end, "timedOut")))
		return CLI_TIME_OVER;
	return json_is_integer(code) ? (int)json_integer_value(code) : -1;
}

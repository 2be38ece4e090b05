/* `ringside new`, `ringside ls` and `ringside kill`. */
#include "ws/client/attach/attach.h"
#include "ws/client/connect/call.h"
#include "ws/client/command.h"
#include "ws/client/connect/connection.h"
#include "ws/client/connect/local_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIDE_MAX 1000u

enum {
	OPT_NAME = 256,
	OPT_CWD,
	OPT_SHELL,
	OPT_SHELL_ARG,
	OPT_SHELL_EXIT,
	OPT_ENV,
	OPT_SIZE,
	OPT_IDLE,
	OPT_HISTORY,
	OPT_ATTACH,
	OPT_OPEN,
	OPT_NAMES,
	OPT_SIGNAL
};

static const struct option new_options[] = {
	{"name", required_argument, NULL, OPT_NAME},
	{"cwd", required_argument, NULL, OPT_CWD},
	{"shell", required_argument, NULL, OPT_SHELL},
	{"shell-arg", required_argument, NULL, OPT_SHELL_ARG},
	{"on-shell-exit", required_argument, NULL, OPT_SHELL_EXIT},
	{"env", required_argument, NULL, OPT_ENV},
	{"size", required_argument, NULL, OPT_SIZE},
	{"idle-timeout", required_argument, NULL, OPT_IDLE},
	{"history", no_argument, NULL, OPT_HISTORY},
	{"attach", no_argument, NULL, OPT_ATTACH},
	{"open", no_argument, NULL, OPT_OPEN},
	{0},
};

struct new_plan {
	json_t *body, *env;
	bool attach, open;
};

static int parse_size(struct cli *cli, json_t *body, const char *text)
{
	char cols_text[8];
	uint64_t cols = 0, rows = 0;
	const char *x = strchr(text, 'x');
	snprintf(cols_text, sizeof cols_text, "%.*s", x ? (int)(x - text) : 0, text);
	if (!x || !cli_parse_number(cols_text, SIDE_MAX, &cols) ||
		!cli_parse_number(x + 1, SIDE_MAX, &rows) || cols == 0 || rows == 0)
		return cli_usage(cli, "--size must be COLSxROWS, such as 80x24");
	json_object_set_new(body, "cols", json_integer((json_int_t)cols));
	json_object_set_new(body, "rows", json_integer((json_int_t)rows));
	return 0;
}

static int parse_new_option(struct cli *cli, struct new_plan *plan, int option)
{
	uint64_t ms;
	switch (option) {
	case OPT_NAME:
	case OPT_CWD:
	case OPT_SHELL:
	case OPT_SHELL_EXIT: {
		const char *field = option == OPT_NAME ? "name"
			: option == OPT_CWD            ? "cwd"
			: option == OPT_SHELL          ? "shell"
						       : "onShellExit";
		if (json_object_set_new(plan->body, field, json_string(optarg)) < 0)
			return cli_usage(cli, "--%s is not UTF-8", field);
		return 0;
	}
	case OPT_SHELL_ARG: {
		json_t *list = json_object_get(plan->body, "shellArgs");
		if (!list && json_object_set_new(plan->body, "shellArgs", list = json_array()) < 0)
			return cli_fail(cli, "out of memory");
		if (json_array_append_new(list, json_string(optarg)) < 0)
			return cli_usage(cli, "--shell-arg is not UTF-8");
		return 0;
	}
	case OPT_ENV:
		return cli_add_variable(plan->env, optarg)
			? 0
			: cli_usage(cli, "--env must be NAME=VALUE");
	case OPT_SIZE:
		return parse_size(cli, plan->body, optarg);
	case OPT_IDLE:
		if (!cli_seconds(optarg, &ms))
			return cli_usage(cli, "--idle-timeout must be a number of seconds");
		json_object_set_new(plan->body, "idleTimeoutMs", json_integer((json_int_t)ms));
		return 0;
	case OPT_HISTORY:
		return json_object_set_new(plan->body, "history", json_true());
	case OPT_ATTACH:
		plan->attach = true;
		return 0;
	default:
		plan->open = true;
		return 0;
	}
}

static int parse_new(struct cli *cli, struct new_plan *plan)
{
	int option, rc = 0;
	while (rc == 0 && (option = cli_option(cli, ":", new_options)) != -1)
		rc = option == '?' ? cli->status : parse_new_option(cli, plan, option);
	if (rc != 0)
		return rc;
	const char *id = cli_argument(cli);
	if (!cli_expect_end(cli))
		return cli->status;
	if (id && json_object_set_new(plan->body, "id", json_string(id)) < 0)
		return cli_usage(cli, "the session's id is not UTF-8");
	return 0;
}

/* Default: the current directory, unless the server may be on another machine. */
static void add_cwd(const struct cli *cli, struct new_plan *plan)
{
	char cwd[PATH_MAX];
	if (!cli->url && !json_object_get(plan->body, "cwd") && getcwd(cwd, sizeof cwd))
		json_object_set_new(plan->body, "cwd", json_string(cwd));
	if (json_object_size(plan->env) > 0)
		json_object_set(plan->body, "env", plan->env);
}

static int create_session(struct cli *cli, const struct new_plan *plan)
{
	struct answer a;
	int rc = call_api(cli, "POST",
		strdup(plan->open ? "/api/session/open" : "/api/session/create"),
		json_incref(plan->body), &a);
	if (rc != 0)
		return rc;
	json_t *data = json_object_get(a.json, "data");
	const char *id = json_string_value(json_object_get(data, "id"));
	if (!id) {
		rc = cli_fail(cli, "the server's answer has no session id");
	} else if (plan->attach) {
		rc = attach_session(cli, id, NULL);
	} else if (cli->json) {
		rc = cli_print_json(cli, json_incref(data));
	} else {
		puts(id);
		rc = cli_flush(cli);
	}
	answer_finish(&a);
	return rc;
}

static int run_new(struct cli *cli)
{
	struct new_plan plan = {.body = json_object(), .env = json_object()};
	int rc = parse_new(cli, &plan);
	if (rc == 0) {
		add_cwd(cli, &plan);
		rc = create_session(cli, &plan);
	}
	json_decref(plan.body);
	json_decref(plan.env);
	return rc;
}

const struct command command_new = {
	.name = "new",
	.run = run_new,
	.starts = true,
	.arguments = "[OPTIONS] [SESSION]",
	.summary = "Start a session, and print its id",
	.options = "  --attach              attach to it\n"
		   "  --open                no error if it exists already\n"
		   "  --name NAME           for people\n"
		   "  --cwd DIR             (default: the current directory)\n"
		   "  --shell SHELL         (default: bash)\n"
		   "  --shell-arg ARG       an argument of the shell, such as -l; may be repeated\n"
		   "  --on-shell-exit WHAT  close (default), reexec or respawn\n"
		   "  --history             commands of programs go into the shell's history too\n"
		   "  --env NAME=VALUE      may be repeated\n"
		   "  --size COLSxROWS\n"
		   "  --idle-timeout S      end it after this long without activity\n",
};

/* Write "running", or how the session ended. */
static void describe_state(const json_t *session, char text[32])
{
	const json_t *exit = json_object_get(session, "exit");
	const char *signal = json_string_value(json_object_get(exit, "signal"));
	const json_t *code = json_object_get(exit, "code");
	if (signal)
		snprintf(text, 32, "ended: %s", signal);
	else if (json_is_integer(code))
		snprintf(text, 32, "ended: %d", (int)json_integer_value(code));
	else
		snprintf(text, 32, "%s", answer_text(session, "state"));
}

static void print_table(const json_t *sessions)
{
	size_t i;
	json_t *s;
	int width = 7;
	json_array_foreach (sessions, i, s) {
		int length = (int)json_string_length(json_object_get(s, "id"));
		width = length > width ? length : width;
	}
	if (json_array_size(sessions) > 0)
		printf("%-*s  %-12s %9s %8s  %-16s  %s\n", width, "SESSION", "STATE", "SIZE",
			"ATTACHED", "STARTED", "NAME");
	json_array_foreach (sessions, i, s) {
		char state[32], size[32], started[17];
		describe_state(s, state);
		snprintf(size, sizeof size, "%dx%d",
			(int)json_integer_value(json_object_get(s, "cols")),
			(int)json_integer_value(json_object_get(s, "rows")));
		local_time(answer_text(s, "createdAt"), started);
		printf("%-*s  %-12s %9s %8d  %-16s  %s\n", width, answer_text(s, "id"), state, size,
			(int)json_integer_value(json_object_get(s, "clients")), started,
			answer_text(s, "name"));
	}
}

static void print_names(const json_t *sessions)
{
	size_t i;
	json_t *s;
	json_array_foreach (sessions, i, s)
		puts(answer_text(s, "id"));
}

static int run_ls(struct cli *cli)
{
	static const struct option options[] = {{"names", no_argument, NULL, OPT_NAMES}, {0}};
	const char *names;
	if (cli_only_option(cli, ":", options, &names) != 0 || !cli_expect_end(cli))
		return cli->status;
	return call_show(cli, "GET", strdup("/api/session/list"), NULL, "sessions",
		names ? print_names : print_table);
}

const struct command command_ls = {
	.name = "ls",
	.run = run_ls,
	.arguments = "[OPTIONS]",
	.summary = "List the sessions",
	.options = "  --names               print only their ids, one a line\n",
};

/* The Cloudflare dialect, which this request uses, has no error code of its own for this. */
static bool is_unknown(const struct answer *a)
{
	const char *why = json_string_value(
		json_object_get(json_object_get(a->json, "context"), "originalError"));
	return a->status == 500 && why && strcmp(why, "Session not found") == 0;
}

static int end_one(struct cli *cli, const char *id, struct answer *ret_answer)
{
	int rc = call_request(cli, "POST", strdup("/api/session/delete"),
		json_pack("{s:s}", "sessionId", id), ret_answer);
	if (rc != 0 || ret_answer->status == 200)
		return rc;
	rc = is_unknown(ret_answer) && !cli->json
		? cli_fail(cli, "There is no session '%s' (SESSION_NOT_FOUND)", id)
		: call_report_error(cli, ret_answer);
	answer_finish(ret_answer);
	return rc;
}

static int kill_one(struct cli *cli, const char *id, const char *signal)
{
	struct answer a;
	if (signal)
		return call_show(cli, "POST", call_path(id, "/signal"),
			json_pack("{s:s}", "signal", signal), NULL, NULL);
	int rc = end_one(cli, id, &a);
	if (rc != 0)
		return rc;
	rc = cli->json ? cli_print_json(cli, json_incref(a.json)) : 0;
	answer_finish(&a);
	return rc;
}

static int run_kill(struct cli *cli)
{
	static const struct option options[] = {
		{"signal", required_argument, NULL, OPT_SIGNAL}, {0}};
	const char *signal, *id;
	if (cli_only_option(cli, ":s:", options, &signal) != 0 ||
		!(id = cli_required(cli, "SESSION")))
		return cli->status;
	int rc = connection_open(cli), worst = rc;
	for (; rc != CLI_NO_SERVER && id; id = cli_argument(cli)) {
		if (worst == 0 || cli->client)
			rc = kill_one(cli, id, signal);
		worst = rc != 0 ? rc : worst;
	}
	return worst;
}

const struct command command_kill = {
	.name = "kill",
	.run = run_kill,
	.arguments = "[OPTIONS] SESSION...",
	.summary = "End sessions and all their processes, or send them a signal",
	.options = "  -s, --signal NAME     only send this signal to the foreground, such as INT\n",
};

/* `ringside wait`: waits for an event in a session. */
#include "ws/client/wait.h"

#include "shell/id.h"
#include "ws/client/connect/call.h"
#include "ws/client/command.h"
#include "ws/client/connect/connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ATTEMPTS 40u /* attempts after a lost connection, 250 ms apart */

enum {
	OPT_MATCH = 256,
	OPT_IGNORE_CASE,
	OPT_SCREEN,
	OPT_PROMPT,
	OPT_INPUT,
	OPT_IDLE,
	OPT_STABLE,
	OPT_BYTES,
	OPT_EXIT,
	OPT_PORT,
	OPT_LEASE,
	OPT_EXEC,
	OPT_FROM,
	OPT_TIMEOUT = 't',
};

static const struct option options[] = {
	{"match", required_argument, NULL, OPT_MATCH},
	{"ignore-case", no_argument, NULL, OPT_IGNORE_CASE},
	{"screen", no_argument, NULL, OPT_SCREEN},
	{"prompt", no_argument, NULL, OPT_PROMPT},
	{"input", no_argument, NULL, OPT_INPUT},
	{"idle", required_argument, NULL, OPT_IDLE},
	{"stable", required_argument, NULL, OPT_STABLE},
	{"bytes", required_argument, NULL, OPT_BYTES},
	{"exit", no_argument, NULL, OPT_EXIT},
	{"port", required_argument, NULL, OPT_PORT},
	{"lease", no_argument, NULL, OPT_LEASE},
	{"exec", required_argument, NULL, OPT_EXEC},
	{"from", required_argument, NULL, OPT_FROM},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{0},
};

struct plan {
	json_t *until; /* owned */
	json_t *from;  /* owned; NULL: now */
	bool last;     /* from the offset of the last input */
	bool ignore_case, screen;
	uint64_t timeout_ms;
};

static int add_condition(struct plan *p, json_t *condition)
{
	return json_array_append_new(p->until, condition);
}

static int add_number(struct cli *cli, struct plan *p, const char *type, const char *field)
{
	uint64_t n;
	if (!cli_parse_number(optarg, INT64_MAX, &n))
		return cli_usage(cli, "--%s must be a number", type);
	return add_condition(p, json_pack("{s:s, s:I}", "type", type, field, (json_int_t)n));
}

static int add_text(struct cli *cli, struct plan *p, const char *type, const char *field)
{
	json_t *text = json_string(optarg);
	if (!text)
		return cli_usage(cli, "--%s is not UTF-8", type);
	return add_condition(p, json_pack("{s:s, s:o}", "type", type, field, text));
}

static int parse_option(struct cli *cli, struct plan *p, int option)
{
	uint64_t n;
	switch (option) {
	case OPT_MATCH:
		return add_text(cli, p, "match", "pattern");
	case OPT_EXEC:
		return add_text(cli, p, "exec", "id");
	case OPT_IDLE:
		return add_number(cli, p, "idle", "ms");
	case OPT_STABLE:
		return add_number(cli, p, "stable", "ms");
	case OPT_BYTES:
		return add_number(cli, p, "bytes", "count");
	case OPT_PORT:
		return add_number(cli, p, "port", "port");
	case OPT_LEASE:
		return add_condition(p, json_pack("{s:s}", "type", "lease"));
	case OPT_PROMPT:
		return add_condition(p, json_pack("{s:s}", "type", "prompt"));
	case OPT_INPUT:
		return add_condition(p, json_pack("{s:s}", "type", "input"));
	case OPT_EXIT:
		return add_condition(p, json_pack("{s:s}", "type", "exit"));
	case OPT_IGNORE_CASE:
		p->ignore_case = true;
		return 0;
	case OPT_SCREEN:
		p->screen = true;
		return 0;
	case OPT_FROM:
		p->last = strcmp(optarg, "last") == 0;
		if (p->last)
			return 0;
		if (!cli_parse_number(optarg, INT64_MAX, &n))
			return cli_usage(cli, "--from must be an offset, or last");
		json_decref(p->from);
		p->from = json_integer((json_int_t)n);
		return 0;
	default:
		return cli_seconds(optarg, &p->timeout_ms)
			? 0
			: cli_usage(cli, "--timeout must be a number of seconds");
	}
}

/* Apply --ignore-case and --screen to all patterns. */
static void complete_conditions(struct plan *p)
{
	size_t i;
	json_t *condition;
	json_array_foreach (p->until, i, condition) {
		const char *type = json_string_value(json_object_get(condition, "type"));
		bool match = strcmp(type, "match") == 0;
		if (match && p->ignore_case)
			json_object_set_new(condition, "case", json_false());
		if (match && p->screen)
			json_object_set_new(condition, "on", json_string("screen"));
	}
}

static json_t *make_body(
	json_t *conditions, const json_t *from, uint64_t timeout_ms, const char *key)
{
	json_t *body = json_pack("{s:O, s:I, s:s}", "until", conditions, "timeoutMs",
		(json_int_t)timeout_ms, "key", key);
	/* Matches and bytes count from there, and only a later prompt or silence counts. */
	if (from) {
		json_object_set_new(body, "from", json_deep_copy(from));
		json_object_set_new(body, "after", json_deep_copy(from));
	}
	return body;
}

/* Print the result, and return the exit status. */
static int print_end(struct cli *cli, const struct answer *a)
{
	const char *type = json_string_value(json_object_get(a->json, "type"));
	const char *text = json_string_value(json_object_get(a->json, "text"));
	if (cli->json) {
		cli_print_json(cli, json_incref(a->json));
	} else if (text) {
		puts(text);
		cli_flush(cli);
	}
	if (cli->status != 0)
		return cli->status;
	if (json_is_integer(json_object_get(a->json, "fired")))
		return 0;
	/* Any other end: the session has ended. */
	return type && strcmp(type, "timeout") == 0 ? CLI_TIME_OVER : CLI_GONE;
}

int wait_until(struct cli *cli, const char *session, json_t *conditions, const json_t *from,
	uint64_t timeout_ms)
{
	struct answer a;
	char key[4 + 17] = "cli-";
	int rc = id_hex(key + strlen(key), 17);
	if (rc < 0)
		return cli_fail(cli, "%s", strerror(-rc));
	json_t *body = make_body(conditions, from, timeout_ms, key);
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		/* The key identifies a repeated request as the same wait. */
		rc = call_try(cli, "POST", call_path(session, "/wait"), json_incref(body), &a);
		if (rc != -ECONNRESET && rc != -ECONNREFUSED)
			break;
		usleep(250000);
	}
	json_decref(body);
	if (rc < 0) {
		cli->status = CLI_NO_SERVER;
		return cli_fail(cli, "the server is lost");
	}
	rc = a.status == 200 ? print_end(cli, &a) : call_report_error(cli, &a);
	answer_finish(&a);
	return rc;
}

/* Find the offset at which input was typed last, in any way; if none was, count from now on. */
static int find_last(struct cli *cli, const char *session, struct plan *p)
{
	struct answer a;
	int rc = call_api(cli, "GET", call_path(session, "/typed"), NULL, &a);
	if (rc != 0)
		return rc;
	const json_t *typed = json_object_get(a.json, "typed");
	const json_t *last = json_array_get(typed, json_array_size(typed) - 1);
	json_decref(p->from);
	p->from = json_incref(json_object_get(last, "offset"));
	answer_finish(&a);
	return 0;
}

static int run_wait(struct cli *cli)
{
	struct plan p = {.until = json_array(), .timeout_ms = WAIT_TIMEOUT_MS};
	int option, rc = 0;
	while (rc == 0 && (option = cli_option(cli, ":t:", options)) != -1)
		rc = option == '?' ? cli->status : parse_option(cli, &p, option);
	const char *session = rc == 0 ? cli_required(cli, "SESSION") : NULL;
	if (rc == 0 && !session)
		rc = cli->status;
	if (rc == 0 && !cli_expect_end(cli))
		rc = cli->status;
	if (rc == 0 && json_array_size(p.until) == 0)
		rc = cli_usage(cli, "a condition is missing, such as --prompt or --match PATTERN");
	if (rc == 0)
		rc = connection_open(cli);
	if (rc == 0 && p.last)
		rc = find_last(cli, session, &p);
	if (rc == 0) {
		complete_conditions(&p);
		rc = wait_until(cli, session, p.until, p.from, p.timeout_ms);
	}
	json_decref(p.until);
	json_decref(p.from);
	return rc;
}

const struct command command_wait = {
	.name = "wait",
	.run = run_wait,
	.arguments = "[OPTIONS] SESSION",
	.summary = "Wait until one of the given conditions is true in a session",
	.options = "  --match PATTERN       its output matches; the match is printed\n"
		   "  --ignore-case, --screen\n"
		   "                        the pattern ignores case; it is searched on the screen\n"
		   "  --prompt              the shell is at its prompt\n"
		   "  --input               a program waits for input\n"
		   "  --idle MS, --stable MS\n"
		   "                        no output, or no change of the screen, for this long\n"
		   "  --bytes N             this many bytes of output\n"
		   "  --exec EXEC           this command has ended\n"
		   "  --exit                the shell has ended\n"
		   "  --port N              a process listens on this port of the machine\n"
		   "  --lease               no lease reserves the keyboard\n"
		   "  --from OFFSET|last    output counts from there, or from the last input, on\n"
		   "                        (default: now)\n"
		   "  -t, --timeout S       (default: 30) exit status 124 after it, 3 if the session ended\n",
};

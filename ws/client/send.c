/* `ringside send`: types into a session. */
#include "ws/base64.h"
#include "ws/client/connect/call.h"
#include "ws/client/command.h"
#include "ws/client/connect/connection.h"
#include "ws/client/job/input.h"
#include "ws/client/wait.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)64 << 10) /* bytes of standard input that are typed at once */
#define PAUSE_FIRST_MS 5u        /* for a program to read what was typed */
#define PAUSE_MAX_MS 200u

enum {
	OPT_TEXT = 256,
	OPT_PASTE,
	OPT_ENTER,
	OPT_NAME,
	OPT_LEASE,
	OPT_WAIT,
	OPT_INPUT = 'i',
	OPT_TIMEOUT = 't'
};

static const struct option options[] = {
	{"text", required_argument, NULL, OPT_TEXT},
	{"paste", required_argument, NULL, OPT_PASTE},
	{"enter", no_argument, NULL, OPT_ENTER},
	{"name", required_argument, NULL, OPT_NAME},
	{"lease", required_argument, NULL, OPT_LEASE},
	{"wait", no_argument, NULL, OPT_WAIT},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{"stdin", no_argument, NULL, OPT_INPUT},
	{0},
};

struct plan {
	json_t *body; /* owned */
	bool input, wait;
	uint64_t timeout_ms;
};

static int parse_option(struct cli *cli, struct plan *p, int option)
{
	static const struct {
		int option;
		const char *field;
	} texts[] = {
		{OPT_TEXT, "text"}, {OPT_PASTE, "paste"}, {OPT_NAME, "name"}, {OPT_LEASE, "lease"}};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].option == option)
			return json_object_set_new(p->body, texts[i].field, json_string(optarg)) == 0
				? 0
				: cli_usage(cli, "--%s is not UTF-8", texts[i].field);
	if (option == OPT_ENTER)
		return json_object_set_new(p->body, "submit", json_true());
	if (option == OPT_TIMEOUT && !cli_seconds(optarg, &p->timeout_ms))
		return cli_usage(cli, "--timeout must be a number of seconds");
	p->wait = p->wait || option == OPT_WAIT;
	p->input = p->input || option == OPT_INPUT;
	return 0;
}

/* The remaining arguments are names of keys. */
static int parse_keys(struct cli *cli, struct plan *p)
{
	json_t *keys = json_array();
	const char *name;
	while ((name = cli_argument(cli)))
		if (json_array_append_new(keys, json_string(name)) < 0) {
			json_decref(keys);
			return cli_usage(cli, "a key's name is not UTF-8");
		}
	if (json_array_size(keys) > 0)
		json_object_set(p->body, "keys", keys);
	json_decref(keys);
	return 0;
}

/* Wait until, after offset, the shell shows its prompt or a program waits for input. */
static int await_answer(
	struct cli *cli, const char *session, const struct plan *p, const json_t *offset)
{
	json_t *conditions = json_pack("[{s:s}, {s:s}]", "type", "prompt", "type", "input");
	int rc = conditions ? wait_until(cli, session, conditions, offset, p->timeout_ms)
			    : cli_fail(cli, "out of memory");
	json_decref(conditions);
	return rc;
}

/*
 * Whether the server refused the input because the session's queue is full. Nothing of it was
 * typed.
 */
static bool is_full(const struct answer *a)
{
	const json_t *context = json_object_get(a->json, "context");
	return a->status == 429 && json_object_get(context, "queued") &&
		strcmp(answer_text(a->json, "code"), "LIMIT_REACHED") == 0;
}

static void on_timer(uv_timer_t *timer)
{
	(void)timer;
}

static void pause_for(struct cli *cli, unsigned ms)
{
	uv_timer_t timer;
	uv_timer_init(&cli->loop, &timer);
	uv_timer_start(&timer, on_timer, ms, 0);
	while (uv_is_active((uv_handle_t *)&timer))
		uv_run(&cli->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(&cli->loop, UV_RUN_NOWAIT);
}

/* Type a body, retrying while the queue is full. Takes body. */
static int type_body(struct cli *cli, const char *session, json_t *body, struct answer *ret_answer)
{
	unsigned pause_ms = PAUSE_FIRST_MS;
	for (;;) {
		int rc = call_request(
			cli, "POST", call_path(session, "/keys"), json_incref(body), ret_answer);
		bool full = rc == 0 && is_full(ret_answer);
		if (rc == 0 && !full && ret_answer->status != 200)
			rc = call_report_error(cli, ret_answer);
		if (rc == 0 && !full) {
			json_decref(body);
			return 0;
		}
		answer_finish(ret_answer);
		if (rc != 0) {
			json_decref(body);
			return rc;
		}
		pause_for(cli, pause_ms);
		pause_ms = pause_ms * 2 < PAUSE_MAX_MS ? pause_ms * 2 : PAUSE_MAX_MS;
	}
}

/* The body for a piece of standard input: text and keys go with the first, Enter with the last. */
static json_t *next_body(const struct plan *p, bool first, bool last)
{
	static const char *const before[] = {"text", "paste", "keys"};
	json_t *body = json_copy(p->body);
	for (size_t i = 0; !first && i < sizeof before / sizeof *before; i++)
		json_object_del(body, before[i]);
	if (!last)
		json_object_del(body, "submit");
	return body;
}

/* Type standard input, piece by piece, as fast as the session reads it. */
static int type_input(
	struct cli *cli, const char *session, const struct plan *p, struct answer *ret_answer)
{
	char *bytes = malloc(PIECE);
	bool first = true, whole = false;
	int rc = 0;
	while (rc == 0 && !whole) {
		ssize_t n = bytes ? input_gather(bytes, PIECE, &whole) : -ENOMEM;
		if (n == 0 && !whole)
			continue; /* nothing yet */
		if (n < 0) {
			rc = cli_fail(cli, "standard input: %s", strerror((int)-n));
			break;
		}
		json_t *body = next_body(p, first, whole);
		json_object_set_new(body, "base64", base64_json(bytes, (size_t)n));
		answer_finish(ret_answer);
		rc = type_body(cli, session, body, ret_answer);
		first = false;
	}
	free(bytes);
	return rc;
}

static int type_keys(struct cli *cli, const char *session, const struct plan *p)
{
	struct answer a = {0};
	int rc = p->input
		? type_input(cli, session, p, &a)
		: call_api(cli, "POST", call_path(session, "/keys"), json_incref(p->body), &a);
	if (rc == 0 && p->wait)
		rc = await_answer(cli, session, p, json_object_get(a.json, "offset"));
	else if (rc == 0 && cli->json)
		rc = cli_print_json(cli, json_incref(a.json));
	answer_finish(&a);
	return rc;
}

static int run_send(struct cli *cli)
{
	struct plan p = {.body = json_object(), .timeout_ms = WAIT_TIMEOUT_MS};
	int option, rc = 0;
	while (rc == 0 && (option = cli_option(cli, ":it:", options)) != -1)
		rc = option == '?' ? cli->status : parse_option(cli, &p, option);
	const char *session = rc == 0 ? cli_required(cli, "SESSION") : NULL;
	if (rc == 0 && !session)
		rc = cli->status;
	if (rc == 0)
		rc = parse_keys(cli, &p);
	if (rc == 0 && !p.input && json_object_size(p.body) == 0)
		rc = cli_usage(cli,
			"nothing to type: give names of keys, such as C-c Enter, or --text TEXT");
	if (rc == 0)
		rc = connection_open(cli);
	if (rc == 0)
		rc = type_keys(cli, session, &p);
	json_decref(p.body);
	return rc;
}

const struct command command_send = {
	.name = "send",
	.run = run_send,
	.arguments = "[OPTIONS] SESSION [KEY...]",
	.summary = "Type into a session: text, and then keys by their names (C-c, Enter, F5, C-Left, M-x)",
	.options = "  --text TEXT           as it is\n"
		   "  --paste TEXT          as a paste, bracketed if the program asked for that\n"
		   "  -i, --stdin           read standard input\n"
		   "  --enter               then Enter, as a separate key\n"
		   "  --wait                until the shell shows its prompt, or a program waits for input\n"
		   "  -t, --timeout S       for --wait (default: 30); the status is 124 then\n"
		   "  --name NAME           your name, for the record\n"
		   "  --lease ID            the lease that allows typing\n",
};

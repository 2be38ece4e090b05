/* `ringside send`: typing into a session. */
#include "ws/client/connect/call.h"
#include "ws/client/command.h"
#include "ws/client/connect/connection.h"
#include "ws/client/job/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_TEXT = 256, OPT_PASTE, OPT_ENTER, OPT_NAME, OPT_LEASE, OPT_INPUT = 'i' };

static const struct option options[] = {
	{"text", required_argument, NULL, OPT_TEXT},
	{"paste", required_argument, NULL, OPT_PASTE},
	{"enter", no_argument, NULL, OPT_ENTER},
	{"name", required_argument, NULL, OPT_NAME},
	{"lease", required_argument, NULL, OPT_LEASE},
	{"stdin", no_argument, NULL, OPT_INPUT},
	{0},
};

struct plan {
	json_t *body; /* owned */
	bool input;
};

static int take_send_option(struct cli *cli, struct plan *p, int option)
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
	p->input = true;
	return 0;
}

/* Keys by their names. */
static int take_keys(struct cli *cli, struct plan *p)
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

static int take_typed_input(struct cli *cli, struct plan *p)
{
	int rc = input_read(cli, p->body);
	json_t *bytes = json_object_get(p->body, "stdinBase64");
	if (rc == 0)
		json_object_set(p->body, "base64", bytes);
	json_object_del(p->body, "stdinBase64");
	return rc;
}

static int type_keys(struct cli *cli, const char *session, struct plan *p)
{
	struct answer a;
	int rc = call_api(cli, "POST", call_path(session, "/keys"), json_incref(p->body), &a);
	if (rc != 0)
		return rc;
	rc = cli->json ? cli_print_json(cli, json_incref(a.json)) : 0;
	answer_finish(&a);
	return rc;
}

static int run_send(struct cli *cli)
{
	struct plan p = {.body = json_object()};
	int option, rc = 0;
	while (rc == 0 && (option = cli_option(cli, ":i", options)) != -1)
		rc = option == '?' ? cli->status : take_send_option(cli, &p, option);
	const char *session = rc == 0 ? cli_argument(cli) : NULL;
	if (rc == 0 && !session)
		rc = cli_usage(cli, "which session?");
	if (rc == 0)
		rc = take_keys(cli, &p);
	if (rc == 0 && p.input)
		rc = take_typed_input(cli, &p);
	if (rc == 0 && json_object_size(p.body) == 0)
		rc = cli_usage(cli, "what? Keys by their names, such as C-c Enter, or --text TEXT");
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
		   "  --paste TEXT          as a paste, bracketed where the program asked for that\n"
		   "  -i, --stdin           what is on our standard input\n"
		   "  --enter               and Enter at the end, apart from the rest\n"
		   "  --name NAME           who types, for the record\n"
		   "  --lease ID            of the lease that was taken\n",
};

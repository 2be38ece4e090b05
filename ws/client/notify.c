/*
 * `ringside notify` and `ringside open`: something that all who watch a session are told; a link is one of it by itself. It
 * is an event of the session, and pages show it. Nothing is waited for.
 */
#include "ws/client/command.h"
#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_SESSION = 's', OPT_TITLE = 256 };

static const struct option options[] = {
	{"session", required_argument, NULL, OPT_SESSION},
	{"title", required_argument, NULL, OPT_TITLE},
	{0},
};

struct notice {
	const char *session, *title;
};

static int take_options(struct cli *cli, struct notice *n)
{
	int option;
	n->session = getenv("RINGSIDE_SESSION");
	while ((option = cli_option(cli, ":s:", options)) != -1) {
		if (option == '?')
			return cli->status;
		if (option == OPT_SESSION)
			n->session = optarg;
		else
			n->title = optarg;
	}
	return 0;
}

/* The words that are left, as one text; owned. NULL: there are none, or no memory. */
static char *join_words(struct cli *cli)
{
	char *text = NULL;
	size_t length;
	const char *word = cli_argument(cli);
	FILE *f = word ? open_memstream(&text, &length) : NULL;
	for (const char *blank = ""; f && word; word = cli_argument(cli), blank = " ")
		fprintf(f, "%s%s", blank, word);
	if (f && fclose(f) != 0) {
		free(text);
		text = NULL;
	}
	return text;
}

static int send_notice(struct cli *cli, const struct notice *n, const char *text)
{
	struct answer a;
	if (!n->session || !*n->session)
		return cli_usage(cli, "in which session? --session says it");
	json_t *body = json_pack("{s:s, s:s*}", "text", text, "title", n->title);
	if (!body)
		return cli_usage(cli, "the text is not UTF-8");
	int rc = connection_open(cli);
	if (rc != 0)
		json_decref(body);
	else
		rc = call_api(cli, "POST", call_path(n->session, "/notify"), body, &a);
	if (rc == 0)
		answer_finish(&a);
	return rc;
}

static int run_notify(struct cli *cli)
{
	struct notice n = {0};
	int rc = take_options(cli, &n);
	if (rc != 0)
		return rc;
	char *text = join_words(cli);
	rc = text ? send_notice(cli, &n, text) : cli_usage(cli, "what is there to say?");
	free(text);
	return rc;
}

const struct command command_notify = {
	.name = "notify",
	.run = run_notify,
	.arguments = "[OPTIONS] TEXT...",
	.summary = "Tell all who watch a session; within a session, that one",
	.options = "  -s, --session SESSION\n"
		   "  --title TITLE         above the text\n",
};

static int run_open(struct cli *cli)
{
	struct notice n = {0};
	int rc = take_options(cli, &n);
	const char *link = rc == 0 ? cli_argument(cli) : NULL;
	if (rc != 0 || !cli_done(cli))
		return cli->status;
	if (!link || (strncmp(link, "http://", 7) != 0 && strncmp(link, "https://", 8) != 0))
		return cli_usage(cli, "a link begins with http:// or https://");
	return send_notice(cli, &n, link);
}

const struct command command_open = {
	.name = "open",
	.run = run_open,
	.arguments = "[OPTIONS] LINK",
	.summary = "Show a link to all who watch a session, to be opened by them",
	.options = "  -s, --session SESSION\n"
		   "  --title TITLE         before the link\n",
};

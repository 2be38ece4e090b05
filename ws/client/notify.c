/* `ringside notify` and `ringside open`: a text or a link for everybody who watches a session. */
#include "ws/client/command.h"
#include "ws/client/connect/call.h"

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

static int parse_options(struct cli *cli, struct notice *n)
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

/* Join the remaining words with blanks; owned. NULL: there are none, or out of memory. */
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
		return cli_usage(cli, "the session is missing: use --session outside of sessions");
	json_t *body = json_pack("{s:s, s:s*}", "text", text, "title", n->title);
	if (!body)
		return cli_usage(cli, "the text is not UTF-8");
	int rc = call_api(cli, "POST", call_path(n->session, "/notify"), body, &a);
	if (rc == 0)
		answer_finish(&a);
	return rc;
}

static int run_notify(struct cli *cli)
{
	struct notice n = {0};
	int rc = parse_options(cli, &n);
	if (rc != 0)
		return rc;
	char *text = join_words(cli);
	rc = text ? send_notice(cli, &n, text) : cli_usage(cli, "TEXT is missing");
	free(text);
	return rc;
}

const struct command command_notify = {
	.name = "notify",
	.run = run_notify,
	.arguments = "[OPTIONS] TEXT...",
	.summary = "Show a notice to everybody who watches a session (default: $RINGSIDE_SESSION)",
	.options = "  -s, --session SESSION\n"
		   "  --title TITLE         above the text\n",
};

static int run_open(struct cli *cli)
{
	struct notice n = {0};
	int rc = parse_options(cli, &n);
	const char *link = rc == 0 ? cli_argument(cli) : NULL;
	if (rc != 0 || !cli_expect_end(cli))
		return cli->status;
	if (!link || (strncmp(link, "http://", 7) != 0 && strncmp(link, "https://", 8) != 0))
		return cli_usage(cli, "LINK must begin with http:// or https://");
	return send_notice(cli, &n, link);
}

const struct command command_open = {
	.name = "open",
	.run = run_open,
	.arguments = "[OPTIONS] LINK",
	.summary = "Show a link to everybody who watches a session (default: $RINGSIDE_SESSION)",
	.options = "  -s, --session SESSION\n"
		   "  --title TITLE         before the link\n",
};

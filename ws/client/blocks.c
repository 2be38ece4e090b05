/* `ringside blocks`: the commands that ran in a session, and their output. */
#include "ws/client/connect/call.h"
#include "ws/client/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_LIMIT = 256,
	OPT_AUTHOR,
	OPT_STATUS,
	OPT_STATE,
	OPT_TEXT,
	OPT_LABEL,
	OPT_OUTPUT,
	OPT_ANSI,
	OPT_BYTES
};

static const struct option options[] = {
	{"limit", required_argument, NULL, OPT_LIMIT},
	{"author", required_argument, NULL, OPT_AUTHOR},
	{"label", required_argument, NULL, OPT_LABEL},
	{"status", required_argument, NULL, OPT_STATUS},
	{"state", required_argument, NULL, OPT_STATE},
	{"text", required_argument, NULL, OPT_TEXT},
	{"output", required_argument, NULL, OPT_OUTPUT},
	{"ansi", no_argument, NULL, OPT_ANSI},
	{"bytes", no_argument, NULL, OPT_BYTES},
	{0},
};

struct plan {
	const char *session, *block, *format;
	char query[2048];
};

static int add_query(struct cli *cli, struct plan *p, const char *name)
{
	char *value = call_encode(optarg);
	size_t at = strlen(p->query);
	int n = snprintf(p->query + at, sizeof p->query - at, "%c%s=%s", at == 0 ? '?' : '&', name,
		value ? value : "");
	free(value);
	return n >= 0 && (size_t)n < sizeof p->query - at ? 0
							  : cli_usage(cli, "--%s is too long", name);
}

static int parse_option(struct cli *cli, struct plan *p, int option)
{
	const struct option *o = options;
	while (o->val != option)
		o++;
	/* These are parameters of the request, by the same names. */
	if (option <= OPT_LABEL)
		return add_query(cli, p, o->name);
	if (option == OPT_OUTPUT)
		p->block = optarg;
	else
		p->format = option == OPT_ANSI ? "ansi" : "bytes";
	return 0;
}

static void print_block(const json_t *b)
{
	char status[16] = "-";
	const json_t *code = json_object_get(b, "exitCode");
	const char *command = answer_text(b, "command"), *label = answer_text(b, "label");
	if (strcmp(answer_text(b, "state"), "running") == 0)
		snprintf(status, sizeof status, "running");
	else if (json_is_integer(code))
		snprintf(status, sizeof status, "%d", (int)json_integer_value(code));
	printf("%-6s %7s  %-12.12s  ", answer_text(b, "id"), status, answer_text(b, "author"));
	if (*label)
		printf("\"%s\" ", label);
	cli_print_text(stdout, command);
	putchar('\n');
}

static void show_blocks(const json_t *answer)
{
	size_t i;
	json_t *b;
	json_array_foreach (json_object_get(answer, "blocks"), i, b)
		print_block(b);
}

static int print_output(struct cli *cli, const struct plan *p)
{
	struct answer a;
	char *block = call_encode(p->block);
	int rc = call_api(cli, "GET",
		call_path(p->session, "/blocks/%s/output?format=%s&head=8388608",
			block ? block : "", cli->json ? "json" : p->format),
		NULL, &a);
	free(block);
	if (rc != 0)
		return rc;
	if (a.omitted[0] && strcmp(a.omitted, "0") != 0)
		fprintf(stderr, "ringside blocks: %s bytes of the output are left out\n", a.omitted);
	fwrite(a.body ? a.body : "", 1, a.length, stdout);
	if (cli->json)
		putchar('\n');
	rc = cli_flush(cli);
	answer_finish(&a);
	return rc;
}

static int run_blocks(struct cli *cli)
{
	struct plan p = {.format = "text"};
	int option, rc = 0;
	while (rc == 0 && (option = cli_option(cli, ":", options)) != -1)
		rc = option == '?' ? cli->status : parse_option(cli, &p, option);
	if (rc != 0)
		return rc;
	p.session = cli_required(cli, "SESSION");
	if (!p.session || !cli_expect_end(cli))
		return cli->status;
	return p.block ? print_output(cli, &p)
		       : call_show(cli, "GET", call_path(p.session, "/blocks%s", p.query), NULL,
				 NULL, show_blocks);
}

const struct command command_blocks = {
	.name = "blocks",
	.run = run_blocks,
	.arguments = "[OPTIONS] SESSION",
	.summary = "List the commands that ran in a session, or print the output of one",
	.options = "  --output BLOCK        print the output of that command\n"
		   "  --ansi, --bytes       with --output: keep colours; keep all bytes\n"
		   "  --limit N, --author NAME, --label NAME, --status STATUS, --state running|done,\n"
		   "  --text TEXT           list only these\n",
};

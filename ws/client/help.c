/* `ringside help` and `ringside version`, which need no server. */
#include "ws/client/command.h"

#include <stdio.h>
#include <string.h>

/* Accept no options but the common ones. */
static int parse_no_options(struct cli *cli)
{
	static const struct option none[] = {{0}};
	return cli_option(cli, ":", none) == '?' ? cli->status : 0;
}

static int print_overview(struct cli *cli)
{
	puts("Usage: ringside COMMAND [OPTIONS] [ARGUMENTS]\n\n"
	     "  serve                     The server: terminals over HTTP, WebSocket and MCP");
	command_list();
	puts("\nringside help COMMAND explains one.");
	return cli_flush(cli);
}

static int run_help(struct cli *cli)
{
	int rc = parse_no_options(cli);
	const char *name = rc == 0 ? cli_argument(cli) : NULL;
	if (rc != 0 || !cli_expect_end(cli))
		return cli->status;
	if (!name)
		return print_overview(cli);
	if (strcmp(name, "serve") == 0) {
		cli->serve_help(stdout);
		return cli_flush(cli);
	}
	const struct command *c = command_find(name), *like = command_find_like(name);
	if (!c && like)
		return cli_usage(
			cli, "there is no command '%s': did you mean '%s'?", name, like->name);
	if (!c)
		return cli_usage(cli, "there is no command '%s'; ringside help lists them", name);
	cli_print_help(stdout, c);
	return cli_flush(cli);
}

const struct command command_help = {
	.name = "help",
	.run = run_help,
	.arguments = "[COMMAND]",
	.summary = "List the commands, or explain one",
	.options = "",
};

static int run_version(struct cli *cli)
{
	int rc = parse_no_options(cli);
	if (rc != 0 || !cli_expect_end(cli))
		return cli->status;
	if (cli->json)
		return cli_print_json(cli,
			json_pack("{s:s, s:s?}", "version", RINGSIDE_RELEASE, "commit", cli->commit));
	printf("ringside " RINGSIDE_RELEASE "%s%s%s\n", cli->commit ? " (" : "",
		cli->commit ? cli->commit : "", cli->commit ? ")" : "");
	return cli_flush(cli);
}

const struct command command_version = {
	.name = "version",
	.run = run_version,
	.arguments = "",
	.summary = "Print the release and the commit",
	.options = "",
};

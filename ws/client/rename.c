/* `ringside rename`: gives a session another name. */
#include "ws/client/command.h"
#include "ws/client/connect/call.h"

#include <stdlib.h>

static int run_rename(struct cli *cli)
{
	static const struct option none[] = {{0}};
	if (cli_option(cli, ":", none) == '?')
		return cli->status;
	const char *session = getenv("RINGSIDE_SESSION");
	if (cli->argc - optind != 1)
		session = cli_argument(cli);
	const char *name = cli_argument(cli);
	if (!name || !session || !*session)
		return cli_usage(cli, "%s is missing", name ? "SESSION" : "NAME");
	if (!cli_expect_end(cli))
		return cli->status;
	json_t *body = json_pack("{s:s}", "name", name);
	if (!body)
		return cli_usage(cli, "the name is not UTF-8");
	return call_show(cli, "POST", call_path(session, "/rename"), body, "data", NULL);
}

const struct command command_rename = {
	.name = "rename",
	.run = run_rename,
	.arguments = "[SESSION] NAME",
	.summary = "Give a session another name (default: $RINGSIDE_SESSION)",
	.options = "",
};

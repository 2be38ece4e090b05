/* `ringside completion`: what a shell needs to complete our command lines. */
#include "ws/client/completion.h"

#include "ws/client/command.h"

#include <stdio.h>
#include <string.h>

enum { OPT_COMMANDS = 256 };

static int run_completion(struct cli *cli)
{
	static const struct option options[] = {{"commands", no_argument, NULL, OPT_COMMANDS}, {0}};
	int option;
	bool names = false;
	while ((option = cli_option(cli, ":", options)) != -1) {
		if (option == '?')
			return cli->status;
		names = true;
	}
	if (names) {
		command_names();
		return cli_flush(cli);
	}
	const char *shell = cli_argument(cli);
	if (!shell || strcmp(shell, "bash") != 0)
		return cli_usage(cli, "there is completion for bash only");
	if (!cli_done(cli))
		return cli->status;
	if (cli->json)
		return cli_print_json(cli, json_pack("{s:s}", "bash", completion_bash));
	fwrite(completion_bash, 1, completion_bash_length, stdout);
	return cli_flush(cli);
}

const struct command command_completion = {
	.name = "completion",
	.run = run_completion,
	.arguments = "bash",
	.summary = "Print what completes command lines: eval \"$(ringside completion bash)\"",
	.options = "  --commands            print the names of the commands\n",
};

/* `ringside completion`: the completion scripts, and the completions that they ask for. */
#include "ws/client/completion.h"

#include "ws/client/candidates.h"
#include "ws/client/command.h"

#include <stdio.h>
#include <string.h>

enum { OPT_COMMANDS = 256, OPT_WORDS };

static int run_completion(struct cli *cli)
{
	static const struct option options[] = {{"commands", no_argument, NULL, OPT_COMMANDS},
		{"words", no_argument, NULL, OPT_WORDS}, {0}};
	static const struct {
		const char *shell, *text;
		const size_t *length;
	} scripts[] = {{"bash", completion_bash, &completion_bash_length},
		{"fish", completion_fish, &completion_fish_length},
		{"zsh", completion_zsh, &completion_zsh_length}};
	int option;
	bool names = false, words = false;
	while ((option = cli_option(cli, "+:", options)) != -1) {
		if (option == '?')
			return cli->status;
		names = option == OPT_COMMANDS;
		words = option == OPT_WORDS;
	}
	if (names) {
		command_names();
		return cli_flush(cli);
	}
	if (words)
		return candidates_print(cli, cli->argc - optind, cli->argv + optind);
	const char *shell = cli_argument(cli);
	size_t i = 0;
	while (shell && i < sizeof scripts / sizeof *scripts && strcmp(shell, scripts[i].shell) != 0)
		i++;
	if (!shell || i == sizeof scripts / sizeof *scripts)
		return cli_usage(cli, "the shell is bash, fish or zsh");
	if (!cli_expect_end(cli))
		return cli->status;
	if (cli->json)
		return cli_print_json(cli, json_pack("{s:s}", shell, scripts[i].text));
	fwrite(scripts[i].text, 1, *scripts[i].length, stdout);
	return cli_flush(cli);
}

const struct command command_completion = {
	.name = "completion",
	.run = run_completion,
	.arguments = "bash|fish|zsh",
	.summary = "Print the completion script for a shell: eval \"$(ringside completion bash)\"",
	.options = "  --commands            print the names of the commands\n"
		   "  --words WORD...       print the completions of the last word\n",
};

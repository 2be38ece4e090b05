/* `ringside completion`: what a shell needs to complete our command lines. */
#include "ws/client/completion.h"

#include "ws/client/command.h"

#include <stdio.h>
#include <string.h>

enum { OPT_COMMANDS = 256 };

static int run_completion(struct line *l)
{
	static const struct option options[] = {{"commands", no_argument, NULL, OPT_COMMANDS}, {0}};
	int option;
	bool names = false;
	while ((option = line_option(l, ":", options)) != -1) {
		if (option == '?')
			return l->status;
		names = true;
	}
	if (names) {
		command_names();
		return line_flush(l);
	}
	const char *shell = line_argument(l);
	if (!shell || strcmp(shell, "bash") != 0)
		return line_usage(l, "there is completion for bash only");
	if (!line_done(l))
		return l->status;
	if (l->json)
		return line_print_json(l, json_pack("{s:s}", "bash", completion_bash));
	fwrite(completion_bash, 1, completion_bash_length, stdout);
	return line_flush(l);
}

const struct command command_completion = {
	.name = "completion",
	.run = run_completion,
	.arguments = "bash",
	.summary = "Print what completes command lines: eval \"$(ringside completion bash)\"",
	.options = "  --commands            print the names of the commands\n",
};

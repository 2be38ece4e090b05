/* `ringside cat`: prints files of a session, byte for byte. */
#include "shell/write_all.h"
#include "ws/client/connect/connection.h"
#include "ws/client/files/download.h"
#include "ws/client/files/files.h"

#include <string.h>
#include <unistd.h>

static const struct option options[] = {
	{"session", required_argument, NULL, 's'},
	{0},
};

int files_print(void *user, const void *bytes, size_t length)
{
	int rc = write_all(STDOUT_FILENO, bytes, length);
	return rc < 0 ? cli_fail(user, "standard output: %s", strerror(-rc)) : 0;
}

/* Print all files; continue after one that cannot be read. Returns the first error. */
static int print_files(struct cli *cli, const char *session)
{
	struct place from;
	const char *path;
	int first = 0;
	while ((path = cli_argument(cli))) {
		struct download d = {.cli = cli, .take = files_print, .user = cli};
		cli->status = 0;
		if (!place_of_session(path, session, &from))
			return cli_usage(
				cli, "a session's id has at most %u bytes", PLACE_SESSION_MAX);
		int rc = download_file(&d, &from);
		if (first == 0)
			first = rc;
		if (rc == CLI_NO_SERVER || d.status != 0)
			break;
	}
	return first;
}

static int run_cat(struct cli *cli)
{
	const char *session;
	if (cli_only_option(cli, ":s:", options, &session) != 0)
		return cli->status;
	if (optind >= cli->argc)
		return cli_usage(cli, "PATH is missing");
	int rc = connection_open(cli);
	return rc != 0 ? rc : print_files(cli, session);
}

const struct command command_cat = {
	.name = "cat",
	.run = run_cat,
	.arguments = "[OPTIONS] PATH...",
	.summary = "Print files as a session's shell sees them, byte for byte",
	.options = "  -s, --session SESSION the session that has them; relative paths begin in its\n"
		   "                        directory (default: the default session)\n",
};

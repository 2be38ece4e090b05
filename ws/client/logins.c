/* `ringside logins`: lists and revokes logins of browsers. */
#include "ws/client/connect/call.h"
#include "ws/client/command.h"
#include "ws/client/connect/local_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_ALL = 256 };

static const struct option options[] = {{"all", no_argument, NULL, OPT_ALL}, {0}};

struct plan {
	bool revoke, all;
	const char *login; /* to be revoked; NULL: none is named */
};

static int parse_line(struct cli *cli, struct plan *p)
{
	const char *all;
	if (cli_only_option(cli, ":", options, &all) != 0)
		return cli->status;
	p->all = all;
	const char *word = cli_argument(cli);
	p->revoke = word && strcmp(word, "revoke") == 0;
	if (word && !p->revoke)
		return cli_usage(cli, "unknown subcommand %s; the only one is revoke", word);
	p->login = p->revoke ? cli_argument(cli) : NULL;
	if (p->all && !p->revoke)
		return cli_usage(cli, "--all requires revoke");
	if (p->revoke && !p->login == !p->all)
		return cli_usage(cli, "revoke requires an id or --all");
	return cli_expect_end(cli) ? 0 : cli->status;
}

static void show_logins(const json_t *logins)
{
	size_t i;
	json_t *login;
	char since[LOCAL_TIME_SIZE], used[LOCAL_TIME_SIZE];
	json_array_foreach (logins, i, login)
		printf("%s  %-6s  since %s  used %s  from %s  %s\n", answer_text(login, "id"),
			answer_text(login, "role"),
			local_time(answer_text(login, "createdAt"), since),
			local_time(answer_text(login, "lastUsedAt"), used),
			answer_text(login, "peer"), answer_text(login, "userAgent"));
}

static int revoke_logins(struct cli *cli, const struct plan *p)
{
	char *path = NULL, *login = call_encode(p->login ? p->login : "");
	if (asprintf(&path, "/api/auth/logins%s%s", p->login ? "/" : "", login ? login : "") < 0)
		path = NULL;
	free(login);
	return call_show(cli, "DELETE", path, NULL, NULL, NULL);
}

static int run_logins(struct cli *cli)
{
	struct plan plan = {0};
	int rc = parse_line(cli, &plan);
	if (rc != 0)
		return rc;
	return plan.revoke
		? revoke_logins(cli, &plan)
		: call_show(cli, "GET", strdup("/api/auth/logins"), NULL, "logins", show_logins);
}

const struct command command_logins = {
	.name = "logins",
	.run = run_logins,
	.arguments = "[OPTIONS] [revoke ID]",
	.summary = "List the logins of browsers; revoke one of them, or all",
	.options = "  --all                 with revoke: revoke all\n",
};

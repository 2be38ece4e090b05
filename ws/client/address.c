/*
 * `ringside url` and `ringside token`: the server's address and its owner's token. The token is
 * read from the runtime directory and tried before it is printed, because the file may be out of
 * date.
 */
#include "ws/client/command.h"
#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_TOKEN = 256 };

#define TOKEN_NAME "token" /* beside the socket */

static int read_token(struct cli *cli)
{
	char path[PATH_MAX + sizeof TOKEN_NAME + 1];
	const char *slash = strrchr(cli->path, '/');
	if (cli->target.token)
		return 0;
	if (cli->url)
		return cli_fail(cli, "--url requires --token-file or $RINGSIDE_TOKEN");
	snprintf(path, sizeof path, "%.*s" TOKEN_NAME, slash ? (int)(slash + 1 - cli->path) : 0,
		cli->path);
	FILE *f = fopen(path, "re");
	bool read = f && fgets(cli->token, sizeof cli->token, f);
	int error = errno;
	if (f)
		fclose(f);
	if (!read)
		return cli_fail(
			cli, "%s: %s", path, f ? "the file contains no token" : strerror(error));
	cli->token[strcspn(cli->token, "\r\n")] = '\0';
	return 0;
}

/* Find the token, connect with it, and check that the server accepts it. */
static int find_token(struct cli *cli)
{
	struct answer a;
	int rc = read_token(cli);
	if (rc != 0)
		return rc;
	client_close(cli->client);
	cli->client = NULL;
	cli->target.token = cli->token;
	rc = client_open(&cli->loop, &cli->target, &cli->client);
	if (rc < 0)
		return cli_fail(cli, "%s", strerror(-rc));
	rc = call_request(cli, "GET", strdup("/api/auth/whoami"), NULL, &a);
	if (rc != 0)
		return rc;
	if (a.status == 401)
		rc = cli_fail(cli,
			"the token in the runtime directory is out of date: see --token-file of the server");
	else if (a.status != 200)
		rc = call_report_error(cli, &a);
	answer_finish(&a);
	return rc;
}

static int run_token(struct cli *cli)
{
	static const struct option none[] = {{0}};
	if (cli_option(cli, ":", none) == '?' || !cli_expect_end(cli))
		return cli->status;
	int rc = connection_open(cli);
	if (rc == 0)
		rc = find_token(cli);
	if (rc != 0)
		return rc;
	if (cli->json)
		return cli_print_json(cli, json_pack("{s:s}", "token", cli->token));
	puts(cli->token);
	return cli_flush(cli);
}

const struct command command_token = {
	.name = "token",
	.run = run_token,
	.arguments = "",
	.summary = "Print the owner's token of the server",
	.options = "",
};

static int print_url(struct cli *cli, const char *url, bool with_token)
{
	if (cli->json)
		return cli_print_json(cli,
			with_token ? json_pack("{s:s, s:s}", "url", url, "token", cli->token)
				   : json_pack("{s:s}", "url", url));
	printf("%s%s%s\n", url, with_token ? "#token=" : "", with_token ? cli->token : "");
	return cli_flush(cli);
}

static int run_url(struct cli *cli)
{
	static const struct option options[] = {{"token", no_argument, NULL, OPT_TOKEN}, {0}};
	struct answer a;
	const char *with_token;
	if (cli_only_option(cli, ":", options, &with_token) != 0 || !cli_expect_end(cli))
		return cli->status;
	int rc = connection_open(cli);
	if (rc == 0 && with_token)
		rc = find_token(cli);
	if (rc == 0)
		rc = call_api(cli, "GET", strdup("/api/version"), NULL, &a);
	if (rc != 0)
		return rc;
	const char *url = cli->url ? cli->url : answer_text(a.json, "url");
	rc = *url ? print_url(cli, url, with_token)
		  : cli_fail(cli, "the server has no address that a browser can reach");
	answer_finish(&a);
	return rc;
}

const struct command command_url = {
	.name = "url",
	.run = run_url,
	.arguments = "[OPTIONS]",
	.summary = "Print where browsers reach the server",
	.options = "  --token               with the owner's token: the address gives all rights\n",
};

#include "ws/client/job/quoting.h"

#include "shell/quote.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_quoted(FILE *f, const char *word)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:@%+,";
	if (*word && word[strspn(word, plain)] == '\0') {
		fputs(word, f);
		return;
	}
	quote_put(f, word);
}

char *quoting_command(struct cli *cli)
{
	char *text = NULL;
	size_t length;
	const char *word = cli_required(cli, "COMMAND");
	if (!word)
		return NULL;
	FILE *f = open_memstream(&text, &length);
	bool single = optind >= cli->argc;
	if (f && single)
		fputs(word, f);
	while (f && !single && word) {
		put_quoted(f, word);
		word = cli_argument(cli);
		if (word)
			fputc(' ', f);
	}
	if (!f || fclose(f) != 0) {
		free(text);
		cli_fail(cli, "%s", strerror(ENOMEM));
		return NULL;
	}
	json_t *check = json_string(text);
	if (!check) {
		cli_usage(cli, "the command is not UTF-8");
		free(text);
		return NULL;
	}
	json_decref(check);
	return text;
}

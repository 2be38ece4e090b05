/*
 * The command line: options that all commands have, and complaints with the status that scripts see. The first complaint
 * sets the status to end with.
 */
#include "ws/client/connect/cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_SOCKET = 1000, OPT_URL, OPT_TOKEN_FILE, OPT_JSON, OPT_HELP };

static const struct option common[] = {
	{"socket", required_argument, NULL, OPT_SOCKET},
	{"url", required_argument, NULL, OPT_URL},
	{"token-file", required_argument, NULL, OPT_TOKEN_FILE},
	{"json", no_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, OPT_HELP},
	{0},
};

static void print_complaint(const struct cli *cli, const char *format, va_list list)
{
	char text[1024];
	vsnprintf(text, sizeof text, format, list);
	if (cli->json) {
		json_t *error = json_pack("{s:s, s:i}", "message", text, "status", cli->status);
		char *line = error ? json_dumps(error, JSON_COMPACT) : NULL;
		fprintf(stderr, "%s\n", line ? line : text);
		free(line);
		json_decref(error);
		return;
	}
	fprintf(stderr, "ringside %s: %s\n", cli->command->name, text);
}

int cli_usage(struct cli *cli, const char *format, ...)
{
	va_list list;
	cli->status = cli->command->passes ? CLI_FAILED : CLI_USAGE;
	va_start(list, format);
	print_complaint(cli, format, list);
	va_end(list);
	return cli->status;
}

int cli_fail(struct cli *cli, const char *format, ...)
{
	va_list list;
	if (cli->status == 0 || cli->command->passes)
		cli->status = CLI_FAILED;
	va_start(list, format);
	print_complaint(cli, format, list);
	va_end(list);
	return cli->status;
}

static void print_help(const struct command *c)
{
	printf("Usage: ringside %s %s\n\n%s\n\n%s"
	       "  --help\n"
	       "  --json                print JSON\n"
	       "  --socket PATH         the server's socket (default: $RINGSIDE_SOCKET, or ringside.sock in the\n"
	       "                        runtime directory of `ringside serve`)\n"
	       "  --url URL             a server elsewhere: http://HOST:PORT or https://HOST[:PORT]\n"
	       "  --token-file FILE     its token (default: $RINGSIDE_TOKEN)\n",
		c->name, c->arguments, c->summary, c->options);
}

static bool take_common(struct cli *cli, int option)
{
	switch (option) {
	case OPT_SOCKET:
		cli->socket = optarg;
		return true;
	case OPT_URL:
		cli->url = optarg;
		return true;
	case OPT_TOKEN_FILE:
		cli->token_file = optarg;
		return true;
	case OPT_JSON:
		cli->json = true;
		return true;
	case OPT_HELP:
		print_help(cli->command);
		exit(fflush(stdout) == 0 ? 0 : CLI_FAILED);
	default:
		return false;
	}
}

static void merge_options(struct cli *cli, const struct option *own)
{
	size_t n = 0;
	if (cli->options[0].name)
		return;
	for (const struct option *o = own; o && o->name; o++)
		cli->options[n++] = *o;
	for (const struct option *o = common; o->name; o++)
		cli->options[n++] = *o;
}

int cli_option(struct cli *cli, const char *shorts, const struct option *own)
{
	int option;
	merge_options(cli, own);
	opterr = 0;
	do
		option = getopt_long(cli->argc, cli->argv, shorts, cli->options, NULL);
	while (option >= 0 && take_common(cli, option));
	if (option == ':')
		cli_usage(cli, "%s needs a value", cli->argv[optind - 1]);
	else if (option == '?')
		cli_usage(cli, "there is no option %s; see ringside %s --help",
			cli->argv[optind - 1], cli->command->name);
	return option == ':' ? '?' : option;
}

const char *cli_argument(struct cli *cli)
{
	return optind < cli->argc ? cli->argv[optind++] : NULL;
}

bool cli_done(struct cli *cli)
{
	if (optind >= cli->argc)
		return true;
	cli_usage(cli, "one argument too many: %s", cli->argv[optind]);
	return false;
}

bool cli_seconds(const char *text, uint64_t *ret_ms)
{
	char *end;
	double seconds = strtod(text, &end);
	if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
		return false;
	*ret_ms = (uint64_t)(seconds * 1000);
	return true;
}

bool cli_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	char *end;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (end == text || *end || text[0] == '-' || errno == ERANGE || n > max)
		return false;
	*ret_number = n;
	return true;
}

bool cli_variable(json_t *variables, const char *text)
{
	const char *equals = strchr(text, '=');
	json_t *value = equals && equals > text ? json_string(equals + 1) : NULL;
	char name[256];
	if (!value || (size_t)(equals - text) >= sizeof name) {
		json_decref(value);
		return false;
	}
	snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
	return json_object_set_new(variables, name, value) == 0;
}

int cli_flush(struct cli *cli)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return cli_fail(cli, "standard output: %s", strerror(errno));
}

int cli_print_json(struct cli *cli, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	json_decref(value);
	if (!text)
		return cli_fail(cli, "%s", strerror(ENOMEM));
	puts(text);
	free(text);
	return cli_flush(cli);
}

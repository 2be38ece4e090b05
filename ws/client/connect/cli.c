/* The command line: common options, and error messages with exit statuses. */
#include "ws/client/connect/cli.h"

#include "ring/utf8.h"
#include "ws/client/connect/opposite.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(OPPOSITES_MAX >= CLI_OPTIONS_MAX, "each option may have an opposite");

enum { OPT_SOCKET = 1000, OPT_URL, OPT_TOKEN_FILE, OPT_NO_START, OPT_JSON, OPT_HELP };

static const struct option common[] = {
	{"socket", required_argument, NULL, OPT_SOCKET},
	{"url", required_argument, NULL, OPT_URL},
	{"token-file", required_argument, NULL, OPT_TOKEN_FILE},
	{"no-start", no_argument, NULL, OPT_NO_START},
	{"json", no_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, OPT_HELP},
	{0},
};

static void __attribute__((format(printf, 2, 0)))
print_error(const struct cli *cli, const char *format, va_list list)
{
	char text[1024];
	if (cli->quiet)
		return;
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
	print_error(cli, format, list);
	va_end(list);
	return cli->status;
}

int cli_fail(struct cli *cli, const char *format, ...)
{
	va_list list;
	if (cli->status == 0 || cli->command->passes)
		cli->status = CLI_FAILED;
	va_start(list, format);
	print_error(cli, format, list);
	va_end(list);
	return cli->status;
}

size_t cli_count_common_words(const char *word)
{
	size_t length = strcspn(word, "=");
	for (const struct option *o = common; o->name && strncmp(word, "--", 2) == 0; o++)
		if (strlen(o->name) == length - 2 && strncmp(word + 2, o->name, length - 2) == 0)
			return o->has_arg == required_argument && !word[length] ? 2 : 1;
	return 0;
}

void cli_print_help(FILE *out, const struct command *c)
{
	fprintf(out,
		"Usage: ringside %s%s%s\n\n%s\n\n%s%s"
		"  --help\n"
		"  --json                print JSON\n"
		"  --socket PATH         the server's socket (default: $RINGSIDE_SOCKET, or ringside.sock in the\n"
		"                        runtime directory of `ringside serve`)\n"
		"  --url URL             another server: http://HOST:PORT or https://HOST[:PORT][/PATH]\n"
		"  --token-file FILE     its token (default: $RINGSIDE_TOKEN)\n",
		c->name, c->arguments[0] ? " " : "", c->arguments, c->summary, c->options,
		c->starts ? "  --no-start            start no server if none runs\n" : "");
}

void cli_apply_config(struct cli *cli)
{
	const char *socket = getenv("RINGSIDE_SOCKET"), *token = getenv("RINGSIDE_TOKEN");
	cli->no_start = cli->no_start || cli->config.no_start;
	if (cli->configured || cli->url || cli->socket || (socket && *socket))
		return;
	cli->configured = true;
	cli->url = cli->config.url;
	cli->socket = cli->config.socket;
	/* A token of the config file belongs to the server of the config file. */
	if (!cli->token_file && !(token && *token))
		cli->token_file = cli->config.token_file;
}

/* Forget the config file's server: the command line names another one. */
static void drop_config(struct cli *cli)
{
	if (!cli->configured)
		return;
	cli->url = cli->socket = NULL;
	if (cli->token_file == cli->config.token_file)
		cli->token_file = NULL;
	cli->configured = false;
}

static bool handle_common(struct cli *cli, int option)
{
	switch (option) {
	case OPT_SOCKET:
		drop_config(cli);
		cli->socket = optarg;
		return true;
	case OPT_URL:
		drop_config(cli);
		cli->url = optarg;
		return true;
	case OPT_TOKEN_FILE:
		cli->token_file = optarg;
		return true;
	case OPT_NO_START:
		cli->no_start = true;
		return true;
	case OPT_JSON:
		cli->json = true;
		return true;
	case OPT_HELP:
		cli_print_help(stdout, cli->command);
		exit(fflush(stdout) == 0 ? 0 : CLI_FAILED);
	default:
		return false;
	}
}

/* Remove options that a later --no-NAME cancels. */
static void remove_cancelled(struct cli *cli, const char *shorts)
{
	bool taken[OPPOSITES_MAX];
	cli->argc = opposite_remove(cli->argc, cli->argv, shorts, cli->options, taken);
	for (size_t i = 0; cli->options[i].name; i++)
		if (cli->options[i].val == OPT_NO_START && taken[i])
			cli->config.no_start = false;
}

/* Build the table of options, before the first one is parsed. */
static void merge_options(struct cli *cli, const char *shorts, const struct option *own)
{
	size_t n = 0;
	if (cli->options[0].name)
		return;
	for (const struct option *o = own; o && o->name; o++)
		cli->options[n++] = *o;
	for (const struct option *o = common; o->name; o++)
		cli->options[n++] = *o;
	remove_cancelled(cli, shorts);
}

int cli_option(struct cli *cli, const char *shorts, const struct option *own)
{
	int option;
	merge_options(cli, shorts, own);
	opterr = 0;
	do
		option = getopt_long(cli->argc, cli->argv, shorts, cli->options, NULL);
	while (option >= 0 && handle_common(cli, option));
	if (option == ':')
		cli_usage(cli, "%s needs a value", cli->argv[optind - 1]);
	else if (option == '?')
		cli_usage(cli, "unknown option %s; see ringside %s --help", cli->argv[optind - 1],
			cli->command->name);
	else if (option == -1)
		cli_apply_config(cli);
	return option == ':' ? '?' : option;
}

int cli_only_option(
	struct cli *cli, const char *shorts, const struct option *own, const char **ret_value)
{
	int option;
	*ret_value = NULL;
	while ((option = cli_option(cli, shorts, own)) != -1) {
		if (option == '?')
			return cli->status;
		*ret_value = optarg ? optarg : "";
	}
	return 0;
}

const char *cli_argument(struct cli *cli)
{
	return optind < cli->argc ? cli->argv[optind++] : NULL;
}

const char *cli_required(struct cli *cli, const char *name)
{
	const char *given = cli_argument(cli);
	if (!given)
		cli_usage(cli, "%s is missing", name);
	return given;
}

const char *cli_session(struct cli *cli)
{
	const char *ours = getenv("RINGSIDE_SESSION");
	return optind >= cli->argc && ours && *ours ? ours : cli_required(cli, "SESSION");
}

bool cli_expect_end(struct cli *cli)
{
	if (optind >= cli->argc)
		return true;
	cli_usage(cli, "unexpected argument: %s", cli->argv[optind]);
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

bool cli_parse_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	char *end;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno == ERANGE || n > max)
		return false;
	*ret_number = n;
	return true;
}

bool cli_add_variable(json_t *variables, const char *text)
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

size_t cli_print_text(FILE *out, const char *text)
{
	size_t count = 0;
	while (*text) {
		uint32_t c;
		unsigned size = utf8_decode((const uint8_t *)text, UTF8_MAX, &c);
		if (size == 0) /* not UTF-8 */
			c = (unsigned char)*text;
		if (size > 0 && c >= ' ' && !utf8_is_hidden(c))
			count += fwrite(text, 1, size, out) == size;
		else if (c == '\n')
			count += (size_t)fprintf(out, "\\n");
		else
			count += (size_t)fprintf(out, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
		text += size > 0 ? size : 1;
	}
	return count;
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

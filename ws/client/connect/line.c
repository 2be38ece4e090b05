#include "ws/client/connect/line.h"

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

static void complain(const struct line *l, const char *format, va_list list)
{
	char text[1024];
	vsnprintf(text, sizeof text, format, list);
	if (l->json) {
		json_t *error = json_pack("{s:s, s:i}", "message", text, "status", l->status);
		char *line = error ? json_dumps(error, JSON_COMPACT) : NULL;
		fprintf(stderr, "%s\n", line ? line : text);
		free(line);
		json_decref(error);
		return;
	}
	fprintf(stderr, "ringside %s: %s\n", l->command->name, text);
}

int line_usage(struct line *l, const char *format, ...)
{
	va_list list;
	l->status = l->command->passes ? LINE_FAILED : LINE_USAGE;
	va_start(list, format);
	complain(l, format, list);
	va_end(list);
	return l->status;
}

int line_fail(struct line *l, const char *format, ...)
{
	va_list list;
	if (l->status == 0 || l->command->passes)
		l->status = LINE_FAILED;
	va_start(list, format);
	complain(l, format, list);
	va_end(list);
	return l->status;
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

static bool take_common(struct line *l, int option)
{
	switch (option) {
	case OPT_SOCKET:
		l->socket = optarg;
		return true;
	case OPT_URL:
		l->url = optarg;
		return true;
	case OPT_TOKEN_FILE:
		l->token_file = optarg;
		return true;
	case OPT_JSON:
		l->json = true;
		return true;
	case OPT_HELP:
		print_help(l->command);
		exit(fflush(stdout) == 0 ? 0 : LINE_FAILED);
	default:
		return false;
	}
}

static void merge(struct line *l, const struct option *own)
{
	size_t n = 0;
	if (l->options[0].name)
		return;
	for (const struct option *o = own; o && o->name; o++)
		l->options[n++] = *o;
	for (const struct option *o = common; o->name; o++)
		l->options[n++] = *o;
}

int line_option(struct line *l, const char *shorts, const struct option *own)
{
	int option;
	merge(l, own);
	opterr = 0;
	do
		option = getopt_long(l->argc, l->argv, shorts, l->options, NULL);
	while (option >= 0 && take_common(l, option));
	if (option == ':')
		line_usage(l, "%s needs a value", l->argv[optind - 1]);
	else if (option == '?')
		line_usage(l, "there is no option %s; see ringside %s --help", l->argv[optind - 1],
			l->command->name);
	return option == ':' ? '?' : option;
}

const char *line_argument(struct line *l)
{
	return optind < l->argc ? l->argv[optind++] : NULL;
}

bool line_done(struct line *l)
{
	if (optind >= l->argc)
		return true;
	line_usage(l, "one argument too many: %s", l->argv[optind]);
	return false;
}

bool line_seconds(const char *text, uint64_t *ret_ms)
{
	char *end;
	double seconds = strtod(text, &end);
	if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
		return false;
	*ret_ms = (uint64_t)(seconds * 1000);
	return true;
}

bool line_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	char *end;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (end == text || *end || text[0] == '-' || errno == ERANGE || n > max)
		return false;
	*ret_number = n;
	return true;
}

bool line_variable(json_t *variables, const char *text)
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

int line_flush(struct line *l)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return line_fail(l, "standard output: %s", strerror(errno));
}

int line_print_json(struct line *l, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	json_decref(value);
	if (!text)
		return line_fail(l, "%s", strerror(ENOMEM));
	puts(text);
	free(text);
	return line_flush(l);
}

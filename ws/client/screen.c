/* `ringside screen`: prints the screen of a session, and lines of its scrollback. */
#include "ws/client/connect/call.h"
#include "ws/client/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 10000000u

enum { OPT_ANSI = 256, OPT_HTML, OPT_SCROLLBACK, OPT_JOIN, OPT_CELLS };

static const struct option screen_options[] = {
	{"ansi", no_argument, NULL, OPT_ANSI},
	{"html", no_argument, NULL, OPT_HTML},
	{"join", no_argument, NULL, OPT_JOIN},
	{"cells", no_argument, NULL, OPT_CELLS},
	{"scrollback", required_argument, NULL, OPT_SCROLLBACK},
	{0},
};

struct view {
	const char *session, *format;
	bool join, cells;
	uint64_t lines; /* of scrollback */
};

static int parse_options(struct cli *cli, struct view *v)
{
	int option;
	while ((option = cli_option(cli, ":", screen_options)) != -1) {
		if (option == '?')
			return cli->status;
		if (option == OPT_ANSI)
			v->format = "ansi";
		else if (option == OPT_HTML)
			v->format = "html";
		else if (option == OPT_JOIN)
			v->join = true;
		else if (option == OPT_CELLS)
			v->cells = true;
		else if (strcmp(optarg, "all") == 0)
			v->lines = LINES_MAX;
		else if (!cli_parse_number(optarg, LINES_MAX, &v->lines))
			return cli_usage(cli, "--scrollback must be a number of lines, or all");
	}
	v->session = cli_required(cli, "SESSION");
	if (!v->session)
		return cli->status;
	if (cli->json)
		v->format = "json";
	return cli_expect_end(cli) ? 0 : cli->status;
}

static char *view_path(const struct view *v, const char *what, const char *range)
{
	return call_path(v->session, "/%s?format=%s%s%s%s", what, v->format,
		v->join ? "&wrap=join" : "", v->cells ? "&cells=1" : "", range);
}

/* Read one piece of the scrollback and advance *from. */
static int read_above(
	struct cli *cli, const struct view *v, uint64_t *from, uint64_t to, json_t *above)
{
	struct answer a;
	char range[96];
	uint64_t next = to;
	snprintf(range, sizeof range, "&from=%" PRIu64 "&to=%" PRIu64, *from, to);
	int rc = call_api(cli, "GET", view_path(v, "scrollback", range), NULL, &a);
	if (rc != 0)
		return rc;
	if (cli->json)
		json_array_extend(above, json_object_get(a.json, "lines"));
	else
		fwrite(a.body, 1, a.length, stdout);
	const json_t *more = json_object_get(a.json, "next");
	if (json_is_integer(more))
		next = (uint64_t)json_integer_value(more);
	else if (!cli->json && a.to[0])
		cli_parse_number(a.to, UINT64_MAX, &next);
	*from = next > *from ? next : to;
	answer_finish(&a);
	return 0;
}

/* The numbers of the first line that is kept, and of the first line of the screen. */
static void read_line_numbers(const struct answer *a, uint64_t *ret_first, uint64_t *ret_screen)
{
	const json_t *scrollback = json_object_get(a->json, "scrollback");
	*ret_first = *ret_screen = 0;
	if (a->json) {
		*ret_first = (uint64_t)json_integer_value(json_object_get(scrollback, "first"));
		*ret_screen = *ret_first +
			(uint64_t)json_integer_value(json_object_get(scrollback, "count"));
	} else {
		cli_parse_number(a->first, UINT64_MAX, ret_first);
		cli_parse_number(a->screen, UINT64_MAX, ret_screen);
	}
}

static int print_view(struct cli *cli, const struct view *v)
{
	struct answer a;
	uint64_t first, screen;
	json_t *above = json_array();
	int rc = call_api(cli, "GET", view_path(v, "screen", ""), NULL, &a);
	if (rc != 0) {
		json_decref(above);
		return rc;
	}
	read_line_numbers(&a, &first, &screen);
	uint64_t from = screen > v->lines && screen - v->lines > first ? screen - v->lines : first;
	while (rc == 0 && v->lines > 0 && from < screen)
		rc = read_above(cli, v, &from, screen, above);
	if (rc == 0 && cli->json) {
		if (v->lines > 0)
			json_object_set(a.json, "above", above);
		rc = cli_print_json(cli, json_incref(a.json));
	} else if (rc == 0) {
		fwrite(a.body, 1, a.length, stdout);
		rc = cli_flush(cli);
	}
	json_decref(above);
	answer_finish(&a);
	return rc;
}

static int run_screen(struct cli *cli)
{
	struct view v = {.format = "text"};
	int rc = parse_options(cli, &v);
	return rc != 0 ? rc : print_view(cli, &v);
}

const struct command command_screen = {
	.name = "screen",
	.run = run_screen,
	.arguments = "[OPTIONS] SESSION",
	.summary = "Print the screen of a session",
	.options = "  --ansi                with colours and styles\n"
		   "  --html\n"
		   "  --scrollback N|all    and this many lines above it\n"
		   "  --join                join wrapped lines\n"
		   "  --cells               with --json: cells with their styles\n",
};

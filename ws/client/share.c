/* `ringside share`: makes, lists and revokes links to a session. */
#include "ws/client/connect/call.h"
#include "ws/client/command.h"
#include "ws/client/connect/local_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_DRIVE = 256, OPT_EXPIRES, OPT_NAME, OPT_LIST, OPT_REVOKE, OPT_BASE };

static const struct option options[] = {
	{"drive", no_argument, NULL, OPT_DRIVE},
	{"expires", required_argument, NULL, OPT_EXPIRES},
	{"name", required_argument, NULL, OPT_NAME},
	{"list", no_argument, NULL, OPT_LIST},
	{"revoke", required_argument, NULL, OPT_REVOKE},
	{"base", required_argument, NULL, OPT_BASE},
	{0},
};

struct plan {
	const char *session, *revoke, *base;
	bool list;
	json_t *body; /* owned */
};

/* Parse a time: 90, 90s, 15m, 2h, 7d. */
static bool parse_span(const char *text, uint64_t *ret_ms)
{
	static const struct {
		char unit;
		unsigned seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	char number[32];
	size_t length = strlen(text);
	unsigned factor = 1;
	if (length == 0 || length >= sizeof number)
		return false;
	snprintf(number, sizeof number, "%s", text);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (number[length - 1] == units[i].unit) {
			factor = units[i].seconds;
			number[length - 1] = '\0';
			break;
		}
	if (!cli_seconds(number, ret_ms) || *ret_ms > UINT64_MAX / 86400)
		return false;
	*ret_ms *= factor;
	return true;
}

static int parse_option(struct cli *cli, struct plan *p, int option)
{
	uint64_t ms;
	switch (option) {
	case OPT_DRIVE:
		return json_object_set_new(p->body, "role", json_string("driver"));
	case OPT_EXPIRES:
		if (!parse_span(optarg, &ms))
			return cli_usage(
				cli, "--expires must be a time, such as 90s, 15m, 2h or 7d");
		return json_object_set_new(p->body, "expiresInMs", json_integer((json_int_t)ms));
	case OPT_NAME:
		return json_object_set_new(p->body, "name", json_string(optarg)) == 0
			? 0
			: cli_usage(cli, "--name is not UTF-8");
	case OPT_LIST:
		p->list = true;
		return 0;
	case OPT_BASE:
		p->base = optarg;
		return 0;
	default:
		p->revoke = optarg;
		return 0;
	}
}

static int parse_line(struct cli *cli, struct plan *p)
{
	int option, rc = 0;
	json_object_set_new(p->body, "role", json_string("viewer"));
	while (rc == 0 && (option = cli_option(cli, ":", options)) != -1)
		rc = option == '?' ? cli->status : parse_option(cli, p, option);
	if (rc != 0)
		return rc;
	p->session = cli_session(cli);
	if (!p->session)
		return cli->status;
	return cli_expect_end(cli) ? 0 : cli->status;
}

static void show_links(const json_t *links)
{
	size_t i;
	json_t *link;
	char until[LOCAL_TIME_SIZE];
	json_array_foreach (links, i, link)
		printf("%s  %-6s  until %s  %s\n", answer_text(link, "id"),
			answer_text(link, "role"), local_time(answer_text(link, "expiresAt"), until),
			answer_text(link, "name"));
}

static int revoke_link(struct cli *cli, const struct plan *p)
{
	char *link = call_encode(p->revoke);
	char *path = call_path(p->session, "/links/%s", link ? link : "");
	free(link);
	return call_show(cli, "DELETE", path, NULL, NULL, NULL);
}

/*
 * The link's address, below --base, --url, or the server's own address; owned. NULL: out of memory.
 */
static char *find_address(const struct cli *cli, const struct plan *p, const json_t *answer)
{
	const char *base = p->base ? p->base : cli->url, *known = answer_text(answer, "url");
	char *address = NULL;
	size_t length = base ? strlen(base) : 0;
	if (!base && *known)
		return strdup(known);
	while (length > 0 && base[length - 1] == '/')
		length--;
	if (asprintf(&address, "%.*s%s", (int)length, base ? base : "",
		    answer_text(answer, "path")) < 0)
		return NULL;
	return address;
}

/* Whether an address works on this machine only. */
static bool is_loopback(const char *url)
{
	static const char *const names[] = {"127.", "localhost:", "localhost/", "[::1]"};
	const char *host = strstr(url, "://");
	for (size_t i = 0; host && i < sizeof names / sizeof *names; i++)
		if (strncmp(host + 3, names[i], strlen(names[i])) == 0)
			return true;
	return !host;
}

static int create_link(struct cli *cli, const struct plan *p)
{
	struct answer a;
	int rc = call_api(cli, "POST", call_path(p->session, "/links"), json_incref(p->body), &a);
	if (rc != 0)
		return rc;
	char *url = find_address(cli, p, a.json);
	if (!url) {
		rc = cli_fail(cli, "out of memory");
	} else if (cli->json) {
		json_object_set_new(a.json, "url", json_string(url));
		rc = cli_print_json(cli, json_incref(a.json));
	} else {
		puts(url);
		rc = cli_flush(cli);
	}
	if (rc == 0 && is_loopback(url))
		fputs("ringside: this address works on this machine only: see --base, and --public-url of the server\n",
			stderr);
	free(url);
	answer_finish(&a);
	return rc;
}

static int run_share(struct cli *cli)
{
	struct plan plan = {.body = json_object()};
	int rc = parse_line(cli, &plan);
	if (rc == 0)
		rc = plan.list ? call_show(cli, "GET", call_path(plan.session, "/links"), NULL,
					 "links", show_links)
			: plan.revoke ? revoke_link(cli, &plan)
				      : create_link(cli, &plan);
	json_decref(plan.body);
	return rc;
}

const struct command command_share = {
	.name = "share",
	.run = run_share,
	.arguments = "[OPTIONS] [SESSION]",
	.summary = "Make a link to a session, and print its address; list or revoke links",
	.options = "  --drive               allow typing (default: only watching)\n"
		   "  --expires TIME        such as 90s, 15m, 2h or 7d (default: a day)\n"
		   "  --name NAME           the person that it is for\n"
		   "  --base URL            the address of the server for people\n"
		   "  --list                list the links\n"
		   "  --revoke LINK         revoke this link, by its id\n",
};

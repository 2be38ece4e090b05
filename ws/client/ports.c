/* `ringside ports`: lists listening ports, and gives them addresses. */
#include "ws/client/connect/call.h"
#include "ws/client/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS_WIDTH 15 /* columns of a process's name, as the kernel limits it */

enum { OPT_SESSION = 256, OPT_NAME, OPT_TOKEN };

static const struct option options[] = {
	{"session", required_argument, NULL, OPT_SESSION},
	{"name", required_argument, NULL, OPT_NAME},
	{"token", required_argument, NULL, OPT_TOKEN},
	{0},
};

struct plan {
	const char *session, *name, *token;
	bool expose, revoke; /* neither: list */
	uint64_t port;
};

static int parse_words(struct cli *cli, struct plan *p)
{
	const char *word = cli_argument(cli);
	p->expose = word && strcmp(word, "expose") == 0;
	p->revoke = word && strcmp(word, "revoke") == 0;
	if (word && !p->expose && !p->revoke)
		return cli_usage(
			cli, "unknown subcommand %s; there are expose PORT and revoke PORT", word);
	const char *port = word ? cli_argument(cli) : NULL;
	if (word && (!port || !cli_parse_number(port, 65535, &p->port)))
		return cli_usage(cli, "PORT must be a number up to 65535");
	if ((p->name && !p->expose) || (p->token && !word))
		return cli_usage(cli, "--name is for expose, --token for expose and revoke");
	if (p->session && p->revoke)
		return cli_usage(cli, "revoke does not accept --session");
	return cli_expect_end(cli) ? 0 : cli->status;
}

static int parse_line(struct cli *cli, struct plan *p)
{
	int option;
	while ((option = cli_option(cli, ":", options)) != -1) {
		if (option == '?')
			return cli->status;
		const char **field = option == OPT_SESSION ? &p->session
			: option == OPT_NAME               ? &p->name
							   : &p->token;
		*field = optarg;
	}
	return parse_words(cli, p);
}

/* Join a path, a query and its value, which is encoded; owned; NULL: out of memory. */
static char *path_with(const char *path, const char *query, const char *value)
{
	char *text = NULL, *encoded = call_encode(value ? value : "");
	if (!encoded ||
		asprintf(&text, "%s%s%s", path, value ? query : "", value ? encoded : "") < 0)
		text = NULL;
	free(encoded);
	return text;
}

/* Print the addresses of a port. */
static void print_previews(const json_t *previews, json_int_t port)
{
	size_t i;
	json_t *preview;
	json_array_foreach (previews, i, preview)
		if (json_integer_value(json_object_get(preview, "port")) == port)
			printf("       %s  %s\n",
				json_is_null(json_object_get(preview, "url"))
					? answer_text(preview, "path")
					: answer_text(preview, "url"),
				answer_text(preview, "name"));
}

static bool is_listed(const json_t *ports, json_int_t port)
{
	size_t i;
	json_t *each;
	json_array_foreach (ports, i, each)
		if (json_integer_value(json_object_get(each, "port")) == port)
			return true;
	return false;
}

static void print_ports(const json_t *ports, const json_t *previews)
{
	size_t i;
	json_t *port, *preview;
	json_array_foreach (ports, i, port) {
		json_int_t number = json_integer_value(json_object_get(port, "port"));
		printf("%5lld  ", (long long)number);
		size_t width = cli_print_text(stdout, answer_text(port, "process"));
		printf("%*s %s\n", width < PROCESS_WIDTH ? PROCESS_WIDTH - (int)width : 0, "",
			answer_text(port, "sessionId"));
		print_previews(previews, number);
	}
	/* Addresses of ports without a listener, each port once. */
	json_array_foreach (previews, i, preview) {
		json_int_t number = json_integer_value(json_object_get(preview, "port"));
		bool again = false;
		for (size_t before = 0; before < i; before++)
			again |= json_integer_value(json_object_get(
					 json_array_get(previews, before), "port")) == number;
		if (again || is_listed(ports, number))
			continue;
		printf("%5lld  no listener\n", (long long)number);
		print_previews(previews, number);
	}
}

static int list_ports(struct cli *cli, const struct plan *p)
{
	struct answer ports, previews;
	int rc = call_api(
		cli, "GET", path_with("/api/ports", "?sessionId=", p->session), NULL, &ports);
	if (rc != 0)
		return rc;
	rc = call_api(cli, "GET", strdup("/api/exposed-ports"), NULL, &previews);
	if (rc != 0) {
		answer_finish(&ports);
		return rc;
	}
	const json_t *listening = json_object_get(ports.json, "ports");
	const json_t *exposed = json_object_get(previews.json, "ports");
	json_t *mine = json_array(), *each;
	size_t i;
	json_array_foreach (exposed, i, each)
		if (!p->session || strcmp(answer_text(each, "sessionId"), p->session) == 0)
			json_array_append(mine, each);
	if (cli->json) {
		rc = cli_print_json(
			cli, json_pack("{s:O, s:O}", "ports", listening, "previews", mine));
	} else {
		print_ports(listening, mine);
		rc = cli_flush(cli);
	}
	json_decref(mine);
	answer_finish(&ports);
	answer_finish(&previews);
	return rc;
}

static void show_address(const json_t *preview)
{
	puts(json_is_null(json_object_get(preview, "url")) ? answer_text(preview, "path")
							   : answer_text(preview, "url"));
}

static int expose_port(struct cli *cli, const struct plan *p)
{
	json_t *body = json_pack("{s:I, s:s*, s:s*, s:s*}", "port", (json_int_t)p->port,
		"sessionId", p->session, "name", p->name, "token", p->token);
	if (!body)
		return cli_usage(cli, "an argument is not UTF-8");
	return call_show(cli, "POST", strdup("/api/expose-port"), body, NULL, show_address);
}

static int revoke_port(struct cli *cli, const struct plan *p)
{
	char path[64];
	snprintf(path, sizeof path, "/api/exposed-ports/%u", (unsigned)p->port);
	return call_show(cli, "DELETE", path_with(path, "?token=", p->token), NULL, NULL, NULL);
}

static int run_ports(struct cli *cli)
{
	struct plan plan = {0};
	int rc = parse_line(cli, &plan);
	if (rc == 0)
		rc = plan.expose      ? expose_port(cli, &plan)
			: plan.revoke ? revoke_port(cli, &plan)
				      : list_ports(cli, &plan);
	return rc;
}

const struct command command_ports = {
	.name = "ports",
	.run = run_ports,
	.arguments = "[OPTIONS] [expose PORT | revoke PORT]",
	.summary = "List listening ports; give one an address, or revoke it",
	.options = "  --session SESSION     only ports of its processes; expose: ends with it\n"
		   "  --name NAME           expose: a name for people\n"
		   "  --token TOKEN         expose: part of the address; revoke: only this address\n",
};

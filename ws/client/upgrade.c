/*
 * `ringside upgrade`: the server executes the program that is on the disk now. The answer comes just before; then another
 * instance answers on the same socket.
 */
#include "ws/client/command.h"
#include "ws/client/connect/call.h"

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_WAIT = 256, OPT_FORCE };

#define WAIT_MAX_MS 600000u
#define LOOK_MS 20
#define START_MS 30000 /* for the next instance to answer */

static const char *text(const struct answer *a, const char *field)
{
	return answer_text(a->json, field);
}

/* Ask until another instance answers. Returns 0 or the exit status. */
static int await_next(struct cli *cli, const char *instance, struct answer *ret_next)
{
	cli->patience_ms = START_MS;
	for (int ms = 0; ms < START_MS; ms += LOOK_MS) {
		struct answer a;
		int rc = call_try(cli, "GET", strdup("/api/version"), NULL, &a);
		if (rc == 0 && a.status == 200 && strcmp(text(&a, "instance"), instance) != 0) {
			*ret_next = a;
			return 0;
		}
		if (rc == 0)
			answer_finish(&a);
		poll(NULL, 0, LOOK_MS);
	}
	return cli_fail(cli,
		"the server has executed the new program, but that does not answer: see its log");
}

static int show(struct cli *cli, const struct answer *before, const struct answer *after)
{
	if (cli->json)
		return cli_print_json(cli,
			json_pack("{s:s, s:s, s:s}", "from", text(before, "version"), "to",
				text(after, "version"), "instance", text(after, "instance")));
	printf("upgraded from %s to %s\n", text(before, "version"), text(after, "version"));
	return cli_flush(cli);
}

static int upgrade(struct cli *cli, uint64_t wait_ms, bool waits, bool force)
{
	struct answer before, after;
	json_t *body = json_pack("{s:b}", "force", (int)force);
	if (body && waits)
		json_object_set_new(body, "waitMs", json_integer((json_int_t)wait_ms));
	int rc = call_api(cli, "POST", strdup("/api/upgrade"), body, &before);
	if (rc != 0)
		return rc;
	rc = await_next(cli, text(&before, "instance"), &after);
	if (rc == 0) {
		rc = show(cli, &before, &after);
		answer_finish(&after);
	}
	answer_finish(&before);
	return rc;
}

static int run_upgrade(struct cli *cli)
{
	static const struct option options[] = {{"wait", required_argument, NULL, OPT_WAIT},
		{"force", no_argument, NULL, OPT_FORCE}, {0}};
	uint64_t wait_ms = 0;
	bool waits = false, force = false;
	int option;
	while ((option = cli_option(cli, ":", options)) != -1) {
		if (option == '?')
			return cli->status;
		if (option == OPT_WAIT && (!cli_seconds(optarg, &wait_ms) || wait_ms > WAIT_MAX_MS))
			return cli_usage(cli, "--wait must be a number of seconds up to %u",
				WAIT_MAX_MS / 1000);
		waits |= option == OPT_WAIT;
		force |= option == OPT_FORCE;
	}
	if (!cli_expect_end(cli))
		return cli->status;
	return upgrade(cli, wait_ms, waits, force);
}

const struct command command_upgrade = {
	.name = "upgrade",
	.run = run_upgrade,
	.arguments = "[OPTIONS]",
	.summary = "Replace the running server by the installed program",
	.options = "  --wait SECONDS        wait up to so long for what the new server could not\n"
		   "                        continue (default 10)\n"
		   "  --force               then end it, and upgrade in any case\n",
};

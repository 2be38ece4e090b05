/*
 * `ringside drain`: the server starts nothing new, and what runs continues. --wait waits until
 * nothing runs; interrupting it does not cancel the drain.
 */
#include "ws/client/command.h"
#include "ws/client/connect/call.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { OPT_WAIT = 256, OPT_CANCEL };

#define LOOK_MS 500 /* between two requests */

static long long number(const struct answer *a, const char *name)
{
	return (long long)json_integer_value(json_object_get(a->json, name));
}

static bool is_over(const struct answer *a)
{
	return number(a, "sessions") == 0 && number(a, "processes") == 0 && number(a, "runs") == 0;
}

/*
 * Poll until nothing runs or the drain is cancelled. *a: the latest answer, replaced by newer ones.
 */
static int wait_for_end(struct cli *cli, struct answer *a)
{
	while (!is_over(a) && json_is_true(json_object_get(a->json, "draining"))) {
		poll(NULL, 0, LOOK_MS);
		answer_finish(a);
		int rc = call_api(cli, "GET", strdup("/api/drain"), NULL, a);
		if (rc != 0) {
			*a = (struct answer){0};
			return rc;
		}
	}
	return is_over(a) ? 0 : cli_fail(cli, "the drain was cancelled");
}

static int show(struct cli *cli, const struct answer *a)
{
	if (cli->json)
		return cli_print_json(cli,
			json_pack("{s:O, s:O, s:O, s:O, s:O}", "draining",
				json_object_get(a->json, "draining"), "since",
				json_object_get(a->json, "since"), "sessions",
				json_object_get(a->json, "sessions"), "processes",
				json_object_get(a->json, "processes"), "runs",
				json_object_get(a->json, "runs")));
	if (json_is_true(json_object_get(a->json, "draining")))
		printf("nothing new starts; left: %lld sessions, %lld processes, %lld runs\n",
			number(a, "sessions"), number(a, "processes"), number(a, "runs"));
	return cli_flush(cli);
}

static int run_drain(struct cli *cli)
{
	static const struct option options[] = {{"wait", no_argument, NULL, OPT_WAIT},
		{"cancel", no_argument, NULL, OPT_CANCEL}, {0}};
	struct answer a;
	bool wait = false, cancel = false;
	int option;
	while ((option = cli_option(cli, ":", options)) != -1) {
		if (option == '?')
			return cli->status;
		wait |= option == OPT_WAIT;
		cancel |= option == OPT_CANCEL;
	}
	if (!cli_expect_end(cli))
		return cli->status;
	if (wait && cancel)
		return cli_usage(cli, "--wait and --cancel exclude each other");
	int rc = call_api(cli, cancel ? "DELETE" : "POST", strdup("/api/drain"), NULL, &a);
	if (rc != 0)
		return rc;
	if (wait)
		rc = wait_for_end(cli, &a);
	if (rc == 0)
		rc = show(cli, &a);
	answer_finish(&a);
	return rc;
}

const struct command command_drain = {
	.name = "drain",
	.run = run_drain,
	.arguments = "[OPTIONS]",
	.summary = "Let the server start nothing new; what runs continues",
	.options = "  --wait                wait until all that runs has ended\n"
		   "  --cancel              let it start new things again\n",
};

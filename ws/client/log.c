/* `ringside log`: the output of a session, byte for byte. */
#include "ws/base64.h"
#include "ws/client/connect/call.h"
#include "ws/client/command.h"
#include "ws/client/connect/event_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES_MAX 120u /* attempts to reach a lost server */
#define PAUSE_MS 250u

enum { OPT_FROM = 256, OPT_TO, OPT_FOLLOW = 'f' };

static const struct option options[] = {
	{"from", required_argument, NULL, OPT_FROM},
	{"to", required_argument, NULL, OPT_TO},
	{"follow", no_argument, NULL, OPT_FOLLOW},
	{0},
};

struct plan {
	const char *session;
	bool has_from, has_to, follow;
	uint64_t from, to;
	char epoch[17]; /* of the session */
};

static int parse_options(struct cli *cli, struct plan *p)
{
	int option;
	while ((option = cli_option(cli, ":f", options)) != -1) {
		if (option == '?')
			return cli->status;
		if (option == OPT_FOLLOW) {
			p->follow = true;
			continue;
		}
		bool from = option == OPT_FROM;
		if (!cli_parse_number(optarg, INT64_MAX, from ? &p->from : &p->to))
			return cli_usage(cli, "--%s must be an offset", from ? "from" : "to");
		p->has_from = p->has_from || from;
		p->has_to = p->has_to || !from;
	}
	p->session = cli_required(cli, "SESSION");
	if (!p->session)
		return cli->status;
	return cli_expect_end(cli) ? 0 : cli->status;
}

/* Fill in the range that was not given: the output that exists now. */
static int find_range(struct cli *cli, struct plan *p)
{
	struct answer a;
	int rc = call_api(cli, "GET", call_path(p->session, "%s", ""), NULL, &a);
	if (rc != 0)
		return rc;
	const json_t *data = json_object_get(a.json, "data");
	uint64_t oldest = (uint64_t)json_integer_value(json_object_get(data, "oldest"));
	const char *epoch = json_string_value(json_object_get(data, "epoch"));
	snprintf(p->epoch, sizeof p->epoch, "%s", epoch ? epoch : "");
	uint64_t head = (uint64_t)json_integer_value(json_object_get(data, "offset"));
	if (!p->has_from)
		p->from = oldest;
	if (!p->has_to)
		p->to = head;
	answer_finish(&a);
	return 0;
}

static int print_bytes(struct cli *cli, uint64_t from, const void *bytes, size_t length)
{
	if (cli->json)
		return cli_print_json(cli,
			json_pack("{s:I, s:I, s:o}", "from", (json_int_t)from, "to",
				(json_int_t)from + (json_int_t)length, "base64",
				base64_json(bytes, length)));
	fwrite(bytes, 1, length, stdout);
	return cli_flush(cli);
}

/* Print one piece and advance p->from. */
static int print_piece(struct cli *cli, struct plan *p)
{
	struct answer a;
	uint64_t next;
	int rc = call_api(cli, "GET",
		call_path(p->session, "/output?from=%" PRIu64 "&to=%" PRIu64, p->from, p->to), NULL,
		&a);
	if (rc != 0)
		return rc;
	if (!cli_parse_number(a.to, UINT64_MAX, &next) || next <= p->from)
		next = p->to;
	rc = print_bytes(cli, p->from, a.body ? a.body : "", a.length);
	p->from = next;
	answer_finish(&a);
	return rc;
}

/* The state of --follow. */
struct tail {
	struct cli *cli;
	struct plan *plan;
	struct event_stream follow;
	bool over;
	int status;
};

static void print_output(struct tail *t, const json_t *event)
{
	size_t length;
	const char *text = json_string_value(json_object_get(event, "base64"));
	unsigned char *bytes = text ? base64_decode(text, &length) : NULL;
	uint64_t offset = (uint64_t)json_integer_value(json_object_get(event, "offset"));
	if (!bytes)
		return;
	if (print_bytes(t->cli, offset, bytes, length) != 0) {
		t->status = t->cli->status;
		t->over = t->follow.over = true;
	}
	t->plan->from = offset + length;
	free(bytes);
}

static void on_event(void *user, const json_t *event)
{
	struct tail *t = user;
	const char *type = json_string_value(json_object_get(event, "type"));
	const char *epoch = json_string_value(json_object_get(event, "epoch"));
	if (!type || t->over)
		return;
	if (strcmp(type, "output") == 0) {
		print_output(t, event);
	} else if (strcmp(type, "gap") == 0 && json_object_get(event, "bytes")) {
		fprintf(stderr,
			"ringside log: %lld bytes of output are lost: they are no longer kept\n",
			(long long)json_integer_value(json_object_get(event, "bytes")));
	} else if (strcmp(type, "exit") == 0) {
		t->over = true;
	} else if (strcmp(type, "gone") == 0 ||
		(epoch && strcmp(type, "begin") == 0 && strcmp(epoch, t->plan->epoch) != 0)) {
		t->over = t->follow.over = true;
		t->status = cli_fail(t->cli, "the session was deleted");
		t->status = CLI_GONE;
	}
}

/* Print output as it comes; reconnect to a lost server. */
static int follow_log(struct cli *cli, struct plan *p)
{
	struct tail t = {.cli = cli, .plan = p};
	unsigned tries = 0;
	while (!t.over) {
		t.follow = (struct event_stream){.cli = cli, .event = on_event, .user = &t};
		int rc = event_stream_start(&t.follow, "GET",
			call_path(p->session,
				"/stream?from=%" PRIu64 "&types=output,exit&encoding=base64",
				p->from),
			NULL);
		if (rc == 0)
			rc = event_stream_wait(&t.follow);
		tries = t.follow.streaming ? 0 : tries + 1;
		bool refused = rc == -EPROTO;
		if (refused)
			t.status = call_report_error(cli, &t.follow.answer);
		event_stream_finish(&t.follow);
		if (refused || t.over)
			break;
		if (tries > TRIES_MAX) {
			cli->status = CLI_NO_SERVER;
			return cli_fail(cli, "the server is lost");
		}
		usleep(PAUSE_MS * 1000);
	}
	return t.status;
}

static int run_log(struct cli *cli)
{
	struct plan p = {.from = 0};
	int rc = parse_options(cli, &p);
	if (rc == 0)
		rc = find_range(cli, &p);
	if (rc == 0 && p.follow)
		return follow_log(cli, &p);
	while (rc == 0 && p.from < p.to)
		rc = print_piece(cli, &p);
	return rc != 0 ? rc : cli_flush(cli);
}

const struct command command_log = {
	.name = "log",
	.run = run_log,
	.arguments = "[OPTIONS] SESSION",
	.summary = "Print the output of a session, byte for byte",
	.options = "  --from OFFSET         (default: the oldest byte that is kept)\n"
		   "  --to OFFSET           (default: the current end)\n"
		   "  -f, --follow          then print new output as it comes\n",
};

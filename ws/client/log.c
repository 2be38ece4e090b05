/* `ringside log`: the output of a session, byte for byte. */
#include "ws/base64.h"
#include "ws/client/call.h"
#include "ws/client/command.h"
#include "ws/client/connection.h"
#include "ws/client/follow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_FROM = 256, OPT_TO, OPT_FOLLOW = 'f' };

static const struct option options[] = {
	{"from", required_argument, NULL, OPT_FROM},
	{"to", required_argument, NULL, OPT_TO},
	{0},
};

struct plan {
	const char *session;
	bool has_from, has_to, follow;
	uint64_t from, to;
};

static int take(struct line *l, struct plan *p)
{
	int option;
	while ((option = line_option(l, ":", options)) != -1) {
		if (option == '?')
			return l->status;
		if (option == OPT_FOLLOW) {
			p->follow = true;
			continue;
		}
		bool from = option == OPT_FROM;
		if (!line_number(optarg, INT64_MAX, from ? &p->from : &p->to))
			return line_usage(l, "--%s is an offset", from ? "from" : "to");
		p->has_from = p->has_from || from;
		p->has_to = p->has_to || !from;
	}
	p->session = line_argument(l);
	if (!p->session)
		return line_usage(l, "which session?");
	return line_done(l) ? 0 : l->status;
}

/* Where the output begins and ends now. */
static int find_range(struct line *l, struct plan *p)
{
	struct answer a;
	int rc = call_api(l, "GET", call_path(p->session, "%s", ""), NULL, &a);
	if (rc != 0)
		return rc;
	const json_t *data = json_object_get(a.json, "data");
	uint64_t oldest = (uint64_t)json_integer_value(json_object_get(data, "oldest"));
	uint64_t head = (uint64_t)json_integer_value(json_object_get(data, "offset"));
	if (!p->has_from)
		p->from = oldest;
	if (!p->has_to)
		p->to = head;
	answer_finish(&a);
	return 0;
}

/* One piece; p->from moves on. */
static int print_piece(struct line *l, struct plan *p)
{
	struct answer a;
	uint64_t next;
	int rc = call_api(l, "GET",
		call_path(p->session, "/output?from=%" PRIu64 "&to=%" PRIu64, p->from, p->to), NULL,
		&a);
	if (rc != 0)
		return rc;
	if (!line_number(a.to, UINT64_MAX, &next) || next <= p->from)
		next = p->to;
	if (l->json)
		rc = line_print_json(l,
			json_pack("{s:I, s:I, s:o}", "from", (json_int_t)p->from, "to",
				(json_int_t)next, "base64", base64_json(a.body, a.length)));
	else if (fwrite(a.body ? a.body : "", 1, a.length, stdout) != a.length)
		rc = line_fail(l, "standard output: %s", strerror(errno));
	p->from = next;
	answer_finish(&a);
	return rc;
}

static int run_log(struct line *l)
{
	struct plan p = {.from = 0};
	int rc = take(l, &p);
	if (rc == 0)
		rc = connection_open(l);
	if (rc == 0)
		rc = find_range(l, &p);
	while (rc == 0 && p.from < p.to)
		rc = print_piece(l, &p);
	return rc != 0 ? rc : line_flush(l);
}

const struct command command_log = {
	.name = "log",
	.run = run_log,
	.arguments = "[OPTIONS] SESSION",
	.summary = "Print the output of a session, byte for byte",
	.options = "  --from OFFSET         (default: the oldest there is)\n"
		   "  --to OFFSET           (default: what there is now)\n",
};

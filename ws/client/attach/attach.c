/* `ringside attach`: parses the command line and finds the session. */
#include "ws/client/attach/attach.h"

#include "ws/client/attach/keyboard.h"
#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"
#include "ws/client/connect/link.h"

#include <stdlib.h>
#include <string.h>

/*
 * The running session that was used last; by a link, which opens one session, also an ended one.
 * Owned.
 */
static char *find_latest_session(struct cli *cli, bool by_link)
{
	struct answer a;
	size_t i;
	json_t *s;
	const char *best = NULL, *when = "";
	if (call_api(cli, "GET", strdup("/api/session/list"), NULL, &a) != 0)
		return NULL;
	json_array_foreach (json_object_get(a.json, "sessions"), i, s) {
		const char *at = json_string_value(json_object_get(s, "lastActivityAt"));
		const char *state = json_string_value(json_object_get(s, "state"));
		bool runs = state && strcmp(state, "running") == 0;
		if ((!runs && !by_link) || strcmp(at ? at : "", when) < 0)
			continue;
		best = json_string_value(json_object_get(s, "id"));
		when = at ? at : "";
	}
	char *id = best ? strdup(best) : NULL;
	answer_finish(&a);
	if (!id)
		cli_fail(cli, "%s",
			by_link ? "the session of this link no longer exists"
				: "no session is running; start one: ringside new --attach");
	return id;
}

/*
 * If *given is a link, take server and token from it; *given becomes its session or NULL. The token
 * and a password before an @ are overwritten in argv, which other users can see in the list of
 * processes.
 */
static int parse_link(struct cli *cli, struct link *link, const char **given)
{
	char *word = cli->argv[optind - 1];
	if (!*given || !link_is_url(*given))
		return 0;
	int rc = link_parse(word, link);
	char *secret = word + strcspn(word, "#"), *host = strstr(word, "//") + 2;
	memset(secret, '#', strlen(secret));
	char *at = strrchr(host, '@');
	if (at)
		memset(host, '*', (size_t)(at - host));
	if (rc < 0)
		return cli_usage(cli,
			"a link is an address with #link=... at its end, as `ringside share` "
			"prints it");
	if (cli->url || cli->socket || cli->token_file)
		return cli_usage(cli, "--url, --socket and --token-file cannot be used with a link");
	cli->url = link->base;
	memcpy(cli->token, link->token, sizeof cli->token);
	*given = link->session[0] ? link->session : NULL;
	return 0;
}

/* A viewer is attached read-only. */
static int check_role(struct cli *cli, struct attach_options *o)
{
	struct answer a;
	int rc = call_api(cli, "GET", strdup("/api/auth/whoami"), NULL, &a);
	if (rc != 0)
		return rc;
	o->read_only = o->read_only || strcmp(answer_text(a.json, "role"), "viewer") == 0;
	answer_finish(&a);
	return 0;
}

enum {
	OPT_READ_ONLY = 'r',
	OPT_NO_RESIZE = 256,
	OPT_CLIPBOARD,
	OPT_NAME,
	OPT_KEY,
	OPT_PREFIX,
	OPT_ON_END,
	OPT_STATUS
};

static int parse_key(struct cli *cli, const char *option, int *ret_key)
{
	if (keyboard_parse(optarg, ret_key) && *ret_key != 0)
		return 0;
	return cli_usage(cli, "--%s must be a control key such as C-], or none", option);
}

static int parse_on_end(struct cli *cli, struct attach_options *o)
{
	o->next = strcmp(optarg, "next") == 0;
	return o->next || strcmp(optarg, "detach") == 0
		? 0
		: cli_usage(cli, "--on-end must be detach or next");
}

static int parse_option(struct cli *cli, struct attach_options *o, int option)
{
	switch (option) {
	case OPT_READ_ONLY:
		o->read_only = true;
		return 0;
	case OPT_NO_RESIZE:
		o->no_resize = true;
		return 0;
	case OPT_CLIPBOARD:
		o->clipboard = true;
		return 0;
	case OPT_STATUS:
		o->status = true;
		return 0;
	case OPT_NAME:
		o->name = optarg;
		return 0;
	case OPT_KEY:
		return parse_key(cli, "detach-key", &o->detach_key);
	case OPT_PREFIX:
		return parse_key(cli, "prefix", &o->prefix_key);
	default:
		return parse_on_end(cli, o);
	}
}

static int parse_options(struct cli *cli, struct attach_options *o)
{
	static const struct option options[] = {
		{"read-only", no_argument, NULL, OPT_READ_ONLY},
		{"no-resize", no_argument, NULL, OPT_NO_RESIZE},
		{"clipboard", no_argument, NULL, OPT_CLIPBOARD},
		{"name", required_argument, NULL, OPT_NAME},
		{"detach-key", required_argument, NULL, OPT_KEY},
		{"prefix", required_argument, NULL, OPT_PREFIX},
		{"status", no_argument, NULL, OPT_STATUS},
		{"on-end", required_argument, NULL, OPT_ON_END},
		{0},
	};
	int option, rc = 0;
	while (rc == 0 && (option = cli_option(cli, ":r", options)) != -1)
		rc = option == '?' ? cli->status : parse_option(cli, o, option);
	if (rc == 0 && o->prefix_key > 0 && o->prefix_key == o->detach_key)
		rc = cli_usage(cli, "--prefix and --detach-key are the same key");
	return rc;
}

/* Its output would be printed into itself without end. */
const char *attach_own_session(const struct cli *cli)
{
	const char *ours = getenv("RINGSIDE_SESSION");
	return ours && *ours && !cli->url && !cli->socket ? ours : NULL;
}

static int run_attach(struct cli *cli)
{
	struct attach_options o = {.detach_key = KEYBOARD_DETACH};
	struct link link = {.owner = true};
	int rc = parse_options(cli, &o);
	const char *given = cli_argument(cli);
	if (rc != 0 || !cli_expect_end(cli))
		return cli->status;
	rc = parse_link(cli, &link, &given);
	if (rc == 0)
		rc = connection_open(cli);
	if (rc == 0 && !link.owner)
		rc = check_role(cli, &o);
	if (rc != 0)
		return rc;
	const char *here = attach_own_session(cli);
	if (given && here && strcmp(given, here) == 0)
		return cli_fail(cli, ATTACH_WITHIN, here);
	char *id = given ? strdup(given) : find_latest_session(cli, !link.owner);
	rc = id ? attach_session(cli, id, &o) : cli->status;
	free(id);
	return rc;
}

const struct command command_attach = {
	.name = "attach",
	.run = run_attach,
	.starts = true,
	.arguments = "[OPTIONS] [SESSION|LINK]",
	.summary = "Show a session on this terminal, and type into it (C-\\ detaches)",
	.options = "  -r, --read-only       only watch; this window's size does not count\n"
		   "  --no-resize           this window's size does not count\n"
		   "  --clipboard           programs may set this terminal's clipboard (OSC 52)\n"
		   "  --detach-key KEY      such as C-], or none (default: C-\\)\n"
		   "  --prefix KEY          such as C-b: then d detaches, n and p show the next and the previous session,\n"
		   "                        s lists them, ? shows all keys (default: none)\n"
		   "  --status              show a status line; t behind the prefix toggles it\n"
		   "  --on-end WHAT         when the session ends: detach (default), or show the next one\n"
		   "  --name NAME           your name for other clients (default: the user's)\n",
};

/* `ringside backup`: a directory of the server's machine as an archive, and back. */
#include "ws/client/command.h"
#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_EXCLUDE = 256, OPT_GITIGNORE, OPT_FORMAT, OPT_MOUNT, OPT_EXTRACT };

static const struct option options[] = {{"exclude", required_argument, NULL, OPT_EXCLUDE},
	{"gitignore", no_argument, NULL, OPT_GITIGNORE},
	{"format", required_argument, NULL, OPT_FORMAT}, {"mount", no_argument, NULL, OPT_MOUNT},
	{"extract", no_argument, NULL, OPT_EXTRACT}, {0}};

struct plan {
	bool restores;
	bool of_create, of_restore; /* an option has been given that only this one takes */
	json_t *body;               /* owned, until it is sent */
};

static int take_option(struct cli *cli, struct plan *p, int option)
{
	json_t *value = NULL;
	switch (option) {
	case OPT_EXCLUDE:
		value = json_string(optarg);
		if (!value)
			return cli_usage(cli, "--exclude is not UTF-8");
		if (!json_object_get(p->body, "excludes"))
			json_object_set_new(p->body, "excludes", json_array());
		json_array_append_new(json_object_get(p->body, "excludes"), value);
		break;
	case OPT_FORMAT:
		value = json_string(optarg);
		if (!value)
			return cli_usage(cli, "--format is not UTF-8");
		json_object_set_new(p->body, "compression", json_pack("{s:o}", "format", value));
		break;
	case OPT_GITIGNORE:
		json_object_set_new(p->body, "gitignore", json_true());
		break;
	default:
		json_object_set_new(p->body, "mount", json_boolean(option == OPT_MOUNT));
		p->of_restore = true;
		return 0;
	}
	p->of_create = true;
	return 0;
}

/*
 * A path from the root on, as far as it is there: its last name may not be yet. Owned; NULL: no memory. What is not there at all the
 * server complains of.
 */
static char *make_absolute(const char *path)
{
	char *whole = realpath(path, NULL), *directory = NULL;
	if (whole)
		return whole;
	const char *slash = strrchr(path, '/'), *rest = slash ? slash + 1 : path;
	if (asprintf(&directory, "%.*s.", (int)(rest - path), path) < 0)
		return NULL;
	char *parent = realpath(directory, NULL);
	free(directory);
	if (!parent) {
		parent = getcwd(NULL, 0);
		rest = path;
	}
	if (!parent || asprintf(&whole, "%s/%s", parent, rest) < 0)
		whole = NULL;
	free(parent);
	return whole;
}

/* Put a path into the body; a relative one begins where we are, but for the name of an archive, which the server knows a place for. */
static int put_path(struct cli *cli, struct plan *p, const char *field, const char *path)
{
	bool name = strcmp(field, "archivePath") == 0 && !strchr(path, '/');
	char *whole = name || path[0] == '/' ? strdup(path) : make_absolute(path);
	json_t *value = whole ? json_string(whole) : NULL;
	int rc = 0;
	if (!whole)
		rc = cli_fail(cli, "no memory");
	else if (!value)
		rc = cli_usage(cli, "a path is not UTF-8");
	else
		json_object_set_new(p->body, field, value);
	free(whole);
	return rc;
}

static int take_line(struct cli *cli, struct plan *p)
{
	int option, rc = 0;
	while (rc == 0 && (option = cli_option(cli, ":", options)) != -1)
		rc = option == '?' ? cli->status : take_option(cli, p, option);
	if (rc != 0)
		return rc;
	const char *word = cli_argument(cli);
	p->restores = word && strcmp(word, "restore") == 0;
	if (!p->restores && (!word || strcmp(word, "create") != 0))
		return cli_usage(cli, "there is backup create, and backup restore");
	if (p->restores ? p->of_create : p->of_restore)
		return cli_usage(cli,
			p->restores ? "--exclude, --gitignore and --format are for create"
				    : "--mount and --extract are for restore");
	const char *first = cli_argument(cli), *second = cli_argument(cli);
	if (!first || (p->restores && !second))
		return cli_usage(cli,
			p->restores ? "which archive, and which directory?" : "which directory?");
	if (!cli_done(cli))
		return cli->status;
	rc = put_path(cli, p, "dir", p->restores ? second : first);
	if (rc == 0 && (p->restores || second))
		rc = put_path(cli, p, "archivePath", p->restores ? first : second);
	return rc;
}

static int ask(struct cli *cli, struct plan *p)
{
	struct answer a;
	json_t *body = p->body;
	p->body = NULL;
	int rc = call_api(cli, "POST",
		strdup(p->restores ? "/api/backup/restore" : "/api/backup/create"), body, &a);
	if (rc != 0)
		return rc;
	if (cli->json) {
		rc = cli_print_json(cli, json_incref(a.json));
	} else if (!p->restores) {
		puts(answer_text(a.json, "archivePath"));
		rc = cli_flush(cli);
	}
	answer_finish(&a);
	return rc;
}

static int run_backup(struct cli *cli)
{
	struct plan plan = {.body = json_object()};
	int rc = take_line(cli, &plan);
	if (rc == 0)
		rc = connection_open(cli);
	if (rc == 0)
		rc = ask(cli, &plan);
	json_decref(plan.body);
	return rc;
}

const struct command command_backup = {
	.name = "backup",
	.run = run_backup,
	.arguments = "[OPTIONS] create DIR [ARCHIVE] | restore ARCHIVE DIR",
	.summary = "A directory as an archive, and back",
	.options = "  --exclude PATTERN     create: leave out what it matches; may be repeated\n"
		   "  --gitignore           create: leave out what git ignores there\n"
		   "  --format FORMAT       create: lz4 (default), gzip or zstd\n"
		   "  --mount               restore: mount the archive, where that can be done\n"
		   "  --extract             restore: do not\n",
};

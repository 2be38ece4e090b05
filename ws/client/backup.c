/* `ringside backup`: archive a directory of the server's machine, and restore it. */
#include "ws/client/command.h"
#include "ws/client/connect/call.h"

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
	bool is_restore;
	bool of_create, of_restore; /* an option of only this one was given */
	json_t *body;               /* owned, until it is sent */
};

static int parse_option(struct cli *cli, struct plan *p, int option)
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
 * Make a path absolute; its last name need not exist. The server reports missing directories.
 * Owned; NULL: out of memory.
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

/*
 * Put a path into the body. A relative one is resolved here, except for an archive's name without a
 * slash, which the server puts into its directory of archives.
 */
static int put_path(struct cli *cli, struct plan *p, const char *field, const char *path)
{
	bool name = strcmp(field, "archivePath") == 0 && !strchr(path, '/');
	char *whole = name || path[0] == '/' ? strdup(path) : make_absolute(path);
	json_t *value = whole ? json_string(whole) : NULL;
	int rc = 0;
	if (!whole)
		rc = cli_fail(cli, "out of memory");
	else if (!value)
		rc = cli_usage(cli, "a path is not UTF-8");
	else
		json_object_set_new(p->body, field, value);
	free(whole);
	return rc;
}

static int parse_line(struct cli *cli, struct plan *p)
{
	int option, rc = 0;
	while (rc == 0 && (option = cli_option(cli, ":", options)) != -1)
		rc = option == '?' ? cli->status : parse_option(cli, p, option);
	if (rc != 0)
		return rc;
	const char *word = cli_argument(cli);
	p->is_restore = word && strcmp(word, "restore") == 0;
	if (!p->is_restore && (!word || strcmp(word, "create") != 0))
		return cli_usage(cli, "the subcommands are create and restore");
	if (p->is_restore ? p->of_create : p->of_restore)
		return cli_usage(cli,
			p->is_restore ? "--exclude, --gitignore and --format are for create"
				      : "--mount and --extract are for restore");
	const char *first = cli_argument(cli), *second = cli_argument(cli);
	if (!first || (p->is_restore && !second))
		return cli_usage(
			cli, p->is_restore ? "ARCHIVE or DIR is missing" : "DIR is missing");
	if (!cli_expect_end(cli))
		return cli->status;
	rc = put_path(cli, p, "dir", p->is_restore ? second : first);
	if (rc == 0 && (p->is_restore || second))
		rc = put_path(cli, p, "archivePath", p->is_restore ? first : second);
	return rc;
}

static void show_archive(const json_t *backup)
{
	puts(answer_text(backup, "archivePath"));
}

static int run_backup(struct cli *cli)
{
	struct plan plan = {.body = json_object()};
	int rc = parse_line(cli, &plan);
	if (rc == 0)
		rc = call_show(cli, "POST",
			strdup(plan.is_restore ? "/api/backup/restore" : "/api/backup/create"),
			json_incref(plan.body), NULL, plan.is_restore ? NULL : show_archive);
	json_decref(plan.body);
	return rc;
}

const struct command command_backup = {
	.name = "backup",
	.run = run_backup,
	.arguments = "[OPTIONS] create DIR [ARCHIVE] | restore ARCHIVE DIR",
	.summary = "Archive a directory, or restore one",
	.options = "  --exclude PATTERN     create: leave out paths that match; may be repeated\n"
		   "  --gitignore           create: leave out files that git ignores\n"
		   "  --format FORMAT       create: lz4 (default), gzip or zstd\n"
		   "  --mount               restore: mount the archive if possible\n"
		   "  --extract             restore: extract it instead of mounting it\n",
};

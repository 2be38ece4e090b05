/*
 * `ringside cp`: copies a file from or to a session. On failure the destination keeps its old
 * contents, unless it cannot be replaced, as standard output.
 */
#include "ws/client/connect/connection.h"
#include "ws/client/connect/interrupt.h"
#include "ws/client/files/download.h"
#include "ws/client/files/files.h"
#include "ws/client/files/target.h"
#include "ws/client/files/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option options[] = {
	{"session", required_argument, NULL, 's'},
	{"parents", no_argument, NULL, 'p'},
	{0},
};

struct plan {
	struct cli *cli;
	struct place from, to;
	bool parents;
};

static int write_bytes(void *user, const void *bytes, size_t length)
{
	return target_write(user, bytes, length);
}

static void on_interrupt(void *user, int signo)
{
	download_stop(user, 128 + signo);
}

static int report_done(struct plan *p, const char *path, uint64_t size)
{
	if (!p->cli->json)
		return 0;
	return cli_print_json(p->cli,
		json_pack("{s:s%, s:I}", "path", path, strlen(path), "size", (json_int_t)size));
}

static int fetch_to_file(struct plan *p, const char *path)
{
	struct target t;
	struct interrupt signals = {.interrupted = on_interrupt};
	struct download d = {.cli = p->cli, .take = write_bytes, .user = &t};
	int rc = target_open(&t, p->cli, path, p->parents);
	if (rc != 0)
		return rc;
	/*
	 * Signals are caught to remove a temporary file. Writing to a pipe may block: there they
	 * kill us.
	 */
	signals.user = &d;
	if (t.is_replacement)
		interrupt_open(&signals, p->cli);
	rc = download_file(&d, &p->from);
	if (t.is_replacement)
		interrupt_close(&signals, p->cli);
	if (rc == 0)
		rc = target_commit(&t);
	target_abort(&t);
	return rc == 0 ? report_done(p, path, d.size) : rc;
}

static bool is_directory(const char *path)
{
	struct stat st;
	size_t length = strlen(path);
	return (length > 0 && path[length - 1] == '/') ||
		(stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Join a directory and a name; owned. NULL: out of memory. */
static char *path_within(const char *directory, const char *name)
{
	size_t length = strlen(directory);
	char *path;
	bool slash = length > 0 && directory[length - 1] != '/';
	return asprintf(&path, "%s%s%s", directory, slash ? "/" : "", name) < 0 ? NULL : path;
}

static int fetch(struct plan *p)
{
	const char *name = place_name(p->from.path);
	if (p->to.kind == PLACE_STANDARD) {
		struct download d = {.cli = p->cli, .take = files_print, .user = p->cli};
		return download_file(&d, &p->from);
	}
	if (!is_directory(p->to.path))
		return fetch_to_file(p, p->to.path);
	if (!*name)
		return cli_fail(p->cli, "%s: is a directory", p->from.path);
	char *path = path_within(p->to.path, name);
	int rc = path ? fetch_to_file(p, path) : call_report_lost(p->cli, -ENOMEM);
	free(path);
	return rc;
}

static int send_fd(struct plan *p, const struct upload_source *source)
{
	struct answer a;
	int rc = upload_file(p->cli, source, &p->to, &a);
	if (rc != 0)
		return rc;
	rc = p->cli->json ? cli_print_json(p->cli, json_incref(a.json)) : 0;
	answer_finish(&a);
	return rc;
}

static int send_file(struct plan *p)
{
	struct upload_source source = {
		.fd = STDIN_FILENO, .name = "standard input", .parents = p->parents};
	struct stat st;
	if (p->from.kind == PLACE_STANDARD)
		return send_fd(p, &source);
	source.name = p->from.path;
	source.fd = open(source.name, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (source.fd < 0)
		return cli_fail(p->cli, "%s: %s", source.name, strerror(errno));
	int rc = fstat(source.fd, &st) == 0 && S_ISDIR(st.st_mode)
		? cli_fail(p->cli, "%s: %s", source.name, strerror(EISDIR))
		: send_fd(p, &source);
	close(source.fd);
	return rc;
}

static int send_to_session(struct plan *p)
{
	const char *name = place_name(p->from.path);
	char *path = NULL;
	if (!*place_name(p->to.path)) {
		if (p->from.kind == PLACE_STANDARD)
			return cli_usage(p->cli, "DST must name a file if SRC is standard input");
		if (!*name)
			return cli_fail(p->cli, "%s: %s", p->from.path, strerror(EISDIR));
		path = path_within(p->to.path, name);
		if (!path)
			return call_report_lost(p->cli, -ENOMEM);
		p->to.path = path;
	}
	int rc = send_file(p);
	free(path);
	return rc;
}

static int parse_arguments(struct cli *cli, const char *session, struct plan *p)
{
	const char *from = cli_argument(cli), *to = from ? cli_argument(cli) : NULL;
	if (!to)
		return cli_usage(cli, "SRC or DST is missing; one of them is [SESSION]:PATH");
	if (!cli_expect_end(cli))
		return cli->status;
	if (!place_parse(from, session, &p->from) || !place_parse(to, session, &p->to))
		return cli_usage(cli, "a session's id has at most %u bytes", PLACE_SESSION_MAX);
	if ((p->from.kind == PLACE_SESSION) == (p->to.kind == PLACE_SESSION))
		return cli_usage(cli,
			"one of SRC and DST must be [SESSION]:PATH, and the other a local file or -");
	if (!*from || !*to)
		return cli_usage(cli, "a path is empty");
	return 0;
}

static int run_cp(struct cli *cli)
{
	struct plan p = {.cli = cli, .from = {.path = ""}, .to = {.path = ""}};
	const char *session = NULL;
	int option;
	while ((option = cli_option(cli, ":s:p", options)) != -1) {
		if (option == '?')
			return cli->status;
		if (option == 's')
			session = optarg;
		else
			p.parents = true;
	}
	int rc = parse_arguments(cli, session, &p);
	if (rc == 0)
		rc = connection_open(cli);
	if (rc != 0)
		return rc;
	return p.from.kind == PLACE_SESSION ? fetch(&p) : send_to_session(&p);
}

const struct command command_cp = {
	.name = "cp",
	.run = run_cp,
	.arguments = "[OPTIONS] SRC DST",
	.summary = "Copy a file from a session, [SESSION]:PATH, to a local PATH or -, or back",
	.options = "  -s, --session SESSION the session of :PATH (default: the default session)\n"
		   "  -p, --parents         make missing directories\n",
};

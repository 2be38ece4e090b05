/*
 * `ringside stop`: sends SIGTERM to the process that listens on the server's socket, and waits for
 * its exit. Sessions stay for the next server.
 */
#include "ws/client/command.h"
#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum { OPT_KILL = 256 };

#define END_MS 30000 /* for the server to exit */

static int end_sessions(struct cli *cli)
{
	struct answer list, one;
	size_t i;
	json_t *s;
	int rc = call_api(cli, "GET", strdup("/api/session/list"), NULL, &list);
	if (rc != 0)
		return rc;
	json_array_foreach (json_object_get(list.json, "sessions"), i, s) {
		int failed = call_api(cli, "POST", strdup("/api/session/delete"),
			json_pack("{s:s}", "sessionId", answer_text(s, "id")), &one);
		rc = failed != 0 ? failed : rc;
		if (failed == 0)
			answer_finish(&one);
	}
	answer_finish(&list);
	return rc;
}

static int stop_server(struct cli *cli)
{
	pid_t pid = 0;
	int fd = -1, rc = connection_peer(cli, &pid);
	if (rc == 0)
		fd = pidfd_open(pid, 0);
	if (rc == 0 && (fd < 0 || pidfd_send_signal(fd, SIGTERM, NULL, 0) < 0))
		rc = -errno;
	struct pollfd end = {.fd = fd, .events = POLLIN};
	int ended = 0;
	while (rc == 0 && (ended = poll(&end, 1, END_MS)) < 0)
		rc = errno == EINTR ? 0 : -errno;
	if (fd >= 0)
		close(fd);
	if (rc < 0)
		return cli_fail(
			cli, "the server at %s cannot be stopped: %s", cli->path, strerror(-rc));
	if (ended == 0)
		return cli_fail(cli, "the server, pid %d, has not exited after 30 s", (int)pid);
	return cli->json ? cli_print_json(cli, json_pack("{s:i}", "pid", (int)pid)) : 0;
}

static int run_stop(struct cli *cli)
{
	static const struct option options[] = {{"kill", no_argument, NULL, OPT_KILL}, {0}};
	const char *all;
	if (cli_only_option(cli, ":", options, &all) != 0 || !cli_expect_end(cli))
		return cli->status;
	if (cli->url)
		return cli_usage(
			cli, "--url cannot be used: only a server on this machine can be stopped");
	int rc = connection_open(cli);
	if (rc == 0 && all)
		rc = end_sessions(cli);
	return rc == 0 ? stop_server(cli) : rc;
}

const struct command command_stop = {
	.name = "stop",
	.run = run_stop,
	.arguments = "[OPTIONS]",
	.summary = "Stop the server; sessions stay for the next one",
	.options = "  --kill                end all sessions first\n",
};

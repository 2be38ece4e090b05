/* A nats-server with JetStream, which a test starts, stops and kills. It dies with the test. */
#pragma once

#include "tests/lib/folder.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct nats_server {
	struct folder folder;
	pid_t pid; /* 0: none */
	char port[8];
	char url[40];
};

/* Read the port from the file that the server writes. */
static inline bool nats_server_read_port(struct nats_server *n)
{
	char path[320], text[512] = "";
	snprintf(path, sizeof path, "%s/nats-server_%d.ports", n->folder.path, (int)n->pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	size_t length = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[length] = '\0';
	const char *at = strstr(text, "127.0.0.1:");
	return at && sscanf(at, "127.0.0.1:%7[0-9]", n->port) == 1;
}

/* Start it, again on the port that it had. options: further ones, ends with NULL; or NULL. */
static inline void nats_server_start(struct nats_server *n, const char *const *options)
{
	const char *argv[24] = {"nats-server", "-js", "-a", "127.0.0.1", "-p",
		n->port[0] ? n->port : "-1", "-sd", n->folder.path, "--ports_file_dir",
		n->folder.path};
	size_t used = 10;
	for (; options && *options; options++)
		argv[used++] = *options;
	n->pid = fork();
	if (n->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int log = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(log, 0);
		dup2(log, 1);
		dup2(log, 2);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	cr_assert_gt(n->pid, 0);
	cr_assert(UNTIL(nats_server_read_port(n)), "nats-server does not start");
	snprintf(n->url, sizeof n->url, "nats://127.0.0.1:%s", n->port);
}

static inline void nats_server_open(struct nats_server *n)
{
	*n = (struct nats_server){0};
	folder_make(&n->folder);
	nats_server_start(n, NULL);
}

static inline void nats_server_kill(struct nats_server *n)
{
	if (n->pid == 0)
		return;
	kill(n->pid, SIGKILL);
	waitpid(n->pid, NULL, 0);
	n->pid = 0;
}

static inline void nats_server_close(struct nats_server *n)
{
	nats_server_kill(n);
	folder_remove(&n->folder);
}

/*
 * pipe-pane. A background process reads the session's output from the offset of the call on, across restarts of
 * the server. It exits with the session, with the command, or by SIGTERM. NULs are removed, because the server
 * replaces terminal queries by them.
 */
#include "ws/client/tmux/pipe.h"

#include "shell/write_all.h"
#include "ws/base64.h"
#include "ws/client/connect/connection.h"
#include "ws/client/connect/event_stream.h"
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AGAIN_MS 200
#define AGAIN_MAX 300 /* consecutive failed attempts to connect */
#define INPUT_PIECE ((size_t)16384)

/* The state of that process. */
struct feed {
	struct tmux *t;
	const char *session;
	uint64_t offset;
	int to;    /* standard input of the command */
	bool over; /* exit */
};

/* Start ourselves as a process that outlives us, without our terminal. Returns its pid, or -1. */
static pid_t start(char *const argv[])
{
	fflush(NULL);
	int ready[2];
	if (pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	pid_t pid = fork();
	if (pid != 0) {
		char byte;
		close(ready[1]);
		/* Wait until execv() has closed the pipe. */
		while (pid > 0 && read(ready[0], &byte, 1) < 0 && errno == EINTR)
			;
		close(ready[0]);
		return pid;
	}
	setsid();
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	execv("/proc/self/exe", argv);
	_exit(127);
}

int do_pipe_pane(struct call *c)
{
	struct pane *p = c->at.pane;
	bool open_one = p->pipe > 0 && backend_process_start(p->pipe) == p->pipe_start_time;
	backend_kill_pipe(p);
	if (c->args.count == 0 || !*c->args.items[0] || (open_one && args_has(&c->args, 'o')))
		return 0;
	if (!p->info || p->dead)
		return tmux_error(c->t, "target pane has exited");
	struct format f = {.t = c->t, .at = c->at, .times = true, .silent = true};
	char *offset = arena_print(&c->t->arena, "%" PRId64,
		(int64_t)json_integer_value(json_object_get(p->info, "offset")));
	bool in = args_has(&c->args, 'I'), out = args_has(&c->args, 'O') || !in;
	char name[] = "ringside", tmux[] = "tmux", word[] = PIPE_COMMAND;
	char *argv[] = {name, tmux, word, c->t->cli->path, p->session, offset,
		arena_print(&c->t->arena, "%s%s", in ? "I" : "", out ? "O" : ""),
		format_expand(&f, c->args.items[0]), NULL};
	p->pipe = start(argv);
	if (p->pipe < 0)
		return tmux_error(c->t, "fork: %s", strerror(errno));
	p->pipe_start_time = backend_process_start(p->pipe);
	return 0;
}

static void write_output(struct feed *f, const json_t *event)
{
	size_t length = 0, kept = 0;
	unsigned char *bytes = base64_decode(answer_text(event, "base64"), &length);
	json_int_t offset = json_integer_value(json_object_get(event, "offset"));
	if (!bytes)
		return;
	for (size_t i = 0; i < length; i++)
		if (bytes[i])
			bytes[kept++] = bytes[i];
	f->offset = (uint64_t)offset + length;
	if (write_all(f->to, bytes, kept) < 0)
		f->over = true;
	free(bytes);
	if (f->over)
		uv_stop(&f->t->cli->loop);
}

static void on_event(void *user, const json_t *event)
{
	struct feed *f = user;
	const char *type = answer_text(event, "type");
	if (f->over)
		return;
	if (strcmp(type, "output") == 0)
		write_output(f, event);
	else if (strcmp(type, "exit") == 0 || strcmp(type, "gone") == 0)
		f->over = true;
}

/* Read a stream of output until it ends. Returns 0, or a negative errno if it broke off. */
static int follow(struct feed *f)
{
	struct cli *cli = f->t->cli;
	cli->quiet = true;
	if (connection_open(cli) != 0) {
		connection_close(cli);
		return -ECONNREFUSED;
	}
	struct event_stream s = {.cli = cli, .event = on_event, .user = f};
	int rc = event_stream_start(&s, "GET",
		call_path(f->session, "/stream?types=output,exit&encoding=base64&from=%" PRIu64,
			f->offset),
		NULL);
	if (rc == 0)
		rc = event_stream_wait(&s);
	if (rc == -EPROTO)
		f->over = true; /* the session is gone */
	event_stream_finish(&s);
	connection_close(cli);
	return rc;
}

static void feed(struct feed *f)
{
	for (unsigned failed = 0; !f->over && failed < AGAIN_MAX;) {
		uint64_t before = f->offset;
		int rc = follow(f);
		failed = f->offset != before ? 0 : failed + 1;
		if (rc != 0 && !f->over)
			nanosleep(&(struct timespec){.tv_nsec = AGAIN_MS * 1000000L}, NULL);
	}
}

/* Send the command's output to the session as input. */
static void send_input(struct tmux *t, const char *session, int from)
{
	static char piece[INPUT_PIECE];
	ssize_t n;
	t->cli->quiet = true;
	if (connection_open(t->cli) != 0)
		return;
	while ((n = read(from, piece, sizeof piece)) > 0) {
		struct answer a;
		json_t *body = json_object();
		json_object_set_new(body, "base64", base64_json(piece, (size_t)n));
		if (call_try(t->cli, "POST", call_path(session, "/input"), body, &a) < 0)
			break;
		answer_finish(&a);
	}
	connection_close(t->cli);
}

static pid_t start_command(const char *command, int in, int out)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	signal(SIGPIPE, SIG_DFL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

int pipe_feed(struct tmux *t, int argc, char **argv)
{
	int to[2], from[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (argc != 5 || null < 0 || pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		return 1;
	bool in = strchr(argv[3], 'I') != NULL, out = strchr(argv[3], 'O') != NULL;
	struct feed f = {
		.t = t, .session = argv[1], .offset = strtoull(argv[2], NULL, 10), .to = to[1]};
	t->cli->socket = argv[0];
	pid_t command = start_command(argv[4], out ? to[0] : null, in ? from[1] : null);
	close(to[0]);
	close(from[1]);
	pid_t input_pid = in ? fork() : -1;
	if (input_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		close(to[1]);
		send_input(t, f.session, from[0]);
		return 0;
	}
	close(from[0]);
	if (command > 0 && out)
		feed(&f);
	close(to[1]);
	/* The command exits at the end of its input. It may print more until then. */
	if (command > 0)
		waitpid(command, NULL, 0);
	if (input_pid > 0)
		waitpid(input_pid, NULL, 0);
	return 0;
}

#include "relay.h"

#include "process.h"

#include <errno.h>
#include <libwebsockets.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <uv.h>

#define READ_SIZE 65536 /* libuv's; a terminal returns 4 KB at a time */

/* A connection's end of a PTY. It outlives the connection until libuv has closed it. */
struct relayed {
	uv_pipe_t pipe;
	struct lws *wsi;
	pid_t pid;
	size_t length; /* read, but not written yet */
	bool ended;
	uint8_t bytes[LWS_PRE + READ_SIZE];
};

/* The relay's process. */
struct relay_process {
	uv_loop_t loop;
	const char *dir;
};

/* The data that libwebsockets keeps for a connection. */
struct slot {
	struct relayed *relayed;
};

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *ret)
{
	struct relayed *x = h->data;
	(void)suggested;
	*ret = uv_buf_init((char *)x->bytes + LWS_PRE, READ_SIZE);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct relayed *x = s->data;
	(void)buf;
	if (n == 0)
		return;
	uv_read_stop(s);
	x->ended = n < 0;
	x->length = n < 0 ? 0 : (size_t)n;
	lws_callback_on_writable(x->wsi);
}

static void on_closed(uv_handle_t *h)
{
	free(h->data);
}

/* After fork(), close everything of the relay: otherwise a connection would not end with it. */
static _Noreturn void run_program(const char *path)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_DFL);
	close_range(3, ~0u, 0);
	execl(path, path, (char *)NULL);
	_exit(127);
}

static struct relayed *start_program(struct lws *wsi)
{
	struct relay_process *house = lws_context_user(lws_get_context(wsi));
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	struct relayed *x = calloc(1, sizeof *x);
	char argument[64], path[256];
	int master;
	const char *name = lws_get_urlarg_by_name(wsi, "sessionId=", argument, sizeof argument);
	errno = 0;
	if (!x || !name)
		die("relay: name");
	snprintf(path, sizeof path, "%s/%s", house->dir, name);
	x->pid = forkpty(&master, NULL, NULL, &size);
	if (x->pid < 0)
		die("relay: forkpty");
	if (x->pid == 0)
		run_program(path);
	x->wsi = wsi;
	x->pipe.data = x;
	uv_pipe_init(&house->loop, &x->pipe, 0);
	if (uv_pipe_open(&x->pipe, master) < 0)
		die("relay: uv_pipe_open");
	return x;
}

static int write_frame(struct relayed *x)
{
	if (x->ended)
		return -1; /* closes the connection after all that has been written */
	if (x->length > 0) {
		int n = lws_write(x->wsi, x->bytes + LWS_PRE, x->length, LWS_WRITE_BINARY);
		if (n < (int)x->length)
			return -1;
		x->length = 0;
		uv_read_start((uv_stream_t *)&x->pipe, on_alloc, on_read);
	}
	return 0;
}

static int type(struct relayed *x, const char *keys, size_t length)
{
	int fd;
	uv_fileno((uv_handle_t *)&x->pipe, &fd);
	return write(fd, keys, length) == (ssize_t)length ? 0 : -1;
}

static void forget(struct slot *slot)
{
	if (!slot->relayed)
		return;
	kill(-slot->relayed->pid, SIGKILL);
	uv_close((uv_handle_t *)&slot->relayed->pipe, on_closed);
	slot->relayed = NULL;
}

static int on_event(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	struct slot *slot = user;
	switch (reason) {
	case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
		slot->relayed = start_program(wsi);
		return 0;
	case LWS_CALLBACK_ESTABLISHED:
		return uv_read_start((uv_stream_t *)&slot->relayed->pipe, on_alloc, on_read);
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return write_frame(slot->relayed);
	case LWS_CALLBACK_RECEIVE:
		return type(slot->relayed, in, length);
	case LWS_CALLBACK_CLOSED:
		forget(slot);
		return 0;
	default:
		return 0;
	}
}

static _Noreturn void run_relay(const char *dir, int tell)
{
	static const struct lws_protocols protocols[] = {
		{.name = "relay", .callback = on_event, .per_session_data_size = sizeof(struct slot)},
		{0}};
	static struct relay_process house;
	void *loops[] = {&house.loop};
	house.dir = dir;
	uv_loop_init(&house.loop);
	signal(SIGCHLD, SIG_IGN); /* programs are not waited for */
	lws_set_log_level(LLL_ERR, NULL);
	struct lws_context *context = lws_create_context(
		&(struct lws_context_creation_info){.iface = "127.0.0.1",
			.protocols = protocols,
			.gid = (gid_t)-1,
			.uid = (uid_t)-1,
			.options = LWS_SERVER_OPTION_LIBUV,
			.foreign_loops = loops,
			.user = &house});
	if (!context)
		die("relay: context");
	int port = lws_get_vhost_listen_port(lws_get_vhost_by_name(context, "default"));
	if (write(tell, &port, sizeof port) != sizeof port)
		die("relay: port");
	uv_run(&house.loop, UV_RUN_DEFAULT);
	_exit(1);
}

void relay_open(struct relay *r, const char *dir)
{
	int fds[2], port;
	if (pipe(fds) < 0)
		die("pipe");
	r->pid = process_fork();
	if (r->pid == 0)
		run_relay(dir, fds[1]);
	close(fds[1]);
	errno = 0;
	if (read(fds[0], &port, sizeof port) != sizeof port || port <= 0)
		die("the relay did not start");
	close(fds[0]);
	r->port = (unsigned)port;
}

void relay_close(struct relay *r)
{
	process_kill(r->pid);
	r->pid = 0;
}

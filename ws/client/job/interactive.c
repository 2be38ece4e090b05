/*
 * A terminal socket of the session carries input and size. Output comes with the command's own
 * stream, which has nothing of other commands. A lost socket is connected again; input meanwhile is
 * dropped.
 */
#include "ws/client/job/interactive.h"

#include "ws/client/attach/tty.h"
#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_MAX ((size_t)4096)      /* bytes of one read */
#define QUEUE_MAX ((size_t)256 << 10) /* typed bytes that may wait for the server */
#define AGAIN_MS 300u                 /* before a lost connection is made again */
#define PIECE ((size_t)4096)          /* bytes that go through the guard at once */

static void on_input(uv_poll_t *poll, int status, int events)
{
	struct interactive *i = poll->data;
	char bytes[INPUT_MAX];
	struct keyboard_found found;
	int fd;
	(void)events;
	uv_fileno((const uv_handle_t *)poll, &fd);
	ssize_t n = status < 0 ? 0 : read(fd, bytes, sizeof bytes);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		uv_poll_stop(poll);
		i->left(i->user); /* the terminal is gone */
		return;
	}
	size_t length = keyboard_filter(&i->keyboard, bytes, (size_t)n, &found);
	if (i->socket && length > 0)
		client_socket_send(i->socket, true, bytes, length);
	if (i->socket && client_socket_queued(i->socket) > QUEUE_MAX)
		uv_poll_stop(poll);
	if (found.what == KEYBOARD_DETACH_KEY)
		i->left(i->user);
}

static void send_size(struct interactive *i)
{
	unsigned cols, rows;
	char text[80];
	tty_size(&cols, &rows);
	int n = snprintf(
		text, sizeof text, "{\"type\":\"resize\",\"cols\":%u,\"rows\":%u}", cols, rows);
	if (i->socket)
		client_socket_send(i->socket, false, text, (size_t)n);
}

static void on_resized(uv_signal_t *handle, int signo)
{
	(void)signo;
	send_size(handle->data);
}

static void on_text(void *user, const char *text, size_t length)
{
	struct interactive *i = user;
	json_t *message = json_loadb(text, length, 0, NULL);
	if (strcmp(answer_text(message, "type"), "ready") == 0)
		i->ready = true;
	json_decref(message);
}

static void on_drained(void *user)
{
	struct interactive *i = user;
	if (i->begun)
		uv_poll_start(&i->input, UV_READABLE, on_input);
}

static void on_opened(void *user)
{
	send_size(user);
}

static void on_retry(uv_timer_t *timer);

static void on_closed(void *user, int code, const char *reason)
{
	struct interactive *i = user;
	(void)reason;
	i->socket = NULL;
	i->refused = code < -1 || (code >= 4400 && code < 4500);
	if (!i->refused)
		uv_timer_start(&i->retry, on_retry, AGAIN_MS, 0);
}

/* No binary callback: output comes with the command's stream. */
static const struct client_socket_callbacks callbacks = {
	.opened = on_opened, .text = on_text, .drained = on_drained, .closed = on_closed};

static void on_retry(uv_timer_t *timer)
{
	struct interactive *i = timer->data;
	unsigned cols, rows;
	char *path = NULL, *id = call_encode(i->session);
	tty_size(&cols, &rows);
	if (!id ||
		asprintf(&path, "/ws/pty?sessionId=%s&scrollback=0&cols=%u&rows=%u", id, cols,
			rows) < 0)
		path = NULL;
	if (!path || connection_probe(i->cli) < 0 ||
		client_socket_open(i->cli->client, path, &callbacks, i, &i->socket) < 0)
		uv_timer_start(&i->retry, on_retry, AGAIN_MS, 0);
	free(path);
	free(id);
}

int interactive_open(struct interactive *i, struct cli *cli, const char *session)
{
	struct answer answer;
	/* Check first that the session exists: the terminal socket would create it. */
	int rc = call_api(cli, "GET", call_path(session, "%s", ""), NULL, &answer);
	if (rc != 0)
		return rc;
	answer_finish(&answer);
	int fd = tty_open_inline();
	if (fd < 0)
		return cli_fail(cli, "%s",
			fd == -ENOTTY ? "standard input and output must be a terminal"
				      : strerror(-fd));
	i->cli = cli;
	i->session = session;
	i->opened = true;
	i->keyboard = (struct keyboard){.detach = KEYBOARD_DETACH};
	uv_poll_init(&cli->loop, &i->input, fd);
	uv_signal_init(&cli->loop, &i->resized);
	uv_timer_init(&cli->loop, &i->retry);
	i->input.data = i->resized.data = i->retry.data = i;
	uv_signal_start(&i->resized, on_resized, SIGWINCH);
	on_retry(&i->retry);
	while (!i->ready && !i->refused)
		uv_run(&cli->loop, UV_RUN_ONCE);
	if (!i->refused)
		return 0;
	interactive_close(i);
	return cli_fail(cli, "cannot connect to the session's terminal");
}

void interactive_begin(struct interactive *i)
{
	if (!i->opened || i->begun)
		return;
	i->begun = true;
	uv_poll_start(&i->input, UV_READABLE, on_input);
}

bool interactive_write(struct interactive *i, const char *bytes, size_t length)
{
	char out[GUARD_OUTPUT_MAX(PIECE)];
	while (length > 0) {
		size_t n = length < PIECE ? length : PIECE;
		if (!tty_write(out, guard_filter(&i->guard, bytes, n, out)))
			return false;
		bytes += n;
		length -= n;
	}
	return true;
}

void interactive_close(struct interactive *i)
{
	if (!i->opened)
		return;
	i->opened = false;
	uv_close((uv_handle_t *)&i->input, NULL);
	uv_close((uv_handle_t *)&i->resized, NULL);
	uv_close((uv_handle_t *)&i->retry, NULL);
	if (i->socket)
		client_socket_close(i->socket);
	uv_run(&i->cli->loop, UV_RUN_NOWAIT);
	tty_close();
}

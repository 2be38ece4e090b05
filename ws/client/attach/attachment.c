/*
 * The life of an attachment: input, signals, restoring the terminal. The session is drawn on the
 * normal screen, so that the terminal's scrollback, selection and alternate screen work as
 * with any program.
 *
 * Input is parsed up to a key with an action. Input behind it waits until the action is done, and
 * goes to the session that is shown then.
 */
#include "ws/client/attach/attachment.h"

#include "ws/client/attach/tty.h"
#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define QUEUE_MAX ((size_t)256 << 10) /* typed bytes that may wait for the server */

void attach_end(struct attachment *a, int status, const char *how)
{
	a->over = true;
	a->status = status;
	a->how = how;
}

void attach_end_no_terminal(struct attachment *a)
{
	snprintf(a->reason, sizeof a->reason, "the terminal is gone");
	attach_end(a, CLI_FAILED, "hangup");
}

void attach_end_or_next(struct attachment *a, int status, const char *how)
{
	if (!a->options.next) {
		attach_end(a, status, how);
		return;
	}
	a->status = status;
	a->how = how;
	a->wanted = PREFIX_ENDED;
	a->uncovered = true;
}

static bool has_space(const struct attachment *a)
{
	return a->begun || a->early_length <= sizeof a->early - ATTACH_READ_MAX;
}

/* Keep input until the session is shown. */
static void keep_early(struct attachment *a, const char *bytes, size_t length)
{
	memcpy(a->early + a->early_length, bytes, length);
	a->early_length += length;
	if (!has_space(a))
		uv_poll_stop(&a->input);
}

static void send_input(struct attachment *a, const char *bytes, size_t length)
{
	if (length == 0 || a->options.read_only)
		return;
	if (!a->begun)
		keep_early(a, bytes, length);
	else
		socket_send_input(a, bytes, length);
}

static void handle_command(struct attachment *a, int key)
{
	const char prefix = (char)a->keyboard.prefix;
	enum prefix_action action = prefix_action(a->keyboard.prefix, key);
	if (action == PREFIX_ITSELF)
		send_input(a, &prefix, 1);
	else if (action == PREFIX_UNKNOWN)
		tty_write("\a", 1);
	else if (action == PREFIX_DETACH)
		attach_end(a, 0, "detached");
	else
		a->wanted = action;
}

/* Parse input up to a key with an action. */
static void handle_typed(struct attachment *a)
{
	while (!a->over && a->wanted == PREFIX_NONE && has_space(a) &&
		a->typed_at < a->typed_length) {
		struct keyboard_found found;
		char *bytes = a->typed + a->typed_at;
		size_t length = keyboard_filter(
			&a->keyboard, bytes, a->typed_length - a->typed_at, &found);
		a->typed_at = a->typed_length - found.rest;
		send_input(a, bytes, length);
		if (found.what == KEYBOARD_DETACH_KEY)
			attach_end(a, 0, "detached");
		else if (found.what == KEYBOARD_COMMAND)
			handle_command(a, found.key);
	}
	if (!a->keyboard.fenced)
		uv_timer_stop(&a->fence);
}

void attach_begin(struct attachment *a)
{
	if (a->begun)
		return;
	a->begun = true;
	send_input(a, a->early, a->early_length);
	a->early_length = 0;
	if (!a->busy)
		handle_typed(a);
	attach_read_input(a);
}

/* Whether the input contains a key that ends the current action. */
static bool has_leaving_key(const struct attachment *a, const char *bytes, size_t length)
{
	bool escape = bytes[length - 1] == '\033';
	return escape || memchr(bytes, 'q', length) || memchr(bytes, '\003', length) ||
		(a->options.detach_key > 0 && memchr(bytes, a->options.detach_key, length));
}

static void on_input(uv_poll_t *poll, int status, int events)
{
	struct attachment *a = poll->data;
	(void)events;
	int fd;
	uv_fileno((const uv_handle_t *)poll, &fd);
	memmove(a->typed, a->typed + a->typed_at, a->typed_length - a->typed_at);
	a->typed_length -= a->typed_at;
	a->typed_at = 0;
	size_t space = sizeof a->typed - a->typed_length;
	if (space == 0) {
		uv_poll_stop(poll);
		return;
	}
	ssize_t n = status < 0 ? 0 : read(fd, a->typed + a->typed_length, space);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		uv_poll_stop(poll);
		attach_end_no_terminal(a);
		return;
	}
	if (a->busy && has_leaving_key(a, a->typed + a->typed_length, (size_t)n))
		a->hurried = true;
	a->typed_length += (size_t)n;
	if (!a->busy)
		handle_typed(a);
	if (a->socket && client_socket_queued(a->socket) > QUEUE_MAX)
		uv_poll_stop(poll);
}

void attach_read_input(struct attachment *a)
{
	if (has_space(a) && !a->over)
		uv_poll_start(&a->input, UV_READABLE, on_input);
}

/* Execute actions, outside of all callbacks, because they run the loop. */
static void run_actions(struct attachment *a)
{
	while (!a->over && a->wanted != PREFIX_NONE) {
		enum prefix_action action = a->wanted;
		a->wanted = PREFIX_NONE;
		a->busy = true;
		attach_read_input(a);
		switch_run(a, action);
		a->busy = a->hurried = a->uncovered = false;
		handle_typed(a);
		attach_read_input(a);
	}
}

static void stop_ourselves(void)
{
	tty_suspend();
	kill(getpid(), SIGSTOP);
}

static void show_mirror(struct attachment *a)
{
	if (a->mirror.on && !a->covered)
		mirror_show(a);
}

static void on_signal(uv_signal_t *handle, int signo)
{
	struct attachment *a = handle->data;
	switch (signo) {
	case SIGWINCH:
		a->resized = true;
		display_send_size(a);
		show_mirror(a);
		break;
	case SIGTSTP:
		stop_ourselves();
		break;
	case SIGCONT:
		/* The shell has used the terminal meanwhile. */
		tty_suspend();
		tty_resume();
		a->foreign = a->resized = true;
		display_send_size(a);
		show_mirror(a);
		if (!a->covered)
			display_ask_snapshot(a);
		break;
	default:
		attach_end(a, 128 + signo, "signal");
	}
}

static void open_handles(struct attachment *a, int fd)
{
	static const int numbers[ATTACH_SIGNALS] = {
		SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT};
	uv_loop_t *loop = &a->cli->loop;
	uv_poll_init(loop, &a->input, fd);
	uv_timer_init(loop, &a->retry);
	uv_timer_init(loop, &a->fence);
	uv_timer_init(loop, &a->notice);
	uv_timer_init(loop, &a->size);
	uv_timer_init(loop, &a->cover);
	a->input.data = a->retry.data = a->fence.data = a->notice.data = a->size.data = a;
	a->cover.data = a;
	mirror_init(a);
	for (size_t i = 0; i < ATTACH_SIGNALS; i++) {
		uv_signal_init(loop, &a->signals[i]);
		a->signals[i].data = a;
		uv_signal_start(&a->signals[i], on_signal, numbers[i]);
	}
	attach_read_input(a);
}

static void close_handles(struct attachment *a)
{
	uv_close((uv_handle_t *)&a->input, NULL);
	uv_close((uv_handle_t *)&a->retry, NULL);
	uv_close((uv_handle_t *)&a->fence, NULL);
	uv_close((uv_handle_t *)&a->notice, NULL);
	uv_close((uv_handle_t *)&a->size, NULL);
	uv_close((uv_handle_t *)&a->cover, NULL);
	for (size_t i = 0; i < ATTACH_SIGNALS; i++)
		uv_close((uv_handle_t *)&a->signals[i], NULL);
	mirror_finish(a);
	socket_disconnect(a);
	free(a->kept.bytes);
	/* The handles are on the stack: let the loop close them. */
	uv_run(&a->cli->loop, UV_RUN_NOWAIT);
	uv_run(&a->cli->loop, UV_RUN_NOWAIT);
}

/*
 * Reset the terminal and read its pending reports, so that they are not typed into the shell: the
 * answer to a last query comes behind them.
 */
static void settle_terminal(struct attachment *a)
{
	char bytes[512];
	struct keyboard_found found;
	uint64_t now = uv_hrtime(), end = now + (uint64_t)ATTACH_FENCE_MS * 1000000;
	ssize_t n = 0;
	if (!tty_reset())
		return;
	a->keyboard = (struct keyboard){.detach = -1, .asked = a->keyboard.asked};
	tty_write(KEYBOARD_FENCE, sizeof KEYBOARD_FENCE - 1);
	a->keyboard.asked++;
	for (; a->keyboard.asked > 0 && now < end; now = uv_hrtime()) {
		size_t kept = (size_t)n;
		if (kept > sizeof bytes / 2)
			kept = 0;
		n = tty_read(bytes + kept, sizeof bytes - kept, (int)((end - now) / 1000000) + 1);
		if (n < 0)
			return;
		/* An answer may come in pieces. */
		n = (ssize_t)keyboard_filter(&a->keyboard, bytes, kept + (size_t)n, &found);
	}
}

static int print_end(struct attachment *a)
{
	struct cli *cli = a->cli;
	if (cli->json)
		cli_print_json(cli,
			json_pack("{s:s, s:s, s:s}", "session", a->session, "end", a->how, "reason",
				a->reason));
	else if (a->reason[0])
		printf("\r\n[%s: %s]\n", a->session, a->reason);
	else
		printf("\r\n[%s: detached]\n", a->session);
	fflush(stdout);
	return a->status;
}

/* A random id for all our connections, by which the server counts our input. */
static void choose_client_id(struct attachment *a)
{
	uint64_t number;
	if (getrandom(&number, sizeof number, 0) != sizeof number)
		number = uv_hrtime() ^ (uint64_t)getpid() << 32;
	snprintf(a->client, sizeof a->client, "%016" PRIx64, number);
}

/* Returns 0 if the process does not exist any more. */
static pid_t parent_of(pid_t pid)
{
	char path[40], line[256];
	int parent = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && parent == 0 && fgets(line, sizeof line, f))
		(void)sscanf(line, "PPid: %d", &parent); /* NOLINT(cert-err34-c): the kernel's own */
	if (f)
		fclose(f);
	return parent;
}

/*
 * Whether we are a descendant of the session's shell: then its output would be printed into itself.
 */
static bool is_below(const struct cli *cli, pid_t shell)
{
	pid_t server, pid = getpid();
	if (!cli->target.socket || connection_peer(cli, &server) < 0 || shell <= 1)
		return false;
	while (pid > 1 && pid != shell)
		pid = parent_of(pid);
	return pid == shell;
}

int attach_session(struct cli *cli, const char *session, const struct attach_options *options)
{
	struct attachment a = {.cli = cli, .options.detach_key = 0};
	struct answer answer;
	snprintf(a.session, sizeof a.session, "%s", session);
	if (options)
		a.options = *options;
	if (a.options.detach_key == 0)
		a.options.detach_key = KEYBOARD_DETACH;
	a.keyboard.detach = a.options.detach_key;
	a.keyboard.prefix = a.options.prefix_key;
	a.guard.clipboard = a.options.clipboard;
	choose_client_id(&a);
	/* Check first that the session exists: the terminal socket would create it. */
	int rc = call_api(cli, "GET", call_path(session, "%s", ""), NULL, &answer);
	if (rc != 0)
		return rc;
	const json_t *data = json_object_get(answer.json, "data");
	const char *state = json_string_value(json_object_get(data, "state"));
	a.waited = state && strcmp(state, "running") != 0; /* an ended one cannot be resized */
	pid_t shell = (pid_t)json_integer_value(json_object_get(data, "pid"));
	answer_finish(&answer);
	if (!a.waited && is_below(cli, shell))
		return cli_fail(cli, ATTACH_WITHIN, session);
	int fd = tty_open();
	if (fd < 0)
		return cli_fail(cli, "%s",
			fd == -ENOTTY ? "standard input and output must be a terminal"
				      : strerror(-fd));
	open_handles(&a, fd);
	if (a.options.status)
		mirror_open(&a);
	socket_connect(&a);
	while (!a.over) {
		uv_run(&cli->loop, UV_RUN_ONCE);
		run_actions(&a);
	}
	if (a.how && strcmp(a.how, "detached") == 0)
		socket_flush(&a);
	close_handles(&a);
	settle_terminal(&a);
	tty_close();
	return print_end(&a);
}

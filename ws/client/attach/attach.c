/*
 * `ringside attach`: a session on the user's own terminal, on its ordinary screen, so that its scrollback, its selection and
 * its alternate screen are what they are with any program. Here is what the terminal sends, what signals do, and that the
 * terminal is given back as it was, however it ends.
 */
#include "ws/client/attach/attachment.h"

#include "ws/client/attach/tty.h"
#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUEUE_MAX ((size_t)256 << 10) /* typed bytes that wait for the server */
#define INPUT_MAX ((size_t)4096)      /* bytes of one read */

void attach_end(struct attachment *a, int status, const char *how)
{
	a->over = true;
	a->status = status;
	a->how = how;
}

void attach_lose_terminal(struct attachment *a)
{
	snprintf(a->reason, sizeof a->reason, "the terminal is gone");
	attach_end(a, CLI_FAILED, "hangup");
}

static bool has_room(const struct attachment *a)
{
	return a->begun || a->early_length <= sizeof a->early - INPUT_MAX;
}

/* Before there is anything to see, what is typed waits: nobody has to look whether a command has begun. */
static void keep_early(struct attachment *a, const char *bytes, size_t length)
{
	memcpy(a->early + a->early_length, bytes, length);
	a->early_length += length;
	if (!has_room(a))
		uv_poll_stop(&a->input);
}

static void send_input(struct attachment *a, const char *bytes, size_t length)
{
	if (length == 0 || a->options.read_only)
		return;
	if (!a->begun)
		keep_early(a, bytes, length);
	else if (a->socket && a->synced)
		client_socket_send(a->socket, true, bytes, length);
	/* Without a connection it is lost: nobody can see what it would do. */
}

void attach_begin(struct attachment *a)
{
	if (a->begun)
		return;
	a->begun = true;
	send_input(a, a->early, a->early_length);
	attach_read_input(a);
}

static void on_input(uv_poll_t *poll, int status, int events)
{
	struct attachment *a = poll->data;
	char bytes[INPUT_MAX];
	bool detach;
	(void)events;
	int fd;
	uv_fileno((const uv_handle_t *)poll, &fd);
	ssize_t n = status < 0 ? 0 : read(fd, bytes, sizeof bytes);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		uv_poll_stop(poll);
		attach_lose_terminal(a);
		return;
	}
	size_t length = keyboard_filter(&a->keyboard, bytes, (size_t)n, &detach);
	if (!a->keyboard.fenced)
		uv_timer_stop(&a->fence);
	send_input(a, bytes, length);
	if (a->socket && client_socket_queued(a->socket) > QUEUE_MAX)
		uv_poll_stop(poll);
	if (detach)
		attach_end(a, 0, "detached");
}

void attach_read_input(struct attachment *a)
{
	if (has_room(a))
		uv_poll_start(&a->input, UV_READABLE, on_input);
}

static void stop_ourselves(void)
{
	tty_suspend();
	kill(getpid(), SIGSTOP);
}

static void on_signal(uv_signal_t *handle, int signo)
{
	struct attachment *a = handle->data;
	switch (signo) {
	case SIGWINCH:
		display_send_size(a);
		break;
	case SIGTSTP:
		stop_ourselves();
		break;
	case SIGCONT:
		/* The shell had it meanwhile. */
		tty_suspend();
		tty_resume();
		a->foreign = true;
		display_send_size(a);
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
	a->input.data = a->retry.data = a->fence.data = a->notice.data = a->size.data = a;
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
	for (size_t i = 0; i < ATTACH_SIGNALS; i++)
		uv_close((uv_handle_t *)&a->signals[i], NULL);
	if (a->socket)
		client_socket_close(a->socket);
	/* They are part of what is on the stack. */
	uv_run(&a->cli->loop, UV_RUN_NOWAIT);
	uv_run(&a->cli->loop, UV_RUN_NOWAIT);
}

/*
 * Let the terminal come to rest: what it still says, to us or by its mouse, must not be typed into the shell
 * that gets it back. Behind a last question nothing comes any more.
 */
static void settle_terminal(struct attachment *a)
{
	char bytes[512];
	bool detach;
	uint64_t now = uv_hrtime(), end = now + (uint64_t)ATTACH_FENCE_MS * 1000000;
	ssize_t n = 0;
	if (!tty_reset())
		return;
	a->keyboard.detach = -1;
	a->keyboard.fenced = false;
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
		n = (ssize_t)keyboard_filter(&a->keyboard, bytes, kept + (size_t)n, &detach);
	}
}

static int say_goodbye(struct attachment *a)
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

int attach_session(struct cli *cli, const char *session, const struct attach_options *options)
{
	struct attachment a = {.cli = cli, .session = session, .options.detach_key = 0};
	struct answer answer;
	if (options)
		a.options = *options;
	if (a.options.detach_key == 0)
		a.options.detach_key = KEYBOARD_DETACH;
	a.keyboard.detach = a.options.detach_key;
	a.guard.clipboard = a.options.clipboard;
	/* Whoever asks the terminal socket for a session that is not there gets a new one. */
	int rc = call_api(cli, "GET", call_path(session, "%s", ""), NULL, &answer);
	if (rc != 0)
		return rc;
	const json_t *data = json_object_get(answer.json, "data");
	const char *state = json_string_value(json_object_get(data, "state"));
	a.waited = state && strcmp(state, "running") != 0; /* its size is what it is */
	answer_finish(&answer);
	int fd = tty_open();
	if (fd < 0)
		return cli_fail(cli, "%s",
			fd == -ENOTTY ? "standard input and output must be a terminal"
				      : strerror(-fd));
	open_handles(&a, fd);
	socket_connect(&a);
	while (!a.over)
		uv_run(&cli->loop, UV_RUN_ONCE);
	close_handles(&a);
	settle_terminal(&a);
	tty_close();
	return say_goodbye(&a);
}

/* The session that somebody used last. */
static char *find_latest_session(struct cli *cli)
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
		if (!state || strcmp(state, "running") != 0 || strcmp(at ? at : "", when) < 0)
			continue;
		best = json_string_value(json_object_get(s, "id"));
		when = at ? at : "";
	}
	char *id = best ? strdup(best) : NULL;
	answer_finish(&a);
	if (!id)
		cli_fail(cli, "no session is running; start one: ringside new --attach");
	return id;
}

enum { OPT_READ_ONLY = 'r', OPT_NO_RESIZE = 256, OPT_CLIPBOARD, OPT_NAME, OPT_KEY };

static int take_attach_options(struct cli *cli, struct attach_options *o)
{
	static const struct option options[] = {
		{"read-only", no_argument, NULL, OPT_READ_ONLY},
		{"no-resize", no_argument, NULL, OPT_NO_RESIZE},
		{"clipboard", no_argument, NULL, OPT_CLIPBOARD},
		{"name", required_argument, NULL, OPT_NAME},
		{"detach-key", required_argument, NULL, OPT_KEY},
		{0},
	};
	int option;
	while ((option = cli_option(cli, ":r", options)) != -1) {
		if (option == '?')
			return cli->status;
		if (option == OPT_READ_ONLY)
			o->read_only = true;
		else if (option == OPT_NO_RESIZE)
			o->no_resize = true;
		else if (option == OPT_CLIPBOARD)
			o->clipboard = true;
		else if (option == OPT_NAME)
			o->name = optarg;
		else if (!keyboard_parse(optarg, &o->detach_key) || o->detach_key == 0)
			return cli_usage(cli, "--detach-key is a control key such as C-], or none");
	}
	return 0;
}

static int run_attach(struct cli *cli)
{
	struct attach_options o = {.detach_key = KEYBOARD_DETACH};
	int rc = take_attach_options(cli, &o);
	const char *given = cli_argument(cli);
	if (rc != 0 || !cli_done(cli))
		return cli->status;
	rc = connection_open(cli);
	if (rc != 0)
		return rc;
	char *id = given ? strdup(given) : find_latest_session(cli);
	rc = id ? attach_session(cli, id, &o) : cli->status;
	free(id);
	return rc;
}

const struct command command_attach = {
	.name = "attach",
	.run = run_attach,
	.arguments = "[OPTIONS] [SESSION]",
	.summary = "Show a session on this terminal, and type into it (C-\\ detaches)",
	.options = "  -r, --read-only       only watch; this window's size does not count\n"
		   "  --no-resize           this window's size does not count\n"
		   "  --clipboard           programs may set this terminal's clipboard (OSC 52)\n"
		   "  --detach-key KEY      such as C-], or none (default: C-\\)\n"
		   "  --name NAME           that others see (default: the user's)\n",
};

/*
 * `ringside attach`: a session on the user's own terminal, on its ordinary screen, so that its scrollback,
 * its selection and its alternate screen are what they are with any program.
 *
 * Bytes are counted from each `sync`; a connection that is lost is made again by itself, and goes on from
 * there. What the terminal says of itself while a snapshot is drawn is not the user's: sequences are dropped up to
 * the answer to a question that is put behind the snapshot.
 */
#include "ws/client/attach/attach.h"

#include "ws/client/connect/call.h"
#include "ws/client/command.h"
#include "ws/client/connect/connection.h"
#include "ws/client/attach/keyboard.h"
#include "ws/client/attach/redraw.h"
#include "ws/client/attach/tty.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES 1000 /* of the session's scrollback, that go into that of the terminal */
#define QUEUE_MAX ((size_t)256 << 10) /* typed bytes that wait for the server */
#define FENCE_MS 500u                 /* a terminal that has not answered by then does not */
#define PAUSE_FIRST_MS 50u            /* before a lost connection is made again */
#define PAUSE_MAX_MS 2000u
#define NOTICE_MS 400u /* an absence that is shorter is not worth a word */
#define SIZE_MS 300u   /* for the session to take our size, before it is drawn as it is */
#define SIGNALS 6

struct attachment {
	struct cli *cli;
	const char *session;
	struct attach_options options;
	struct client_socket *socket; /* NULL: there is no connection */
	bool synced;                  /* offset is valid */
	char epoch[17];
	uint64_t offset;        /* of the next byte */
	uint64_t snapshot_left; /* bytes of a snapshot that are to come */
	struct redraw redraw;
	struct keyboard keyboard;
	bool drawn;   /* something has been, since the terminal is ours */
	bool passed;  /* nothing is drawn: a snapshot of the right size is on its way */
	bool waited;  /* long enough for that */
	bool ready;   /* the server takes requests for snapshots */
	bool differs; /* the session's size is not ours */
	bool foreign; /* the screen shows what is not ours */
	bool dirty;   /* the screen shows a notice of ours */
	unsigned pause_ms;
	uv_poll_t input;
	uv_timer_t retry, fence, notice, size;
	uv_signal_t signals[SIGNALS];
	bool over;
	int status;       /* to end with */
	char reason[160]; /* the last words */
	const char *how;  /* for --json */
};

static void end(struct attachment *a, int status, const char *how)
{
	a->over = true;
	a->status = status;
	a->how = how;
}

/* The connection */

static void send_json(struct attachment *a, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	if (text && a->socket)
		client_socket_send(a->socket, false, text, strlen(text));
	free(text);
	json_decref(message);
}

static bool may_resize(const struct attachment *a)
{
	return !a->options.read_only && !a->options.no_resize;
}

static void send_size(struct attachment *a)
{
	unsigned cols, rows;
	tty_size(&cols, &rows);
	if (may_resize(a))
		send_json(a,
			json_pack("{s:s, s:i, s:i}", "type", "resize", "cols", (int)cols, "rows",
				(int)rows));
}

/* Draw it again; without what is above, if that has been drawn. */
static void ask_snapshot(struct attachment *a)
{
	a->dirty = false;
	send_json(
		a, json_pack("{s:s, s:i}", "type", "snapshot", "scrollback", a->drawn ? 0 : LINES));
}

static void on_size(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	a->waited = true;
	if (a->passed && a->ready)
		ask_snapshot(a);
}

/* Whether the session's size is ours; when it has become so, it is drawn anew. */
static void take_size(struct attachment *a, const json_t *message)
{
	unsigned cols, rows;
	tty_size(&cols, &rows);
	bool differed = a->differs;
	a->differs = json_integer_value(json_object_get(message, "cols")) != (json_int_t)cols ||
		json_integer_value(json_object_get(message, "rows")) != (json_int_t)rows;
	if (differed && !a->differs && a->ready)
		ask_snapshot(a);
}

static void on_fence(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	a->keyboard.fenced = false;
}

static void begin_snapshot(struct attachment *a, const json_t *message)
{
	a->snapshot_left = (uint64_t)json_integer_value(json_object_get(message, "bytes"));
	a->redraw = (struct redraw){.length = 0};
	take_size(a, message);
	/* The window that attaches is about to become the session's size: it is not drawn twice for that. */
	a->passed = !a->drawn && a->differs && may_resize(a) && !a->waited;
	if (a->passed) {
		uv_timer_start(&a->size, on_size, SIZE_MS, 0);
		return;
	}
	uv_timer_stop(&a->size);
	a->keyboard.fenced = true;
	a->keyboard.matched = 0;
	a->keyboard.state = KEYBOARD_TEXT;
	uv_timer_stop(&a->fence);
	tty_clear(!a->drawn || a->foreign);
	a->drawn = true;
	a->dirty = a->foreign = false;
}

static void take_sync(struct attachment *a, const json_t *message)
{
	a->offset = (uint64_t)json_integer_value(json_object_get(message, "offset"));
	a->synced = true;
	if (!a->keyboard.fenced)
		return;
	tty_write(KEYBOARD_FENCE, sizeof KEYBOARD_FENCE - 1);
	a->keyboard.asked++;
	uv_timer_start(&a->fence, on_fence, FENCE_MS, 0);
}

static void take_ready(struct attachment *a)
{
	a->ready = true;
	if (a->dirty || (a->passed && (!a->differs || a->waited)))
		ask_snapshot(a);
}

static void take_exit(struct attachment *a, const json_t *message)
{
	const json_t *code = json_object_get(message, "code");
	const char *signal = json_string_value(json_object_get(message, "signal"));
	if (signal)
		snprintf(a->reason, sizeof a->reason, "ended by %s", signal);
	else if (json_is_integer(code))
		snprintf(a->reason, sizeof a->reason, "ended with status %d",
			(int)json_integer_value(code));
	else
		snprintf(a->reason, sizeof a->reason, "ended");
	end(a, 0, "ended");
}

static void take_attached(struct attachment *a, const json_t *message)
{
	const char *epoch = json_string_value(json_object_get(message, "epoch"));
	bool other = a->synced && epoch && strcmp(epoch, a->epoch) != 0;
	snprintf(a->epoch, sizeof a->epoch, "%s", epoch ? epoch : "");
	a->pause_ms = 0;
	uv_timer_stop(&a->notice);
	if (other) {
		snprintf(a->reason, sizeof a->reason, "was deleted");
		end(a, CLI_GONE, "deleted");
	}
}

static void on_text(void *user, const char *text, size_t length)
{
	struct attachment *a = user;
	json_t *message = json_loadb(text, length, 0, NULL);
	const char *type = json_string_value(json_object_get(message, "type"));
	if (!type)
		type = "";
	if (strcmp(type, "attached") == 0)
		take_attached(a, message);
	else if (strcmp(type, "snapshot") == 0)
		begin_snapshot(a, message);
	else if (strcmp(type, "sync") == 0)
		take_sync(a, message);
	else if (strcmp(type, "resize") == 0)
		take_size(a, message);
	else if (strcmp(type, "ready") == 0)
		take_ready(a);
	else if (strcmp(type, "exit") == 0)
		take_exit(a, message);
	json_decref(message);
}

static void lose_terminal(struct attachment *a)
{
	snprintf(a->reason, sizeof a->reason, "the terminal is gone");
	end(a, CLI_FAILED, "hangup");
}

static void draw(struct attachment *a, const char *bytes, size_t length)
{
	const char *head;
	size_t head_length;
	a->snapshot_left -= length;
	size_t taken = redraw_take(
		&a->redraw, bytes, length, a->snapshot_left == 0, &head, &head_length);
	if (!tty_write(head, head_length) || !tty_write(bytes + taken, length - taken))
		lose_terminal(a);
}

static void on_binary(void *user, const void *bytes, size_t length)
{
	struct attachment *a = user;
	size_t drawn = a->snapshot_left < length ? (size_t)a->snapshot_left : length;
	if (a->over)
		return;
	if (a->passed) {
		a->snapshot_left -= drawn;
	} else {
		if (drawn > 0)
			draw(a, bytes, drawn);
		if (!tty_write((const char *)bytes + drawn, length - drawn))
			lose_terminal(a);
		a->drawn = true;
	}
	a->offset += length - drawn;
}

static void on_input(uv_poll_t *poll, int status, int events);

static void on_drained(void *user)
{
	struct attachment *a = user;
	uv_poll_start(&a->input, UV_READABLE, on_input);
}

static void on_opened(void *user)
{
	struct attachment *a = user;
	send_size(a); /* it may have changed since the request was made */
}

static void on_retry(uv_timer_t *timer);

/* The words stand where the cursor is not in the way; what they cover is drawn again afterwards. */
static void on_notice(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	unsigned cols, rows;
	char text[256], key[8] = "";
	tty_size(&cols, &rows);
	if (a->options.detach_key >= 0)
		keyboard_name(a->options.detach_key, key);
	int n = snprintf(text, sizeof text, "\030\033\\\033[m\033[%u;1H\033[7m %.*s \033[m\033[K",
		rows, (int)(cols > 3 ? cols - 3 : 1),
		a->options.detach_key >= 0
			? "ringside: the server is away; trying again"
			: "ringside: the server is away; trying again; kill me to leave");
	if (n > 0 && n < (int)sizeof text)
		tty_write(text, (size_t)n);
	if (key[0]) {
		n = snprintf(text, sizeof text, "\033[7m(%s detaches) \033[m", key);
		tty_write(text, (size_t)n);
	}
	a->dirty = true;
}

static void retry(struct attachment *a)
{
	a->pause_ms = a->pause_ms == 0 ? PAUSE_FIRST_MS : a->pause_ms * 2;
	if (a->pause_ms > PAUSE_MAX_MS)
		a->pause_ms = PAUSE_MAX_MS;
	uv_timer_start(&a->retry, on_retry, a->pause_ms, 0);
	if (!a->dirty && !uv_is_active((uv_handle_t *)&a->notice))
		uv_timer_start(&a->notice, on_notice, NOTICE_MS, 0);
}

static void on_closed(void *user, int code, const char *reason)
{
	struct attachment *a = user;
	a->socket = NULL;
	a->ready = false;
	a->synced = a->synced && a->drawn;
	a->snapshot_left = 0;
	if (a->over)
		return;
	switch (code) {
	case 4410:
	case -404:
		snprintf(a->reason, sizeof a->reason, "was deleted");
		end(a, CLI_GONE, "deleted");
		return;
	case 4401:
	case -401:
	case -403:
		snprintf(a->reason, sizeof a->reason, "may not be seen any more");
		end(a, CLI_FAILED, "refused");
		return;
	case 1008:
	case 1011:
	case -400:
	case -429:
		snprintf(a->reason, sizeof a->reason, "cannot be attached: %.100s",
			*reason ? reason : "the server refuses");
		end(a, CLI_FAILED, "refused");
		return;
	default:
		retry(a);
	}
}

static const struct client_socket_callbacks callbacks = {.opened = on_opened,
	.text = on_text,
	.binary = on_binary,
	.drained = on_drained,
	.closed = on_closed};

static const char *user_name(void)
{
	const struct passwd *entry = getpwuid(geteuid());
	return entry && entry->pw_name[0] ? entry->pw_name : "terminal";
}

static int open_socket(struct attachment *a)
{
	unsigned cols, rows;
	char size[64] = "", resume[64] = "";
	char *path = NULL, *id = call_encode(a->session);
	char *name = call_encode(a->options.name ? a->options.name : user_name());
	tty_size(&cols, &rows);
	if (may_resize(a))
		snprintf(size, sizeof size, "&cols=%u&rows=%u", cols, rows);
	if (a->synced)
		snprintf(resume, sizeof resume, "&epoch=%s&offset=%" PRIu64, a->epoch, a->offset);
	/* As far behind as the history goes: a terminal is no place to leave something out. */
	int rc = -ENOMEM;
	if (id && name &&
		asprintf(&path, "/ws/pty?sessionId=%s&name=%s&scrollback=%d&lag=1099511627776%s%s",
			id, name, a->synced ? 0 : LINES, size, resume) >= 0)
		rc = client_socket_open(a->cli->client, path, &callbacks, a, &a->socket);
	free(path);
	free(id);
	free(name);
	return rc;
}

static void on_retry(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	if (connection_probe(a->cli) < 0 || open_socket(a) < 0)
		retry(a);
}

/* The terminal */

static void on_input(uv_poll_t *poll, int status, int events)
{
	struct attachment *a = poll->data;
	char bytes[4096];
	bool detach;
	(void)events;
	int fd;
	uv_fileno((const uv_handle_t *)poll, &fd);
	ssize_t n = status < 0 ? 0 : read(fd, bytes, sizeof bytes);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		uv_poll_stop(poll);
		lose_terminal(a);
		return;
	}
	size_t length = keyboard_filter(&a->keyboard, bytes, (size_t)n, &detach);
	if (!a->keyboard.fenced)
		uv_timer_stop(&a->fence);
	/* Without a connection it is lost: nobody can see what it would do. */
	if (length > 0 && a->socket && a->synced && !a->options.read_only)
		client_socket_send(a->socket, true, bytes, length);
	if (a->socket && client_socket_queued(a->socket) > QUEUE_MAX)
		uv_poll_stop(poll);
	if (detach)
		end(a, 0, "detached");
}

static void stop_and_go(struct attachment *a)
{
	tty_suspend();
	kill(getpid(), SIGSTOP);
	(void)a;
}

static void on_signal(uv_signal_t *handle, int signo)
{
	struct attachment *a = handle->data;
	switch (signo) {
	case SIGWINCH:
		send_size(a);
		break;
	case SIGTSTP:
		stop_and_go(a);
		break;
	case SIGCONT:
		/* The shell had it meanwhile. */
		tty_suspend();
		tty_resume();
		a->foreign = true;
		send_size(a);
		ask_snapshot(a);
		break;
	default:
		end(a, 128 + signo, "signal");
	}
}

static void open_handles(struct attachment *a, int fd)
{
	static const int numbers[SIGNALS] = {SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT};
	uv_loop_t *loop = &a->cli->loop;
	uv_poll_init(loop, &a->input, fd);
	uv_timer_init(loop, &a->retry);
	uv_timer_init(loop, &a->fence);
	uv_timer_init(loop, &a->notice);
	uv_timer_init(loop, &a->size);
	a->input.data = a->retry.data = a->fence.data = a->notice.data = a->size.data = a;
	for (size_t i = 0; i < SIGNALS; i++) {
		uv_signal_init(loop, &a->signals[i]);
		a->signals[i].data = a;
		uv_signal_start(&a->signals[i], on_signal, numbers[i]);
	}
	uv_poll_start(&a->input, UV_READABLE, on_input);
}

static void close_handles(struct attachment *a)
{
	uv_close((uv_handle_t *)&a->input, NULL);
	uv_close((uv_handle_t *)&a->retry, NULL);
	uv_close((uv_handle_t *)&a->fence, NULL);
	uv_close((uv_handle_t *)&a->notice, NULL);
	uv_close((uv_handle_t *)&a->size, NULL);
	for (size_t i = 0; i < SIGNALS; i++)
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
static void settle(struct attachment *a)
{
	char bytes[512];
	bool detach;
	uint64_t now = uv_hrtime(), end = now + (uint64_t)FENCE_MS * 1000000;
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
	if (open_socket(&a) < 0)
		retry(&a);
	while (!a.over)
		uv_run(&cli->loop, UV_RUN_ONCE);
	close_handles(&a);
	settle(&a);
	tty_close();
	return say_goodbye(&a);
}

/* The session that somebody used last. */
static char *latest_session(struct cli *cli)
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

enum { OPT_READ_ONLY = 'r', OPT_NO_RESIZE = 256, OPT_NAME, OPT_KEY };

static int take_options(struct cli *cli, struct attach_options *o)
{
	static const struct option options[] = {
		{"read-only", no_argument, NULL, OPT_READ_ONLY},
		{"no-resize", no_argument, NULL, OPT_NO_RESIZE},
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
	int rc = take_options(cli, &o);
	const char *given = cli_argument(cli);
	if (rc != 0 || !cli_done(cli))
		return cli->status;
	rc = connection_open(cli);
	if (rc != 0)
		return rc;
	char *id = given ? strdup(given) : latest_session(cli);
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
		   "  --detach-key KEY      such as C-], or none (default: C-\\)\n"
		   "  --name NAME           that others see (default: the user's)\n",
};

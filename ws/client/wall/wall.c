/*
 * `ringside wall`: sessions side by side on the alternate screen of the user's terminal. Watching does not
 * resize them. Enter attaches to one as `ringside attach` does; detaching returns to the wall. The terminal is
 * restored at the end.
 */
#include "ws/client/wall/wall.h"

#include "ws/client/attach/attach.h"
#include "ws/client/attach/tty.h"
#include "ws/client/connect/connection.h"
#include "ws/client/wall/wall_state.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INPUT_MAX ((size_t)512)

/* The alternate screen, without cursor and autowrap. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l", leave[] = "\033[?1049l";

void wall_end(struct wall *w, int status, const char *reason)
{
	w->over = true;
	w->status = status;
	w->reason = reason;
}

/* Keys */

static void handle_key(struct wall *w, enum key key)
{
	static const enum tiling_step steps[] = {[KEY_LEFT] = TILING_LEFT,
		[KEY_RIGHT] = TILING_RIGHT,
		[KEY_UP] = TILING_UP,
		[KEY_DOWN] = TILING_DOWN,
		[KEY_PAGE_UP] = TILING_PAGE_UP,
		[KEY_PAGE_DOWN] = TILING_PAGE_DOWN,
		[KEY_FIRST] = TILING_FIRST,
		[KEY_LAST] = TILING_LAST};
	switch (key) {
	case KEY_NONE:
		return;
	case KEY_ENTER:
		w->attach = crowd_find(&w->crowd, w->chosen) != NULL;
		w->over = w->attach;
		return;
	case KEY_LEAVE:
		wall_end(w, 0, NULL);
		return;
	case KEY_REDRAW:
		w->dirty = true;
		return;
	default:
		view_move(w, steps[key]);
	}
}

static void on_input(uv_poll_t *poll, int status, int events)
{
	struct wall *w = poll->data;
	unsigned char bytes[INPUT_MAX];
	(void)events;
	long n = status < 0 ? -1 : tty_read(bytes, sizeof bytes, 0);
	if (n < 0) {
		uv_poll_stop(poll);
		wall_end(w, CLI_FAILED, "the terminal is gone");
		return;
	}
	for (long i = 0; i < n && !w->over; i++)
		handle_key(w, key_feed(&w->keys, bytes[i]));
	if (w->over)
		return;
	view_draw(w);
	feed_request_due(w);
}

/* The terminal */

static void show_screen(struct wall *w)
{
	tty_write(enter, sizeof enter - 1);
	w->dirty = true;
	view_arrange(w);
	view_draw(w);
}

static void hide_screen(void)
{
	tty_write(leave, sizeof leave - 1);
}

static void on_signal(uv_signal_t *handle, int signo)
{
	struct wall *w = handle->data;
	switch (signo) {
	case SIGWINCH:
		w->dirty = true;
		view_arrange(w);
		view_draw(w);
		feed_request_due(w);
		break;
	case SIGTSTP:
		hide_screen();
		tty_suspend();
		kill(getpid(), SIGSTOP);
		break;
	case SIGCONT:
		/* The shell has used the terminal meanwhile. */
		tty_suspend();
		tty_resume();
		show_screen(w);
		break;
	default:
		wall_end(w, 128 + signo, NULL);
	}
}

static void open_handles(struct wall *w, int fd)
{
	static const int numbers[WALL_SIGNALS] = {
		SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT};
	uv_loop_t *loop = &w->cli->loop;
	uv_poll_init(loop, &w->input, fd);
	uv_timer_init(loop, &w->retry);
	uv_timer_init(loop, &w->due);
	w->input.data = w->retry.data = w->due.data = w;
	for (size_t i = 0; i < WALL_SIGNALS; i++) {
		uv_signal_init(loop, &w->signals[i]);
		w->signals[i].data = w;
		uv_signal_start(&w->signals[i], on_signal, numbers[i]);
	}
	uv_poll_start(&w->input, UV_READABLE, on_input);
}

static void on_handle_closed(uv_handle_t *handle)
{
	handle->data = NULL;
}

static void close_handles(struct wall *w)
{
	uv_close((uv_handle_t *)&w->input, NULL);
	uv_close((uv_handle_t *)&w->retry, NULL);
	for (size_t i = 0; i < WALL_SIGNALS; i++)
		uv_close((uv_handle_t *)&w->signals[i], NULL);
	uv_close((uv_handle_t *)&w->due, on_handle_closed); /* the last */
	/* Wait, because watch() may use the handles again. */
	while (w->due.data)
		uv_run(&w->cli->loop, UV_RUN_ONCE);
}

/* Show the wall until the user leaves it or attaches. Returns 0, or an exit status. */
static int watch(struct wall *w)
{
	int fd = tty_open_inline();
	if (fd < 0)
		return cli_fail(w->cli, "%s",
			fd == -ENOTTY ? "standard input and output must be a terminal"
				      : strerror(-fd));
	w->over = w->attach = false;
	w->keys = (struct key_reader){.number = 0};
	open_handles(w, fd);
	show_screen(w);
	feed_open(w);
	while (!w->over)
		uv_run(&w->cli->loop, UV_RUN_ONCE);
	feed_close(w);
	close_handles(w);
	hide_screen();
	tty_close();
	return w->reason ? cli_fail(w->cli, "%s", w->reason) : w->status;
}

/* Show the wall, and attach to chosen sessions in turn. Returns an exit status. */
static int watch_and_attach(struct wall *w)
{
	int rc;
	while ((rc = watch(w)) == 0 && w->attach) {
		struct tile *t = crowd_find(&w->crowd, w->chosen);
		char id[TILE_ID_MAX + 1];
		snprintf(id, sizeof id, "%s", t->id);
		crowd_set_called(t, false);
		rc = attach_session(w->cli, id, &w->options);
		if (rc >= 128) /* by a signal */
			return rc;
		w->cli->status = 0;
	}
	return rc;
}

static int parse_options(struct cli *cli, struct attach_options *o)
{
	static const struct option options[] = {
		{"read-only", no_argument, NULL, 'r'}, {"no-resize", no_argument, NULL, 'n'}, {0}};
	int option;
	while ((option = cli_option(cli, ":r", options)) != -1) {
		if (option == '?')
			return cli->status;
		if (option == 'r')
			o->read_only = true;
		else
			o->no_resize = true;
	}
	return cli_expect_end(cli) ? 0 : cli->status;
}

static int run_wall(struct cli *cli)
{
	struct wall w = {.cli = cli};
	int rc = parse_options(cli, &w.options);
	if (rc == 0)
		rc = connection_open(cli);
	if (rc != 0)
		return rc;
	const char *here = attach_own_session(cli);
	if (here)
		snprintf(w.crowd.own_session, sizeof w.crowd.own_session, "%s", here);
	rc = watch_and_attach(&w);
	crowd_finish(&w.crowd);
	return rc;
}

const struct command command_wall = {
	.name = "wall",
	.run = run_wall,
	.arguments = "[OPTIONS]",
	.summary = "Show all sessions side by side, live; arrows choose, Enter attaches, q leaves",
	.options = "  -r, --read-only       Enter attaches read-only\n"
		   "  --no-resize           Enter does not resize the session\n",
};

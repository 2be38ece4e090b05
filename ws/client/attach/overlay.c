/*
 * A view covers the session on the alternate screen. Before, a snapshot is requested and kept;
 * afterwards it is drawn, and the session continues at its offset, as after a lost connection, so
 * that all output reaches the terminal's scrollback. Without a snapshot the session is drawn anew.
 */
#include "ws/client/attach/attachment.h"

#include "ws/client/attach/tty.h"

#include <stdlib.h>
#include <string.h>

#define SNAPSHOT_MS 2000u /* time limit for the snapshot, or for a connection */

/* The alternate screen, without cursor and automatic wrap. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[m\033[2J", leave[] = "\033[?1049l";

void overlay_begin_snapshot(struct attachment *a, const json_t *message)
{
	json_int_t bytes = json_integer_value(json_object_get(message, "bytes"));
	struct kept *k = &a->kept;
	k->length = 0;
	k->whole = false;
	k->failed = bytes < 0 || (uint64_t)bytes > ATTACH_KEPT_MAX;
	if (k->failed || (size_t)bytes <= k->size)
		return;
	char *more = realloc(k->bytes, (size_t)bytes);
	k->failed = !more;
	if (!more)
		return;
	k->bytes = more;
	k->size = (size_t)bytes;
}

void overlay_add_snapshot(struct attachment *a, const char *bytes, size_t length)
{
	struct kept *k = &a->kept;
	if (k->failed || length > k->size - k->length)
		return;
	memcpy(k->bytes + k->length, bytes, length);
	k->length += length;
	k->whole = a->snapshot_left == 0;
}

void overlay_handle_sync(struct attachment *a, uint64_t offset)
{
	/* Otherwise the session continues elsewhere: a snapshot of another offset is of no use. */
	bool is_snapshot = a->kept.whole && (a->covering || !a->kept.settled);
	if (a->covered && !is_snapshot && offset != a->offset)
		a->kept.whole = false;
	if (!is_snapshot)
		return;
	a->kept.settled = true;
	a->offset = offset;
	a->covering = false;
	a->covered = true;
}

static void on_timeout(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	a->request_timed_out = true;
}

/* Wait for the snapshot; output before it is still drawn. */
static void await_snapshot(struct attachment *a)
{
	a->kept.whole = a->kept.settled = false;
	a->covering = a->ready;
	a->request_timed_out = false;
	if (!a->covering)
		return;
	uv_timer_start(&a->cover, on_timeout, SNAPSHOT_MS, 0);
	socket_send(a, json_pack("{s:s, s:i}", "type", "snapshot", "scrollback", 0));
	while (!a->over && a->covering && a->socket && !a->request_timed_out && !a->uncovered)
		uv_run(&a->cli->loop, UV_RUN_ONCE);
	uv_timer_stop(&a->cover);
	a->covering = false;
}

bool overlay_await_session(struct attachment *a)
{
	a->request_timed_out = false;
	uv_timer_start(&a->cover, on_timeout, SNAPSHOT_MS, 0);
	while (!a->over && !(a->begun && a->ready) && !a->request_timed_out && !a->hurried)
		uv_run(&a->cli->loop, UV_RUN_ONCE);
	uv_timer_stop(&a->cover);
	return !a->over && a->begun && a->ready;
}

bool overlay_keep_snapshot(struct attachment *a)
{
	await_snapshot(a);
	a->covered = false;
	tty_size(&a->kept.cols, &a->kept.rows);
	return a->kept.whole;
}

void overlay_open(struct attachment *a)
{
	/* A mirror draws from screens and needs no snapshot. */
	if (!a->mirror.on)
		overlay_keep_snapshot(a);
	a->covered = true;
	a->keys = (struct key_reader){.number = 0};
	uv_timer_stop(&a->notice);
	overlay_clear();
	a->resized = false;
}

void overlay_clear(void)
{
	tty_reset();
	tty_write(enter, sizeof enter - 1);
}

void overlay_close(struct attachment *a)
{
	unsigned cols, rows;
	if (a->over)
		return;
	if (a->mirror.on) {
		a->covered = false;
		mirror_show(a);
		return;
	}
	tty_size(&cols, &rows);
	a->covered = a->covering = false;
	tty_write(leave, sizeof leave - 1);
	if (a->kept.whole) {
		display_draw_kept(a);
		a->dirty = cols != a->kept.cols || rows != a->kept.rows;
		if (a->wanted != PREFIX_ENDED)
			socket_connect(a);
		return;
	}
	tty_clear(a->foreign);
	a->offset = a->live;
	a->foreign = false;
	if (a->ready)
		display_ask_snapshot(a);
	a->dirty = !a->ready;
}

/*
 * The terminal shows something of ours, on its alternate screen, while the session goes on. Before, a picture of the session is
 * asked for, which is drawn again afterwards; then the session is taken up at the very byte behind it, as after a connection
 * that was lost, so that all it has printed meanwhile reaches the terminal and its scrollback. Where there is no picture, it is
 * drawn anew as it is then.
 */
#include "ws/client/attach/attachment.h"

#include "ws/client/attach/tty.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define PICTURE_MS 2000u /* for the server to send it, or to be there */

/* The alternate screen, without a cursor, and without a margin that scrolls. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[m\033[2J", leave[] = "\033[?1049l";

void cover_begin_kept(struct attachment *a, const json_t *message)
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

void cover_take_kept(struct attachment *a, const char *bytes, size_t length)
{
	struct kept *k = &a->kept;
	if (k->failed || length > k->size - k->length)
		return;
	memcpy(k->bytes + k->length, bytes, length);
	k->length += length;
	k->whole = a->snapshot_left == 0;
}

/* Behind a picture, or where it goes on without one: then there is none of where we are. */
void cover_take_sync(struct attachment *a, uint64_t offset)
{
	bool is_picture = a->kept.whole && (a->covering || !a->kept.settled);
	if (a->covered && !is_picture && offset != a->offset)
		a->kept.whole = false;
	if (!is_picture)
		return;
	a->kept.settled = true;
	a->offset = offset;
	a->covering = false;
	a->covered = true;
}

static void on_late(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	a->cover_late = true;
}

/* Wait for the picture: what comes before it is drawn as always. */
static void await_picture(struct attachment *a)
{
	a->kept.whole = a->kept.settled = false;
	a->covering = a->ready;
	a->cover_late = false;
	if (!a->covering)
		return;
	uv_timer_start(&a->cover, on_late, PICTURE_MS, 0);
	socket_send(a, json_pack("{s:s, s:i}", "type", "snapshot", "scrollback", 0));
	while (!a->over && a->covering && a->socket && !a->cover_late && !a->uncovered)
		uv_run(&a->cli->loop, UV_RUN_ONCE);
	uv_timer_stop(&a->cover);
	a->covering = false;
}

bool cover_await(struct attachment *a)
{
	a->cover_late = false;
	uv_timer_start(&a->cover, on_late, PICTURE_MS, 0);
	while (!a->over && !(a->begun && a->ready) && !a->cover_late && !a->hurried)
		uv_run(&a->cli->loop, UV_RUN_ONCE);
	uv_timer_stop(&a->cover);
	return !a->over && a->begun && a->ready;
}

bool cover_keep(struct attachment *a)
{
	await_picture(a);
	a->covered = false;
	tty_size(&a->kept.cols, &a->kept.rows);
	return a->kept.whole;
}

void cover_open(struct attachment *a)
{
	/* How wide characters are is asked of the locale. */
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
	/* What is drawn from screens needs no picture. */
	if (!a->mirror.on)
		cover_keep(a);
	a->covered = true;
	a->keys = (struct key_reader){.number = 0};
	uv_timer_stop(&a->notice);
	cover_show();
	a->resized = false;
}

void cover_show(void)
{
	tty_reset();
	tty_write(enter, sizeof enter - 1);
}

void cover_close(struct attachment *a)
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

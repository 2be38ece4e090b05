/*
 * Messages and output of the server. Offsets count from each `sync`. If the session is about to get
 * the size of our window, a snapshot of another size is skipped and requested again.
 *
 * Reports that the terminal sends while a snapshot is drawn are not input of the user. A query
 * behind the snapshot, the fence, marks their end.
 */
#include "ws/client/attach/attachment.h"
#include "ws/client/attach/tty.h"

#include <stdio.h>
#include <string.h>

#define PIECE ((size_t)4096) /* bytes that go through the guard at once */
#define SIZE_MS 300u         /* wait this long for the session to get our size */

bool display_may_resize(const struct attachment *a)
{
	return !a->options.read_only && !a->options.no_resize;
}

void display_size(const struct attachment *a, unsigned *ret_cols, unsigned *ret_rows)
{
	tty_size(ret_cols, ret_rows);
	if (a->mirror.on && *ret_rows > 1)
		(*ret_rows)--;
}

void display_send_size(struct attachment *a)
{
	unsigned cols, rows;
	display_size(a, &cols, &rows);
	if (display_may_resize(a))
		socket_send(a,
			json_pack("{s:s, s:i, s:i}", "type", "resize", "cols", (int)cols, "rows",
				(int)rows));
}

void display_ask_snapshot(struct attachment *a)
{
	a->dirty = false;
	if (a->mirror.on) {
		mirror_mark_stale(a);
		return;
	}
	socket_send(a,
		json_pack("{s:s, s:i}", "type", "snapshot", "scrollback",
			a->drawn ? 0 : ATTACH_LINES));
}

static void on_size(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	a->waited = true;
	if (a->passed && a->ready)
		display_ask_snapshot(a);
}

/* Compare the session's size with ours; when it becomes equal, draw it again. */
static void update_size(struct attachment *a, const json_t *message)
{
	unsigned cols, rows;
	display_size(a, &cols, &rows);
	bool differed = a->differs;
	a->differs = json_integer_value(json_object_get(message, "cols")) != (json_int_t)cols ||
		json_integer_value(json_object_get(message, "rows")) != (json_int_t)rows;
	if (differed && !a->differs && a->ready && !a->covered)
		display_ask_snapshot(a);
}

void display_draw_anew(struct attachment *a)
{
	a->drawn = a->waited = false;
	a->passed = true;
	uv_timer_start(&a->size, on_size, SIZE_MS, 0);
}

static void on_fence(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	a->keyboard.fenced = false;
}

/* Prepare the terminal for a snapshot. */
static void begin_drawing(struct attachment *a)
{
	a->redraw = (struct redraw){.length = 0};
	a->guard = (struct guard){.clipboard = a->options.clipboard};
	a->keyboard.fenced = true;
	a->keyboard.matched = 0;
	a->keyboard.state = KEYBOARD_TEXT;
	uv_timer_stop(&a->fence);
	tty_clear(!a->drawn || a->foreign);
	a->drawn = true;
	a->dirty = a->noticed = a->foreign = false;
}

static void end_drawing(struct attachment *a)
{
	if (!a->keyboard.fenced)
		return;
	tty_write(KEYBOARD_FENCE, sizeof KEYBOARD_FENCE - 1);
	a->keyboard.asked++;
	uv_timer_start(&a->fence, on_fence, ATTACH_FENCE_MS, 0);
}

static void begin_snapshot(struct attachment *a, const json_t *message)
{
	a->snapshot_left = (uint64_t)json_integer_value(json_object_get(message, "bytes"));
	update_size(a, message);
	if (a->mirror.on) {
		mirror_mark_stale(a);
		return;
	}
	if (a->covering || a->covered) {
		overlay_begin_snapshot(a, message);
		return;
	}
	/* Do not draw it twice if the session is about to get our size. */
	a->passed = !a->drawn && a->differs && display_may_resize(a) && !a->waited;
	if (a->passed) {
		uv_timer_start(&a->size, on_size, SIZE_MS, 0);
		return;
	}
	uv_timer_stop(&a->size);
	begin_drawing(a);
}

static void handle_sync(struct attachment *a, const json_t *message)
{
	a->live = (uint64_t)json_integer_value(json_object_get(message, "offset"));
	if (a->mirror.on) {
		a->offset = a->live;
		a->synced = true;
		attach_begin(a);
		mirror_mark_stale(a);
		return;
	}
	if (a->covering || a->covered) {
		overlay_handle_sync(a, a->live);
		return;
	}
	a->offset = a->live;
	a->synced = true;
	attach_begin(a);
	end_drawing(a);
}

static void handle_ready(struct attachment *a)
{
	a->ready = true;
	if (a->covered || a->mirror.on)
		return;
	if (a->dirty || (a->passed && (!a->differs || a->waited)))
		display_ask_snapshot(a);
}

static void handle_exit(struct attachment *a, const json_t *message)
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
	/* Leave the view first, to show the last output; the message comes again then. */
	if (!a->mirror.on && (a->covered || a->covering))
		a->uncovered = true;
	else
		attach_end_or_next(a, 0, "ended");
}

static void handle_attached(struct attachment *a, const json_t *message)
{
	const char *epoch = json_string_value(json_object_get(message, "epoch"));
	bool other = a->synced && epoch && strcmp(epoch, a->epoch) != 0;
	snprintf(a->epoch, sizeof a->epoch, "%s", epoch ? epoch : "");
	const json_t *input = json_object_get(message, "input");
	a->pause_ms = 0;
	uv_timer_stop(&a->notice);
	socket_erase_notice(a);
	socket_close_old(a);
	socket_resume_input(a, json_is_integer(input) ? (int64_t)json_integer_value(input) : -1);
	if (other) {
		snprintf(a->reason, sizeof a->reason, "was deleted");
		attach_end_or_next(a, CLI_GONE, "deleted");
	}
}

void display_handle_message(struct attachment *a, const char *text, size_t length)
{
	json_t *message = json_loadb(text, length, 0, NULL);
	const char *type = json_string_value(json_object_get(message, "type"));
	if (!type)
		type = "";
	mirror_handle_message(a, message);
	if (strcmp(type, "attached") == 0)
		handle_attached(a, message);
	else if (strcmp(type, "snapshot") == 0)
		begin_snapshot(a, message);
	else if (strcmp(type, "sync") == 0)
		handle_sync(a, message);
	else if (strcmp(type, "resize") == 0)
		update_size(a, message);
	else if (strcmp(type, "ready") == 0)
		handle_ready(a);
	else if (strcmp(type, "exit") == 0)
		handle_exit(a, message);
	else if (strcmp(type, "input") == 0)
		socket_handle_receipt(
			a, (int64_t)json_integer_value(json_object_get(message, "taken")));
	if (strcmp(type, "resize") == 0)
		mirror_mark_stale(a);
	json_decref(message);
}

/* The only way of output to the terminal. */
static void draw(struct attachment *a, const char *bytes, size_t length)
{
	char shown[GUARD_OUTPUT_MAX(PIECE)];
	while (length > 0 && !a->over) {
		size_t piece = length < PIECE ? length : PIECE;
		if (!tty_write(shown, guard_filter(&a->guard, bytes, piece, shown)))
			attach_end_no_terminal(a);
		bytes += piece;
		length -= piece;
	}
}

static void draw_snapshot(struct attachment *a, const char *bytes, size_t length, bool last)
{
	const char *head;
	size_t head_length;
	size_t taken = redraw_filter(&a->redraw, bytes, length, last, &head, &head_length);
	draw(a, head, head_length);
	draw(a, bytes + taken, length - taken);
}

void display_draw_kept(struct attachment *a)
{
	begin_drawing(a);
	draw_snapshot(a, a->kept.bytes, a->kept.length, true);
	end_drawing(a);
}

static void add_snapshot(struct attachment *a, const char *bytes, size_t length)
{
	a->snapshot_left -= length;
	if (a->mirror.on)
		return;
	if (a->covering || a->covered)
		overlay_add_snapshot(a, bytes, length);
	else if (!a->passed)
		draw_snapshot(a, bytes, length, a->snapshot_left == 0);
}

void display_handle_bytes(struct attachment *a, const void *bytes, size_t length)
{
	size_t first = a->snapshot_left < length ? (size_t)a->snapshot_left : length;
	if (a->over)
		return;
	if (first > 0)
		add_snapshot(a, bytes, first);
	a->live += length - first;
	if (a->mirror.on) {
		a->offset = a->live;
		mirror_mark_stale(a);
		return;
	}
	/* A view is shown: this output is requested again afterwards. */
	if (a->covered)
		return;
	if (!a->passed) {
		draw(a, (const char *)bytes + first, length - first);
		a->drawn = true;
	}
	a->offset += length - first;
}

/*
 * Screens are requested as cells over a control socket, at most 30 times a second, and only after
 * output. So the terminal always gets the latest screen and never a backlog. Input, sizes and the
 * end of the session use the terminal socket as before; its output only marks the screen as stale.
 *
 * The mirror uses the alternate screen. A snapshot keeps the session as it was drawn before, with
 * its offset: when the mirror is closed, drawing by bytes continues there, unless too many have
 * passed.
 */
#include "ws/client/attach/attachment.h"

#include "shell/hash.h"
#include "ws/client/attach/tty.h"
#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REST_MS 33u      /* between two requests */
#define REFUSED_MS 1000u /* after a refusal */
#define PAUSE_FIRST_MS 50u
#define PAUSE_MAX_MS 2000u
#define CLOCK_MS 1000u

/* Draw this many missed bytes; if there are more, draw the screen and its scrollback anew. */
#define BACK_MAX ((uint64_t)1 << 20)

static const char enter[] = "\033[?1049h\033[?7l\033[m\033[2J", leave[] = "\033[?1049l";
static const char begin_update[] = "\033[?2026h", end_update[] = "\033[?2026l\033[m";

/* Never 0, which is an unknown row. */
static uint64_t hash_row(const char *bytes, size_t length)
{
	uint64_t sum = hash_bytes(HASH_START, bytes, length);
	return sum ? sum : 1;
}

/* Draw a row of the terminal if it has changed. */
static void put_row(struct mirror *m, struct canvas *c, unsigned row, const struct canvas *drawn)
{
	uint64_t sum = hash_row(drawn->bytes, drawn->length);
	if (row >= PICTURE_ROWS_MAX || (m->rows[row] == sum && !drawn->failed))
		return;
	m->rows[row] = sum;
	c->failed = c->failed || drawn->failed;
	canvas_move(c, 0, row);
	canvas_bytes(c, drawn->bytes, drawn->length);
}

static void put_status_line(struct attachment *a, struct canvas *c, unsigned row, unsigned cols)
{
	char text[STATUS_TEXT_MAX], key[8] = "", clock[16] = "";
	struct canvas line = {0};
	struct tm tm;
	time_t now = time(NULL);
	if (localtime_r(&now, &tm))
		strftime(clock, sizeof clock, " %H:%M ", &tm);
	if (a->options.detach_key >= 0)
		keyboard_name(a->options.detach_key, key);
	status_line(&a->mirror.status, key, text);
	unsigned room = cols > 2 * strlen(clock) ? cols - (unsigned)strlen(clock) : cols;
	canvas_bytes(&line, "\033[0;7m", 6);
	canvas_blanks(&line, room - canvas_text(&line, text, room));
	canvas_text(&line, clock, cols - room);
	canvas_bytes(&line, "\033[m", 3);
	put_row(&a->mirror, c, row, &line);
	canvas_finish(&line);
}

static void put_title(struct mirror *m, struct canvas *c, const char *title)
{
	canvas_bytes(c, "\033]2;", 4);
	canvas_text(c, title, STATUS_NAME_MAX);
	canvas_bytes(c, "\033\\", 2);
	snprintf(m->title, sizeof m->title, "%s", title);
}

/* The first visible row, so that the cursor is visible. */
static unsigned first_row(const struct picture *p, unsigned rows)
{
	return p->cursor_row < rows ? 0 : p->cursor_row + 1 - rows;
}

static void put_rows(struct mirror *m, struct canvas *c, unsigned cols, unsigned rows)
{
	unsigned first = first_row(&m->picture, rows);
	for (unsigned i = 0; i < rows; i++) {
		struct canvas row = {0};
		if (m->picture.cells && first + i < m->picture.rows)
			canvas_row(&row, &m->picture, first + i, cols);
		else
			canvas_blanks(&row, cols);
		put_row(m, c, i, &row);
		canvas_finish(&row);
	}
}

static void put_cursor(struct mirror *m, struct canvas *c, unsigned cols, unsigned rows)
{
	const struct picture *p = &m->picture;
	unsigned row = p->cursor_row - first_row(p, rows);
	if (!p->cells || !m->cursor || p->cursor_col >= cols)
		return;
	canvas_move(c, p->cursor_col, row);
	canvas_bytes(c, "\033[?25h", 6);
}

static void draw(struct attachment *a)
{
	struct mirror *m = &a->mirror;
	unsigned cols, rows, shown;
	struct canvas c = {0};
	if (!m->on || a->covered || a->over)
		return;
	tty_size(&cols, &rows);
	display_size(a, &cols, &shown);
	canvas_bytes(&c, begin_update, sizeof begin_update - 1);
	canvas_bytes(&c, "\033[?25l", 6);
	if (m->anew) {
		canvas_clear(&c);
		memset(m->rows, 0, sizeof m->rows);
	}
	m->anew = false;
	put_rows(m, &c, cols, shown);
	if (shown < rows)
		put_status_line(a, &c, shown, cols);
	modes_write_changes(&c, &m->shown, &m->wanted);
	m->shown = m->wanted;
	if (m->status.rung)
		canvas_bytes(&c, "\a", 1);
	m->status.rung = false;
	put_cursor(m, &c, cols, shown);
	canvas_bytes(&c, end_update, sizeof end_update - 1);
	if (!tty_write(c.bytes, c.length))
		attach_end_no_terminal(a);
	m->anew = c.failed;
	canvas_finish(&c);
}

void mirror_show(struct attachment *a)
{
	struct mirror *m = &a->mirror;
	tty_reset();
	tty_write(enter, sizeof enter - 1);
	m->shown = (struct modes){0};
	m->title[0] = '\0';
	m->anew = true;
	a->resized = false;
	draw(a);
	mirror_mark_stale(a);
}

static void send_request(struct mirror *m, const char *kind, char *path)
{
	char id[32];
	snprintf(id, sizeof id, "%s%u", kind, m->serial);
	json_t *message = path ? json_pack("{s:s, s:s, s:s, s:s}", "type", "request", "id", id,
					 "method", "GET", "path", path)
			       : NULL;
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	if (text && m->socket)
		client_socket_send(m->socket, false, text, strlen(text));
	free(text);
	json_decref(message);
	free(path);
}

static void fetch_if_stale(struct attachment *a);

static void on_due(uv_timer_t *timer)
{
	fetch_if_stale(timer->data);
}

static void fetch_if_stale(struct attachment *a)
{
	struct mirror *m = &a->mirror;
	uint64_t now = uv_now(&a->cli->loop);
	if (!m->on || !m->opened || m->fetched || !m->stale || a->over)
		return;
	if (now < m->due_ms) {
		uv_timer_start(&m->due, on_due, m->due_ms - now, 0);
		return;
	}
	m->since = m->picture.version;
	m->stale = false;
	m->fetched = true;
	m->due_ms = now + REST_MS;
	send_request(m, "p",
		call_path(a->session, "/screen?format=json%s&since=%" PRIu64,
			m->picture.plain ? "" : "&cells=1", m->since));
}

void mirror_mark_stale(struct attachment *a)
{
	a->mirror.stale = true;
	fetch_if_stale(a);
}

static void handle_picture(struct attachment *a, const json_t *message)
{
	struct mirror *m = &a->mirror;
	const json_t *body = json_object_get(message, "body");
	m->fetched = false;
	int rc = json_integer_value(json_object_get(message, "status")) == 200
		? picture_update(&m->picture, body, m->since)
		: -EPROTO;
	if (rc < 0) {
		m->stale = true;
		m->due_ms = rc == -EAGAIN ? 0 : uv_now(&a->cli->loop) + REFUSED_MS;
		return;
	}
	/* Use the terminal's own cursor. */
	m->cursor = m->picture.cursor_visible;
	m->picture.cursor_visible = false;
	m->wanted = modes_of(body);
	const char *title = answer_text(body, "title");
	if (strncmp(title, m->title, sizeof m->title - 1) != 0 && !a->covered) {
		struct canvas c = {0};
		put_title(m, &c, title);
		tty_write(c.bytes, c.length);
		canvas_finish(&c);
	}
	draw(a);
}

static void handle_event(struct attachment *a, const json_t *message)
{
	const char *data = json_string_value(json_object_get(message, "data"));
	json_t *event = data ? json_loads(data, 0, NULL) : NULL;
	if (event && status_handle_event(&a->mirror.status, event))
		draw(a);
	json_decref(event);
}

static void on_text(void *user, const char *text, size_t length)
{
	struct attachment *a = user;
	struct mirror *m = &a->mirror;
	json_t *message = json_loadb(text, length, 0, NULL);
	const char *type = answer_text(message, "type"), *id = answer_text(message, "id");
	bool ends = strcmp(type, "response") == 0 || strcmp(type, "error") == 0;
	if (strcmp(type, "stream") == 0)
		handle_event(a, message);
	else if (ends && id[0] == 'p' && strtoul(id + 1, NULL, 10) == m->serial)
		handle_picture(a, message);
	json_decref(message);
	fetch_if_stale(a);
}

static void forget_requests(struct mirror *m)
{
	m->fetched = false;
	m->stale = true;
	m->due_ms = 0;
	m->serial++;
	/* Another server counts versions anew: ask for the whole screen. */
	m->picture.version = 0;
}

static void on_opened(void *user)
{
	struct attachment *a = user;
	a->mirror.opened = true;
	a->mirror.pause_ms = 0;
	forget_requests(&a->mirror);
	send_request(&a->mirror, "l", strdup("/api/session/events?activity=1"));
	fetch_if_stale(a);
}

static void on_retry(uv_timer_t *timer);

static void try_later(struct attachment *a)
{
	struct mirror *m = &a->mirror;
	m->pause_ms = m->pause_ms == 0 ? PAUSE_FIRST_MS : m->pause_ms * 2;
	if (m->pause_ms > PAUSE_MAX_MS)
		m->pause_ms = PAUSE_MAX_MS;
	uv_timer_start(&m->retry, on_retry, m->pause_ms, 0);
}

/* The terminal socket handles refusals; here only connect again. */
static void on_closed(void *user, int code, const char *reason)
{
	struct attachment *a = user;
	(void)code;
	(void)reason;
	a->mirror.socket = NULL;
	a->mirror.opened = false;
	forget_requests(&a->mirror);
	if (!a->over)
		try_later(a);
}

static const struct client_socket_callbacks callbacks = {
	.opened = on_opened, .text = on_text, .closed = on_closed};

static void connect_screens(struct attachment *a)
{
	struct mirror *m = &a->mirror;
	if (client_socket_open(a->cli->client, "/ws", &callbacks, a, &m->socket) < 0)
		try_later(a);
}

static void on_retry(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	if (connection_probe(a->cli) < 0)
		try_later(a);
	else
		connect_screens(a);
}

static void disconnect(struct mirror *m)
{
	if (m->socket)
		client_socket_close(m->socket);
	m->socket = NULL;
	m->opened = false;
	uv_timer_stop(&m->retry);
	uv_timer_stop(&m->due);
	uv_timer_stop(&m->clock);
	picture_finish(&m->picture);
	m->picture.wide = true;
	forget_requests(m);
}

void mirror_begin(struct attachment *a)
{
	struct mirror *m = &a->mirror;
	picture_finish(&m->picture);
	m->picture.wide = true;
	forget_requests(m);
	m->back = false;
	m->wanted = (struct modes){0};
	status_begin(&m->status, a->session);
	draw(a);
}

void mirror_handle_message(struct attachment *a, const json_t *message)
{
	if (status_handle_message(&a->mirror.status, message))
		draw(a);
}

void mirror_show_away(struct attachment *a)
{
	a->mirror.status.away = true;
	draw(a);
}

static void on_clock(uv_timer_t *timer)
{
	draw(timer->data);
}

void mirror_init(struct attachment *a)
{
	struct mirror *m = &a->mirror;
	uv_timer_init(&a->cli->loop, &m->due);
	uv_timer_init(&a->cli->loop, &m->retry);
	uv_timer_init(&a->cli->loop, &m->clock);
	m->due.data = m->retry.data = m->clock.data = a;
	m->picture.wide = true;
	status_begin(&m->status, a->session);
}

void mirror_finish(struct attachment *a)
{
	struct mirror *m = &a->mirror;
	disconnect(m);
	uv_close((uv_handle_t *)&m->due, NULL);
	uv_close((uv_handle_t *)&m->retry, NULL);
	uv_close((uv_handle_t *)&m->clock, NULL);
	status_finish(&m->status);
	if (m->on)
		tty_write(leave, sizeof leave - 1);
}

void mirror_open(struct attachment *a)
{
	struct mirror *m = &a->mirror;
	m->back = a->drawn && overlay_keep_snapshot(a);
	if (a->over)
		return;
	m->status.bells = -1; /* the terminal has rung earlier bells itself */
	m->back_offset = a->offset;
	a->offset = a->live;
	m->on = true;
	uv_timer_start(&m->clock, on_clock, CLOCK_MS, CLOCK_MS);
	connect_screens(a);
	mirror_show(a);
	display_send_size(a);
}

void mirror_close(struct attachment *a)
{
	struct mirror *m = &a->mirror;
	disconnect(m);
	m->on = false;
	tty_reset();
	tty_write(leave, sizeof leave - 1);
	display_send_size(a);
	if (m->back && a->live - m->back_offset <= BACK_MAX) {
		a->offset = m->back_offset;
		display_draw_kept(a);
		/* The session had another size meanwhile. */
		a->dirty = true;
	} else
		display_draw_anew(a);
	socket_connect(a);
}

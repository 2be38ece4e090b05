/*
 * The connection of an attachment. A lost one is opened again at growing intervals without a limit,
 * and continues at the next byte. If the server is away for longer than a moment, a notice is
 * shown. A refusal, or the end of the session, ends the attachment.
 */
#include "ws/client/attach/attachment.h"
#include "ws/client/attach/tty.h"
#include "ws/client/connect/call.h"
#include "ws/client/connect/connection.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAUSE_FIRST_MS 50u /* before connecting again */
#define PAUSE_MAX_MS 2000u
#define NOTICE_MS 400u /* a shorter absence is not shown */
#define FLUSH_MS 3000u /* time limit for all input to arrive */

/* After this time without a connection input is dropped: the user does not see what it would do. */
#define LONG_MS 3000u

void socket_send(struct attachment *a, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	if (text && a->socket)
		client_socket_send(a->socket, false, text, strlen(text));
	free(text);
	json_decref(message);
}

/* The attachment of the current line; NULL: it is the old line. */
static struct attachment *owner(const struct attach_line *line)
{
	return line == line->a->line ? line->a : NULL;
}

static void on_drained(void *user)
{
	struct attachment *a = owner(user);
	if (a)
		attach_read_input(a);
}

static void on_text(void *user, const char *text, size_t length)
{
	struct attachment *a = owner(user);
	if (a)
		display_handle_message(a, text, length);
}

static void on_binary(void *user, const void *bytes, size_t length)
{
	struct attachment *a = owner(user);
	if (a)
		display_handle_bytes(a, bytes, length);
}

static void on_opened(void *user)
{
	struct attachment *a = owner(user);
	if (a)
		display_send_size(a); /* it may have changed since the request was made */
}

static void on_retry(uv_timer_t *timer);

/* Show the notice in the last row, which is drawn again afterwards. */
static void on_notice(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	unsigned cols, rows;
	char text[256], key[8] = "";
	a->away = true;
	if (a->mirror.on) {
		mirror_show_away(a);
		return;
	}
	if (a->covered)
		return;
	tty_size(&cols, &rows);
	if (a->options.detach_key >= 0)
		keyboard_name(a->options.detach_key, key);
	int n = snprintf(text, sizeof text,
		"\030\033\\\0337\033[m\033[%u;1H\033[7m %.*s \033[m\033[K", rows,
		(int)(cols > 3 ? cols - 3 : 1),
		a->options.detach_key >= 0
			? "ringside: the server is away; trying again"
			: "ringside: the server is away; trying again; send SIGTERM to leave");
	if (n > 0 && n < (int)sizeof text)
		tty_write(text, (size_t)n);
	if (key[0]) {
		n = snprintf(text, sizeof text, "\033[7m(%s detaches) \033[m", key);
		tty_write(text, (size_t)n);
	}
	a->dirty = a->noticed = true;
}

void socket_erase_notice(struct attachment *a)
{
	unsigned cols, rows;
	char text[32];
	if (!a->noticed)
		return;
	a->noticed = false;
	if (a->covered)
		return;
	tty_size(&cols, &rows);
	int n = snprintf(text, sizeof text, "\033[%u;1H\033[2K\0338", rows);
	if (n > 0 && n < (int)sizeof text)
		tty_write(text, (size_t)n);
}

static void try_later(struct attachment *a)
{
	a->pause_ms = a->pause_ms == 0 ? PAUSE_FIRST_MS : a->pause_ms * 2;
	if (a->pause_ms > PAUSE_MAX_MS)
		a->pause_ms = PAUSE_MAX_MS;
	uv_timer_start(&a->retry, on_retry, a->pause_ms, 0);
	if (!a->dirty && !uv_is_active((uv_handle_t *)&a->notice))
		uv_timer_start(&a->notice, on_notice, NOTICE_MS, 0);
}

static bool is_long_away(const struct attachment *a)
{
	return a->unconfirmed_since_ms > 0 &&
		uv_now(&a->cli->loop) - a->unconfirmed_since_ms > LONG_MS;
}

static void bell(void)
{
	tty_write("\a", 1);
}

void socket_send_input(struct attachment *a, const char *bytes, size_t length)
{
	/* The user knows that input is dropped. */
	if (is_long_away(a) || a->away)
		return;
	delivery_add(&a->delivery, bytes, length);
	if (a->socket && a->heard)
		client_socket_send(a->socket, true, bytes, length);
}

void socket_resume_input(struct attachment *a, int64_t taken)
{
	struct delivery *d = &a->delivery;
	bool lost = delivery_resume(d, taken >= 0, taken >= 0 ? (uint64_t)taken : 0);
	if (is_long_away(a))
		lost = delivery_forget(d) || lost;
	if (lost)
		bell();
	a->heard = true;
	a->away = false;
	a->unconfirmed_since_ms = 0;
	if (d->length > 0)
		client_socket_send(a->socket, true, d->bytes, d->length);
}

void socket_handle_receipt(struct attachment *a, int64_t taken)
{
	if (taken >= 0)
		delivery_receipt(&a->delivery, (uint64_t)taken);
}

/* Mark the attachment as disconnected. */
static void mark_disconnected(struct attachment *a)
{
	a->socket = NULL;
	a->heard = false;
	if (a->unconfirmed_since_ms == 0)
		a->unconfirmed_since_ms = uv_now(&a->cli->loop);
	a->ready = false;
	a->synced = a->synced && (a->drawn || a->mirror.on || a->passed);
	a->snapshot_left = 0;
}

static void on_closed(void *user, int code, const char *reason)
{
	struct attach_line *line = user;
	struct attachment *a = owner(line);
	line->socket = NULL;
	if (!a)
		return;
	mark_disconnected(a);
	if (a->over)
		return;
	switch (code) {
	case 4410:
	case -404:
		snprintf(a->reason, sizeof a->reason, "was deleted");
		attach_end_or_next(a, CLI_GONE, "deleted");
		return;
	case 4401:
	case -401:
	case -403:
		snprintf(a->reason, sizeof a->reason, "access was revoked");
		attach_end(a, CLI_FAILED, "refused");
		return;
	case 4409:
		snprintf(a->reason, sizeof a->reason, "was replaced by another connection");
		attach_end(a, CLI_FAILED, "replaced");
		return;
	case 1008:
	case 1011:
	case -400:
	case -429:
		snprintf(a->reason, sizeof a->reason, "cannot be attached: %.100s",
			*reason ? reason : "the server refuses");
		attach_end(a, CLI_FAILED, "refused");
		return;
	default:
		try_later(a);
	}
}

static const struct client_socket_callbacks callbacks = {.opened = on_opened,
	.text = on_text,
	.binary = on_binary,
	.drained = on_drained,
	.closed = on_closed};

static const char *find_user_name(void)
{
	const struct passwd *entry = getpwuid(geteuid());
	return entry && entry->pw_name[0] ? entry->pw_name : "terminal";
}

static void close_line(struct attach_line *line)
{
	if (line->socket)
		client_socket_close(line->socket);
	line->socket = NULL;
}

static int open_socket(struct attachment *a)
{
	struct attach_line *line = &a->lines[a->line == &a->lines[0]];
	line->a = a;
	close_line(line);
	unsigned cols, rows;
	char size[64] = "", resume[64] = "";
	char *path = NULL, *id = call_encode(a->session);
	char *name = call_encode(a->options.name ? a->options.name : find_user_name());
	display_size(a, &cols, &rows);
	if (display_may_resize(a))
		snprintf(size, sizeof size, "&cols=%u&rows=%u", cols, rows);
	if (a->synced)
		snprintf(resume, sizeof resume, "&epoch=%s&offset=%" PRIu64, a->epoch, a->offset);
	/* Never skip output for a terminal, however far it lags; a mirror needs no bytes. */
	const char *lag = a->mirror.on ? "65536" : "1099511627776";
	int rc = -ENOMEM;
	if (id && name &&
		asprintf(&path,
			"/ws/pty?sessionId=%s&name=%s&client=%s&typed=%" PRIu64
			"&scrollback=%d&lag=%s%s%s",
			id, name, a->client, a->delivery.taken,
			a->synced || a->mirror.on ? 0 : ATTACH_LINES, lag, size, resume) >= 0)
		rc = client_socket_open(a->cli->client, path, &callbacks, line, &line->socket);
	free(path);
	free(id);
	free(name);
	if (rc < 0)
		return rc;
	mark_disconnected(a);
	a->line = line;
	a->socket = line->socket;
	return 0;
}

static void on_retry(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	if (connection_probe(a->cli) < 0 || open_socket(a) < 0)
		try_later(a);
}

void socket_connect(struct attachment *a)
{
	if (open_socket(a) == 0)
		return;
	socket_disconnect(a);
	try_later(a);
}

void socket_close_old(struct attachment *a)
{
	for (size_t i = 0; i < 2; i++)
		if (&a->lines[i] != a->line)
			close_line(&a->lines[i]);
}

void socket_disconnect(struct attachment *a)
{
	close_line(&a->lines[0]);
	close_line(&a->lines[1]);
	mark_disconnected(a);
	uv_timer_stop(&a->retry);
	uv_timer_stop(&a->notice);
}

static void on_timeout(uv_timer_t *timer)
{
	struct attachment *a = timer->data;
	a->request_timed_out = true;
}

void socket_flush(struct attachment *a)
{
	bool over = a->over;
	a->request_timed_out = false;
	uv_timer_start(&a->cover, on_timeout, FLUSH_MS, 0);
	while (a->socket && a->delivery.length > 0 && !a->request_timed_out && a->over == over)
		uv_run(&a->cli->loop, UV_RUN_ONCE);
	uv_timer_stop(&a->cover);
}

/*
 * The connection of an attachment, and another in its place whenever it is lost: at once, then at growing intervals, for as
 * long as it takes; an absence that lasts is told on the terminal. It goes on from the byte that is next. A refusal, and the
 * end of the session, end the attachment.
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

#define PAUSE_FIRST_MS 50u /* before a lost connection is made again */
#define PAUSE_MAX_MS 2000u
#define NOTICE_MS 400u /* an absence that is shorter is not worth a word */

void socket_send(struct attachment *a, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	if (text && a->socket)
		client_socket_send(a->socket, false, text, strlen(text));
	free(text);
	json_decref(message);
}

static void on_drained(void *user)
{
	struct attachment *a = user;
	attach_read_input(a);
}

static void on_text(void *user, const char *text, size_t length)
{
	display_take_message(user, text, length);
}

static void on_binary(void *user, const void *bytes, size_t length)
{
	display_take_bytes(user, bytes, length);
}

static void on_opened(void *user)
{
	struct attachment *a = user;
	display_send_size(a); /* it may have changed since the request was made */
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

static void try_later(struct attachment *a)
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
		attach_end(a, CLI_GONE, "deleted");
		return;
	case 4401:
	case -401:
	case -403:
		snprintf(a->reason, sizeof a->reason, "may not be seen any more");
		attach_end(a, CLI_FAILED, "refused");
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

static int open_socket(struct attachment *a)
{
	unsigned cols, rows;
	char size[64] = "", resume[64] = "";
	char *path = NULL, *id = call_encode(a->session);
	char *name = call_encode(a->options.name ? a->options.name : find_user_name());
	tty_size(&cols, &rows);
	if (display_may_resize(a))
		snprintf(size, sizeof size, "&cols=%u&rows=%u", cols, rows);
	if (a->synced)
		snprintf(resume, sizeof resume, "&epoch=%s&offset=%" PRIu64, a->epoch, a->offset);
	/* As far behind as the history goes: a terminal is no place to leave something out. */
	int rc = -ENOMEM;
	if (id && name &&
		asprintf(&path, "/ws/pty?sessionId=%s&name=%s&scrollback=%d&lag=1099511627776%s%s",
			id, name, a->synced ? 0 : ATTACH_LINES, size, resume) >= 0)
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
		try_later(a);
}

void socket_connect(struct attachment *a)
{
	if (open_socket(a) < 0)
		try_later(a);
}

/*
 * Nothing is queued for a client. pump() asks, as long as the transport has room: what is this client to
 * be told next? Flags and versions say which messages are due, the cursor says which bytes.
 */
#include "ws/terminal.h"

#include "shell/clock.h"
#include "ws/request.h"
#include "ws/session_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static void pump(struct terminal *t);

int terminals_open(struct terminals *all, struct sessions *sessions, struct metrics *metrics)
{
	*all = (struct terminals){.sessions = sessions, .metrics = metrics};
	all->scratch = malloc(TERMINAL_HEADROOM + TERMINAL_FRAME_MAX + 1);
	return all->scratch ? 0 : -ENOMEM;
}

void terminals_close(struct terminals *all)
{
	free(all->scratch);
	all->scratch = NULL;
}

/* The query */

static struct refusal invalid(const char *message)
{
	return (struct refusal){.status = 400, .code = "VALIDATION_FAILED", .message = message};
}

/* A window that makes no sense is as good as none: the container's server takes any. */
static unsigned parse_side(const char *text)
{
	uint64_t side;
	return text && params_number(text, PRESENCE_SIDE_MAX, &side) ? (unsigned)side : 0;
}

static bool parse_epoch(const char *text, uint64_t *ret_epoch)
{
	char *end;
	if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
		return false;
	*ret_epoch = strtoull(text, &end, 16);
	return true;
}

struct refusal terminal_parse(char *const *params, size_t count, struct terminal_query *ret_query)
{
	struct terminal_query q = {.rows = parse_side(params_find(params, count, "rows")),
		.cols = parse_side(params_find(params, count, "cols"))};
	const char *id = params_find(params, count, "sessionId");
	const char *name = params_find(params, count, "name");
	const char *shell = params_find(params, count, "shell");
	const char *epoch = params_find(params, count, "epoch");
	const char *offset = params_find(params, count, "offset");
	if (!id || !*id)
		return invalid("sessionId query parameter required");
	if (!name_is_id(id))
		return invalid("sessionId is not a valid id");
	if (name && *name && !name_is_text(name))
		return invalid("name is not a valid name");
	if (shell && strlen(shell) >= sizeof q.shell)
		return invalid("shell is too long");
	if (epoch &&
		(!offset || !parse_epoch(epoch, &q.epoch) ||
			!params_number(offset, INT64_MAX, &q.offset)))
		return invalid("epoch and offset must both be given, as they were received");
	if (q.rows == 0 || q.cols == 0)
		q.rows = q.cols = 0;
	q.resume = epoch != NULL;
	snprintf(q.session, sizeof q.session, "%s", id);
	snprintf(q.name, sizeof q.name, "%s", name ? name : "");
	snprintf(q.shell, sizeof q.shell, "%s", shell ? shell : "");
	*ret_query = q;
	return (struct refusal){0};
}

struct refusal terminal_check(
	struct terminals *all, const struct terminal_query *q, const struct principal *principal)
{
	const struct session *s = sessions_find(all->sessions, q->session);
	uint64_t epoch = s && s->history_open ? s->link.info.epoch : 0;
	if (principal->session[0] && strcmp(principal->session, q->session) != 0)
		return (struct refusal){
			403, "PERMISSION_DENIED", "This link is for another session"};
	if (principal->session[0] && s && s->history_open && !auth_may_see(principal, s->id, epoch))
		return (struct refusal){
			404, "SESSION_NOT_FOUND", "The session of this link has been deleted"};
	if (!s && (q->resume || principal->role != ROLE_OWNER))
		return (struct refusal){404, "SESSION_NOT_FOUND", "There is no such session"};
	if (!s && sessions_count(all->sessions) >= all->sessions->config.max_sessions)
		return (struct refusal){429, "LIMIT_REACHED", "There are too many sessions"};
	if (s && s->presence.count >= TERMINAL_CLIENTS_MAX)
		return (struct refusal){429, "LIMIT_REACHED", "The session has too many clients"};
	return (struct refusal){0};
}

/* Telling */

static bool send_json(struct terminal *t, json_t *message)
{
	uint8_t *payload = t->all->scratch + TERMINAL_HEADROOM;
	size_t length = message
		? json_dumpb(message, (char *)payload, TERMINAL_FRAME_MAX, JSON_COMPACT)
		: 0;
	json_decref(message);
	/* What does not fit is a presence of hundreds with long names: better silent than broken. */
	if (length == 0 || length > TERMINAL_FRAME_MAX)
		return true;
	return t->transport->send(t->transport_user, payload, length, false);
}

static bool tell_attached(struct terminal *t)
{
	char epoch[17];
	const struct session *s = t->session;
	t->attached_told = true;
	snprintf(epoch, sizeof epoch, "%016" PRIx64, s->link.info.epoch);
	return send_json(t,
		json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:I, s:s, s:s, s:I, s:I}", "type",
			"attached", "sessionId", s->id, "epoch", epoch, "role",
			role_name(t->principal.role), "cols", (int)s->cols, "rows", (int)s->rows,
			"sizePolicy", size_policy_name(s->presence.policy), "clientId",
			(json_int_t)t->viewer.attendee.id, "name", s->name, "state",
			session_state_name(s->state), "oldest", (json_int_t)session_oldest(s),
			"offset", (json_int_t)session_head(s)));
}

/* From here on the client counts bytes. A snapshot of the screen will have its place before this. */
static bool tell_sync(struct terminal *t, struct history_size size)
{
	t->sync_told = true;
	json_t *m = json_pack("{s:s, s:I, s:i, s:i}", "type", "sync", "offset",
		(json_int_t)t->cursor.offset, "cols", (int)size.cols, "rows", (int)size.rows);
	if (t->skipped > 0)
		json_object_set_new(m, "skipped", json_integer((json_int_t)t->skipped));
	t->skipped = 0;
	return send_json(t, m);
}

static json_t *attendee_id(const struct attendee *a)
{
	return a ? json_integer((json_int_t)a->id) : json_null();
}

static bool tell_presence(struct terminal *t)
{
	const struct presence *p = &t->session->presence;
	json_t *clients = json_array();
	t->presence_told = p->version;
	for (const struct attendee *a = p->first; a; a = a->next)
		json_array_append_new(clients,
			json_pack("{s:I, s:s, s:i, s:s, s:o}", "id", (json_int_t)a->id, "name",
				a->name, "color", (int)a->color, "role", role_name(a->role),
				"typedAt", time_json(a->typed_ms)));
	return send_json(t,
		json_pack("{s:s, s:o, s:o, s:s}", "type", "presence", "clients", clients, "sizeBy",
			attendee_id(p->holder), "sizePolicy", size_policy_name(p->policy)));
}

static bool tell_size(struct terminal *t, struct history_size size)
{
	return send_json(t,
		json_pack("{s:s, s:i, s:i, s:I, s:o}", "type", "resize", "cols", (int)size.cols,
			"rows", (int)size.rows, "offset", (json_int_t)size.offset, "by",
			attendee_id(t->session->presence.holder)));
}

static bool tell_exit(struct terminal *t)
{
	json_t *m = session_exit_json(t->session);
	json_object_set_new(m, "type", json_string("exit"));
	return send_json(t, m);
}

static bool tell_ready(struct terminal *t)
{
	t->ready = t->viewer.attendee.ready = true;
	t->cursor.live_from = t->ready_at;
	return send_json(t, json_pack("{s:s}", "type", "ready"));
}

static bool tell_error(struct terminal *t)
{
	json_t *m = json_pack("{s:s, s:s, s:s}", "type", "error", "code", t->error_code, "message",
		t->error_message);
	t->error_code = NULL;
	return send_json(t, m);
}

static bool tell_pong(struct terminal *t)
{
	t->pong = false;
	json_t *m = json_pack(
		"{s:s, s:o}", "type", "pong", "t", json_loads(t->pong_time, JSON_DECODE_ANY, NULL));
	return send_json(t, m);
}

static bool tell_state(struct terminal *t)
{
	t->name_told = t->session->name_version;
	return send_json(t,
		json_pack("{s:s, s:s, s:s}", "type", "state", "name", t->session->name, "state",
			session_state_name(t->session->state)));
}

/* One message, if one is due. Returns 1 when one was sent, 0 when none is due, -1 when the peer is lost. */
static int tell_message(struct terminal *t)
{
	bool sent;
	if (t->error_code)
		sent = tell_error(t);
	else if (t->pong)
		sent = tell_pong(t);
	else if (!t->session)
		return 0;
	else if (!t->attached_told)
		sent = tell_attached(t);
	else if (!t->sync_told)
		sent = tell_sync(t, history_size_at(&t->session->history, &t->cursor));
	else if (!t->ready && t->cursor.offset >= t->ready_at)
		sent = tell_ready(t);
	else if (t->ready && t->presence_told != t->session->presence.version)
		sent = tell_presence(t);
	else if (t->ready && t->name_told != t->session->name_version)
		sent = tell_state(t);
	else
		return 0;
	return sent ? 1 : -1;
}

/* The next piece of the history. Returns bytes sent, or -1 when the peer is lost; *ret_more: there is more. */
static long tell_history(struct terminal *t, size_t room, bool *ret_more)
{
	uint8_t *payload = t->all->scratch + TERMINAL_HEADROOM;
	struct metrics *m = t->all->metrics;
	struct history_read r = session_read(t->session, &t->viewer, &t->cursor, payload, room);
	bool sent = true;
	*ret_more = r.item != HISTORY_NOTHING;
	switch (r.item) {
	case HISTORY_NOTHING:
		return 0;
	case HISTORY_BYTES:
		m->bytes_sent += r.length;
		sent = t->transport->send(t->transport_user, payload, r.length, true);
		break;
	case HISTORY_SIZE:
		sent = tell_size(t, r.size);
		break;
	case HISTORY_GAP:
		m->resyncs++;
		m->bytes_skipped += r.skipped;
		t->skipped += r.skipped;
		sent = tell_sync(t, r.size);
		break;
	case HISTORY_END:
		/* The end is told after `ready`, which is due first when both are. */
		sent = (t->ready || tell_ready(t)) && tell_exit(t);
		break;
	}
	return sent ? (long)r.length : -1;
}

/* Send what is due while there is room; one full frame at most, then others have their turn. */
static void pump(struct terminal *t)
{
	size_t sent = 0, room;
	while (!t->closing && (room = t->transport->room(t->transport_user)) > 0) {
		bool more = true;
		int told = tell_message(t);
		if (told < 0)
			return;
		if (told > 0)
			continue;
		if (!t->session || !t->sync_told)
			return;
		if (sent >= TERMINAL_FRAME_MAX) {
			t->transport->want(t->transport_user);
			return;
		}
		long n = tell_history(
			t, room < TERMINAL_FRAME_MAX ? room : TERMINAL_FRAME_MAX, &more);
		if (n < 0 || !more)
			return;
		sent += (size_t)n;
	}
}

void terminal_writable(struct terminal *t)
{
	pump(t);
}

/* The session's side */

static void close_transport(struct terminal *t, enum terminal_close code, const char *reason)
{
	if (t->closing)
		return;
	t->closing = true;
	t->transport->close(t->transport_user, code, reason);
}

static void on_more(void *user)
{
	pump(user);
}

static void on_changed(void *user)
{
	struct terminal *t = user;
	/* Not from here: whoever caused the change may be in the middle of something. */
	t->transport->want(t->transport_user);
}

static void on_gone(void *user, bool deleted)
{
	struct terminal *t = user;
	t->session = NULL;
	if (deleted)
		close_transport(t, CLOSE_SESSION_DELETED, "session deleted");
	else
		close_transport(t, CLOSE_GOING_AWAY, "server going away");
}

static void follow(struct terminal *t, struct session *s)
{
	bool resume = t->resume && t->epoch == s->link.info.epoch;
	t->session = s;
	t->name_told = s->name_version;
	t->skipped = history_seek(&s->history, &t->cursor, resume, t->offset);
	t->ready_at = history_limit(&s->history);
	session_attach(s, &t->viewer);
	pump(t);
}

static void forget(struct terminal *t)
{
	DL_DELETE(t->all->list, t);
	free(t);
}

static void on_started(void *user, struct session *s, enum report_stage stage, int error)
{
	struct terminal *t = user;
	t->waiting = false;
	if (t->closed) {
		forget(t);
		return;
	}
	if (error == 0 && auth_may_see(&t->principal, s->id, s->link.info.epoch)) {
		follow(t, s);
		return;
	}
	t->error_code = error == 0 ? "PERMISSION_DENIED" : "INTERNAL_ERROR";
	t->error_message = error == 0  ? "This link is for an earlier session of that id"
		: stage == REPORT_EXEC ? "The shell cannot be executed"
				       : "The session could not be started";
	pump(t);
	close_transport(t, CLOSE_INTERNAL, t->error_message);
}

/* The transport's side */

struct terminal *terminal_open(struct terminals *all, const struct terminal_query *q,
	const struct principal *principal, const struct terminal_transport *transport,
	void *transport_user)
{
	struct terminal *t = calloc(1, sizeof *t);
	bool created;
	if (!t)
		return NULL;
	t->all = all;
	t->transport = transport;
	t->transport_user = transport_user;
	t->principal = *principal;
	t->resume = q->resume;
	t->epoch = q->epoch;
	t->offset = q->offset;
	t->viewer = (struct session_viewer){
		.more = on_more,
		.changed = on_changed,
		.gone = on_gone,
		.user = t,
		.attendee = {.role = principal->role, .rows = q->rows, .cols = q->cols},
	};
	snprintf(t->viewer.attendee.name, sizeof t->viewer.attendee.name, "%s",
		*q->name ? q->name : "anonymous");
	DL_APPEND(all->list, t);
	t->waiter = (struct session_waiter){.done = on_started, .user = t};
	t->waiting = true;
	struct session_options o = {.id = q->session,
		.shell = *q->shell ? q->shell : NULL,
		.rows = q->rows,
		.cols = q->cols};
	int rc = sessions_get_or_create(all->sessions, &o, &t->waiter, &created);
	if (rc < 0) {
		t->waiting = false;
		t->error_code = "INTERNAL_ERROR";
		t->error_message = "The session could not be started";
		pump(t);
		close_transport(t, CLOSE_INTERNAL, t->error_message);
	}
	return t;
}

static void refuse(struct terminal *t, const char *code, const char *message)
{
	t->error_code = code;
	t->error_message = message;
	pump(t);
}

void terminal_input(struct terminal *t, const void *bytes, size_t length)
{
	if (t->closing || length == 0)
		return;
	if (t->principal.role == ROLE_VIEWER) {
		t->all->metrics->viewer_input_refused++;
		refuse(t, "READ_ONLY", "This link may only watch: input is refused");
		return;
	}
	int rc = t->session ? session_type(t->session, &t->viewer, bytes, length) : -EAGAIN;
	if (rc == -EAGAIN)
		refuse(t, "NOT_READY", "The session is still starting: input is refused");
	else if (rc == -ENOBUFS)
		refuse(t, "INPUT_OVERFLOW", "Too much input waits for a program to read it");
	else if (rc < 0)
		refuse(t, "SESSION_TERMINATED", "The session has ended: input is refused");
}

void terminal_control(struct terminal *t, const char *text, size_t length)
{
	struct message m;
	if (t->closing)
		return;
	if (length > MESSAGE_MAX) {
		t->all->metrics->control_invalid++;
		refuse(t, "VALIDATION_FAILED", "The control message is too long");
		return;
	}
	message_parse(text, length, &m);
	switch (m.type) {
	case MESSAGE_INVALID:
		t->all->metrics->control_invalid++;
		refuse(t, "VALIDATION_FAILED", "Invalid control message");
		break;
	case MESSAGE_BAD_SIZE:
		t->all->metrics->control_invalid++;
		refuse(t, "VALIDATION_FAILED", "Invalid dimensions: cols and rows must be positive");
		break;
	case MESSAGE_BAD_NAME:
		t->all->metrics->control_invalid++;
		refuse(t, "VALIDATION_FAILED", "Invalid name");
		break;
	case MESSAGE_RESIZE:
		if (t->session)
			session_window(t->session, &t->viewer, m.rows, m.cols);
		else
			t->viewer.attendee.rows = m.rows, t->viewer.attendee.cols = m.cols;
		break;
	case MESSAGE_PING:
		t->pong = true;
		snprintf(t->pong_time, sizeof t->pong_time, "%s", m.time);
		pump(t);
		break;
	case MESSAGE_NAME:
		if (t->session)
			session_rename_viewer(t->session, &t->viewer, m.name);
		break;
	case MESSAGE_ACK:
	case MESSAGE_UNKNOWN:
		break;
	}
}

void terminal_close(struct terminal *t)
{
	t->closing = true;
	if (t->session)
		session_detach(t->session, &t->viewer);
	t->session = NULL;
	if (t->waiting)
		t->closed = true; /* freed when the session has started or failed */
	else
		forget(t);
}

void terminals_revoke(struct terminals *all, const char *link)
{
	struct terminal *t, *next;
	DL_FOREACH_SAFE (all->list, t, next)
		if (strcmp(t->principal.link, link) == 0)
			close_transport(t, CLOSE_ACCESS_ENDED, "access revoked");
}

void terminals_expire(struct terminals *all, uint64_t now_ms)
{
	struct terminal *t, *next;
	DL_FOREACH_SAFE (all->list, t, next)
		if (t->principal.expires_ms > 0 && t->principal.expires_ms <= now_ms)
			close_transport(t, CLOSE_ACCESS_ENDED, "access expired");
}

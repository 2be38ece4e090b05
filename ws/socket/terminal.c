/* Terminal sockets: checks queries, attaches to sessions, processes what clients send. */
#include "ws/socket/terminal_internal.h"

#include "shell/clock.h"
#include "shell/hash.h"
#include "shell/own_error.h"
#include "shell/session/type.h"
#include "ws/error.h"
#include "ws/request.h"
#include "ws/json/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

int terminals_open(struct terminals *all, struct sessions *sessions, struct metrics *metrics)
{
	*all = (struct terminals){.sessions = sessions, .metrics = metrics};
	all->scratch = malloc(FRAMES_HEADROOM + FRAMES_PAYLOAD_MAX + 1);
	if (!all->scratch)
		return -ENOMEM;
	return terminal_refresh_init(all);
}

void terminals_close(struct terminals *all)
{
	free(all->scratch);
	all->scratch = NULL;
	uv_close((uv_handle_t *)&all->refresh, NULL);
}

void terminals_send_drain(struct terminals *all)
{
	struct terminal *t, *next;
	DL_FOREACH_SAFE (all->list, t, next)
		terminal_pump(t);
}

static struct refusal check_own(
	struct terminals *all, const struct terminal_query *q, const struct principal *principal)
{
	if (principal->role != ROLE_OWNER || principal->session[0])
		return (struct refusal){403, "PERMISSION_DENIED", "Only the owner may do that"};
	if (!all->maker.check)
		return (struct refusal){
			501, "NOT_IMPLEMENTED", "Sandboxes are not available on this server"};
	if (sessions_count(all->sessions) >= all->sessions->config.max_sessions)
		return (struct refusal){429, "LIMIT_REACHED", "There are too many sessions"};
	return all->maker.check(all->maker.user, q);
}

struct refusal terminal_check(
	struct terminals *all, const struct terminal_query *q, const struct principal *principal)
{
	if (q->sandbox[0])
		return check_own(all, q, principal);
	const struct session *s = sessions_find(all->sessions, q->session);
	uint64_t epoch = s ? session_epoch(s) : 0;
	if (principal->session[0] && strcmp(principal->session, q->session) != 0)
		return (struct refusal){
			403, "PERMISSION_DENIED", "This link is for another session"};
	if (principal->session[0] && s && session_is_readable(s) &&
		!auth_may_see(principal, session_id(s), epoch))
		return (struct refusal){
			404, "SESSION_NOT_FOUND", "The session of this link has been deleted"};
	if (!s && (q->resume || principal->role != ROLE_OWNER))
		return (struct refusal){404, "SESSION_NOT_FOUND", "There is no such session"};
	if (!s && sessions_count(all->sessions) >= all->sessions->config.max_sessions)
		return (struct refusal){429, "LIMIT_REACHED", "There are too many sessions"};
	if (principal->answers && !(s && session_prompt_is_open(s, &principal->prompt)))
		return (struct refusal){
			403, "PERMISSION_DENIED", "The prompt has been answered, or is no more"};
	if (s && session_presence(s)->count >= TERMINAL_CLIENTS_MAX)
		return (struct refusal){429, "LIMIT_REACHED", "The session has too many clients"};
	return (struct refusal){0};
}

/* The session's side */

void terminal_end(struct terminal *t, enum close_code code, const char *reason)
{
	if (t->closing)
		return;
	t->closing = true;
	t->transport->close(t->transport_user, code, reason);
}

static void on_more(void *user)
{
	terminal_pump(user);
}

static void on_changed(void *user)
{
	struct terminal *t = user;
	/* Not from here: the function that caused the change may not have finished. */
	t->transport->want(t->transport_user);
}

static void on_gone(void *user, bool deleted)
{
	struct terminal *t = user;
	terminal_drop_snapshot(t);
	terminal_drop_paste(t);
	t->session = NULL;
	/* The server ends: the session has no client any more, and ends by itself. */
	if (!deleted)
		t->own_id[0] = '\0';
	if (deleted)
		terminal_end(t, CLOSE_SESSION_DELETED, "session deleted");
	else
		terminal_end(t, CLOSE_GOING_AWAY, "server going away");
}

/* The session keeps the size that it has. */
static void tell_size_refused(struct terminal *t)
{
	if (t->session->size_refused && !t->own)
		terminal_refuse(t, "LIMIT_REACHED",
			"There is no memory for a screen of that size: the screens of all sessions together have as much as they may");
}

/* Close the client's earlier connection, if it still seems alive: input on its way by that would come twice. */
static void replace_before(struct terminal *t, struct session *s)
{
	struct terminal *other, *next;
	DL_FOREACH_SAFE (t->all->list, other, next) {
		if (other == t || other->session != s || other->viewer.key != t->viewer.key)
			continue;
		terminal_drop_snapshot(other);
		terminal_drop_paste(other);
		session_detach(s, &other->viewer);
		other->session = NULL;
		terminal_end(other, CLOSE_REPLACED, "the client has connected again");
	}
}

/* Restore how much of the client's input was read, as far as the session knows; otherwise as the client says. */
static void restore_input(struct terminal *t, struct session *s)
{
	replace_before(t, s);
	(void)session_find_typed(s, &t->viewer, &t->viewer.typed);
	t->input_told = t->viewer.typed;
}

static void follow(struct terminal *t, struct session *s)
{
	if (t->viewer.key > 0)
		restore_input(t, s);
	bool resume = t->resume && t->epoch == session_epoch(s);
	t->session = s;
	t->name_told = s->name_version;
	t->title_told = s->title_version;
	t->lease_told = 0;
	t->journal_told = session_journal(s)->count;
	t->restarts_told = s->restarts;
	t->resume = resume;
	/* The rest, if the ring still has all of it; otherwise a snapshot. */
	t->skipped = history_seek(session_history(s), &t->cursor, resume, t->offset);
	t->ready_at = history_limit(session_history(s));
	t->sync_told = t->own != NULL; /* its client gets all bytes from the first on */
	if (!t->own && (!resume || t->skipped > 0 || t->cursor.offset != t->offset))
		terminal_want_snapshot(t, SNAPSHOT_ATTACH);
	if (t->lines > s->table->config.scrollback)
		t->lines = s->table->config.scrollback;
	session_attach(s, &t->viewer);
	session_use_theme(s, &t->viewer, terminal_lease(t));
	terminal_pump(t);
	if (t->session)
		tell_size_refused(t);
	terminal_release_held(t);
}

/* End the session that the client has of its own. */
static void end_own(struct terminal *t)
{
	struct session *s = t->own && t->own_id[0] ? sessions_find(t->all->sessions, t->own_id)
						   : NULL;
	if (s)
		sessions_end(t->all->sessions, s, NULL);
	if (t->own && t->own_id[0])
		t->all->maker.over(t->all->maker.user, t->own, t->own_id);
	free(t->own);
	t->own = NULL;
}

static void forget(struct terminal *t)
{
	end_own(t);
	terminal_drop_snapshot(t);
	DL_DELETE(t->all->list, t);
	terminal_drop_paste(t);
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
	if (error == 0 && auth_may_see(&t->principal, session_id(s), session_epoch(s))) {
		follow(t, s);
		return;
	}
	t->error_code = error == 0 ? "PERMISSION_DENIED" : "INTERNAL_ERROR";
	t->error_message = error == 0  ? "This link is for an earlier session of that id"
		: stage == REPORT_EXEC ? "The shell cannot be executed"
				       : "The session could not be started";
	terminal_pump(t);
	terminal_end(t, CLOSE_INTERNAL, t->error_message);
}

/* The transport's side */

static int create_own(struct terminal *t, const struct terminal_query *q)
{
	struct terminals *all = t->all;
	struct terminal_private *own = calloc(1, sizeof *own);
	int rc = -ENOMEM;
	t->own = malloc(sizeof *t->own);
	if (own && t->own) {
		*t->own = *q;
		rc = all->maker.make(all->maker.user, q, own) ? 0 : -ERR_LIMIT;
	}
	if (rc == 0) {
		memcpy(t->own_id, own->id, sizeof t->own_id);
		rc = sessions_create(all->sessions, &own->options, &t->waiter);
	}
	free(own);
	return rc;
}

/* A key that depends on the credentials, so that ids of different principals do not collide. Never 0. */
static uint64_t key_of(const char *author, const char *id)
{
	uint64_t key = hash_text(hash_text(hash_text(HASH_START, author), "\n"), id);
	return key > 0 ? key : 1;
}

struct terminal *terminal_open(struct terminals *all, const struct terminal_query *q,
	const struct principal *principal, const struct frames_transport *transport,
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
	t->lines = q->lines;
	t->lag = q->lag;
	pace_init(&t->pace, q->acks);
	t->blocks = q->blocks && !principal->answers;
	t->viewer = (struct session_viewer){
		.more = on_more,
		.changed = on_changed,
		.gone = on_gone,
		.user = t,
		.waits = q->sandbox[0] != '\0',
		.attendee = {.role = principal->role, .rows = q->rows, .cols = q->cols},
	};
	auth_author(principal, t->viewer.attendee.author);
	if (*q->client)
		t->viewer.key = key_of(t->viewer.attendee.author, q->client);
	if (*q->person)
		t->viewer.attendee.person_key = key_of(t->viewer.attendee.author, q->person);
	t->viewer.typed = q->typed;
	snprintf(t->viewer.attendee.name, sizeof t->viewer.attendee.name, "%s",
		*q->name ? q->name : "anonymous");
	DL_APPEND(all->list, t);
	t->waiter = (struct session_waiter){.done = on_started, .user = t};
	t->waiting = true;
	struct session_options o = {.id = q->session,
		.shell = *q->shell ? q->shell : NULL,
		.rows = q->rows,
		.cols = q->cols};
	int rc = q->sandbox[0] ? create_own(t, q)
			       : sessions_get_or_create(all->sessions, &o, &t->waiter, &created);
	if (rc < 0) {
		t->waiting = false;
		t->error_code = error_code_of(rc);
		t->error_message = rc == -ERR_UNRESPONSIVE || rc == -EMFILE || rc == -ERR_DRAINING
			? error_text(rc)
			: "The session could not be started";
		terminal_pump(t);
		terminal_end(t, CLOSE_INTERNAL, t->error_message);
	}
	return t;
}

static void apply_window(struct terminal *t, unsigned rows, unsigned cols)
{
	if (!t->session)
		t->viewer.attendee.rows = rows, t->viewer.attendee.cols = cols;
	else if (!session_set_window(t->session, &t->viewer, terminal_lease(t), rows, cols))
		terminal_refuse(t, "LEASED",
			"The session is leased to another client: the window size counts when the lease ends");
	else
		tell_size_refused(t);
}

static void on_text(void *self, const char *text, size_t length)
{
	struct terminal *t = self;
	struct message m;
	if (t->closing)
		return;
	if (length > MESSAGE_MAX) {
		t->all->metrics->control_invalid++;
		terminal_refuse(t, "VALIDATION_FAILED", "The control message is too long");
		return;
	}
	message_parse(text, length, &m);
	switch (m.type) {
	case MESSAGE_INVALID:
		t->all->metrics->control_invalid++;
		terminal_refuse(t, "VALIDATION_FAILED", "Invalid control message");
		break;
	case MESSAGE_BAD_SIZE:
		t->all->metrics->control_invalid++;
		terminal_refuse(t, "VALIDATION_FAILED",
			"Invalid dimensions: cols and rows must be positive");
		break;
	case MESSAGE_BAD_NAME:
		t->all->metrics->control_invalid++;
		terminal_refuse(t, "VALIDATION_FAILED", "Invalid name");
		break;
	case MESSAGE_BAD_THEME:
		t->all->metrics->control_invalid++;
		terminal_refuse(t, "VALIDATION_FAILED",
			"Invalid theme: foreground, background, cursor and 16 colors have the form #rrggbb");
		break;
	case MESSAGE_THEME:
		t->viewer.has_theme = !t->principal.answers;
		t->viewer.theme = m.theme;
		if (t->session)
			session_use_theme(t->session, &t->viewer, terminal_lease(t));
		break;
	case MESSAGE_RESIZE:
		apply_window(t, m.rows, m.cols);
		break;
	case MESSAGE_PING:
		t->pong = true;
		snprintf(t->pong_time, sizeof t->pong_time, "%s", m.time);
		terminal_pump(t);
		break;
	case MESSAGE_NAME:
		if (t->session)
			session_rename_viewer(t->session, &t->viewer, m.name);
		break;
	case MESSAGE_SNAPSHOT:
		t->lines = m.scrollback;
		if (t->session && t->ready && !t->own) {
			terminal_want_snapshot(t, SNAPSHOT_REQUEST);
			terminal_pump(t);
		}
		break;
	case MESSAGE_LEASE:
		memcpy(t->lease, m.lease, sizeof t->lease);
		t->lease_told = UINT64_MAX; /* send whether it is valid */
		if (t->session)
			terminal_pump(t);
		if (t->session && terminal_lease(t) && t->viewer.attendee.later_rows > 0)
			apply_window(
				t, t->viewer.attendee.later_rows, t->viewer.attendee.later_cols);
		break;
	case MESSAGE_BAD_PASTE:
		t->all->metrics->control_invalid++;
		terminal_end(t, CLOSE_POLICY, "invalid paste");
		break;
	case MESSAGE_PASTE:
		terminal_begin_paste(t, &m);
		break;
	case MESSAGE_PASTE_END:
		terminal_end_paste(t, m.paste);
		break;
	case MESSAGE_ACK:
		pace_acked(&t->pace, m.bytes, uv_now(t->all->sessions->loop));
		if (t->pace.active)
			terminal_pump(t);
		break;
	case MESSAGE_UNKNOWN:
		break;
	}
}

static void on_closed(void *self)
{
	struct terminal *t = self;
	t->closing = true;
	terminal_drop_paste(t);
	if (t->session)
		session_detach(t->session, &t->viewer);
	t->session = NULL;
	if (t->waiting)
		t->closed = true; /* freed when the session has started or failed */
	else
		forget(t);
}

static void on_writable(void *self)
{
	terminal_pump(self);
}

static void on_too_big(void *self)
{
	terminal_end(self, CLOSE_TOO_BIG, "message too big");
}

const struct frames_protocol terminal_protocol = {
	.message_max = TERMINAL_MESSAGE_MAX,
	.text_max = MESSAGE_MAX,
	.writable = on_writable,
	.binary = terminal_take_input,
	.text = on_text,
	.too_big = on_too_big,
	.closed = on_closed,
};

void terminals_revoke(struct terminals *all, const char *link)
{
	struct terminal *t, *next;
	DL_FOREACH_SAFE (all->list, t, next)
		if (strcmp(t->principal.link, link) == 0)
			terminal_end(t, CLOSE_ACCESS_ENDED, "access revoked");
}

void terminals_log_out(struct terminals *all, const char *login)
{
	struct terminal *t, *next;
	DL_FOREACH_SAFE (all->list, t, next)
		if (strcmp(t->principal.login, login) == 0)
			terminal_end(t, CLOSE_ACCESS_ENDED, "logged out");
}

void terminals_sweep(struct terminals *all)
{
	struct terminal *t, *next;
	DL_FOREACH_SAFE (all->list, t, next)
		if (!t->waiting)
			(void)terminal_end_answered(t); /* it closes the connection itself */
}

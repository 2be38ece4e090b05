/*
 * A follower has a place in the history, and one piece of it: each is announced, with its length and the cursor behind it, and
 * follows as bytes. Whoever stops reading costs that piece, and hears that the ring has gone over its place.
 *
 * Order: ready, then truncated and pieces as they are, then exit and 1000; or an error, and 1008 or 1011.
 */
#include "ws/socket/follower.h"

#include "shell/json_read.h"
#include "shell/session/type.h"
#include "ws/request.h"
#include "ws/socket/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <utlist.h>

struct follower {
	struct follower *prev, *next;
	struct followers *all;
	const struct frames_transport *transport;
	void *transport_user;
	struct principal principal;
	char peer[LIMITER_PEER_MAX];
	char id[NAME_ID_MAX + 1];
	struct session *session; /* NULL: there is none, or none any more */
	struct session_viewer viewer;
	struct history_cursor cursor;
	bool resumes;
	uint64_t offset; /* that it resumes at */
	bool ready, closing;
	size_t piece;         /* bytes that have been announced; 0: there are none */
	uint8_t *bytes;       /* FOLLOWER_PIECE, with headroom; owned */
	json_t *error;        /* a message that is due; owned */
	enum close_code code; /* with which it is closed behind that; 0: it is not */
	struct asked *asked;
	unsigned asked_count;
};

/* A request of a client's. */
struct asked {
	struct asked *prev, *next;
	struct follower *follower;
	struct request *request; /* our reference */
};

int followers_open(struct followers *all, struct dispatcher *dispatcher, struct metrics *metrics,
	const char *incarnation)
{
	*all = (struct followers){
		.dispatcher = dispatcher, .metrics = metrics, .incarnation = incarnation};
	all->scratch = malloc(FRAMES_HEADROOM + FRAMES_PAYLOAD_MAX);
	return all->scratch ? 0 : -ENOMEM;
}

void followers_close(struct followers *all)
{
	free(all->scratch);
	all->scratch = NULL;
}

/* The query */

static unsigned parse_side(const char *text)
{
	uint64_t side;
	return text && params_number(text, PRESENCE_SIDE_MAX, &side) ? (unsigned)side : 0;
}

struct refusal follower_parse(char *const *params, size_t count, const char *incarnation,
	struct follower_query *ret_query)
{
	struct follower_query q = {.rows = parse_side(params_find(params, count, "rows")),
		.cols = parse_side(params_find(params, count, "cols"))};
	const char *id = params_find(params, count, "terminalId");
	const char *expected = params_find(params, count, "runtimeIncarnationID");
	const char *cursor = params_find(params, count, "cursor");
	if (!id || !*id)
		return (struct refusal){
			400, "VALIDATION_FAILED", "terminalId query parameter required"};
	if (!expected || strcmp(expected, incarnation) != 0)
		return (struct refusal){409, "STALE_TERMINAL_HANDLE",
			"The terminal is of another runtime: its incarnation does not match"};
	if (q.rows == 0 || q.cols == 0)
		q.rows = q.cols = 0;
	snprintf(q.id, sizeof q.id, "%s", name_is_id(id) ? id : "");
	q.resumes = cursor && *cursor;
	q.strange = q.resumes && !cursor_parse(cursor, q.id, &q.offset);
	*ret_query = q;
	return (struct refusal){0};
}

struct refusal follower_check(
	const struct followers *all, const struct follower_query *q, const struct principal *p)
{
	const struct session *s = sessions_find(all->dispatcher->sessions, q->id);
	if (p->answers)
		return (struct refusal){403, "PERMISSION_DENIED", "This link only answers a prompt"};
	if (p->session[0] &&
		(strcmp(p->session, q->id) != 0 ||
			(s && session_is_readable(s) &&
				!auth_may_see(p, session_id(s), session_epoch(s)))))
		return (struct refusal){
			403, "PERMISSION_DENIED", "This link is for another session"};
	if (s && session_presence(s)->count >= TERMINAL_CLIENTS_MAX)
		return (struct refusal){429, "LIMIT_REACHED", "The session has too many clients"};
	return (struct refusal){0};
}

/* The end */

static void close_transport(struct follower *f, enum close_code code, const char *reason)
{
	if (f->closing)
		return;
	f->closing = true;
	f->transport->close(f->transport_user, code, reason);
}

/* Say that something is wrong; code: and close then, 0: go on. What is due already goes first. */
static void tell_error(
	struct follower *f, const char *code, const char *message, enum close_code close)
{
	if (f->closing || f->code)
		return;
	json_decref(f->error);
	f->error = json_pack("{s:s, s:s}", "type", "error", "message", message);
	if (code)
		json_object_set_new(f->error, "code", json_string(code));
	f->code = close;
	f->transport->want(f->transport_user);
}

/* Messages */

static bool send_json(struct follower *f, json_t *message)
{
	uint8_t *payload = f->all->scratch + FRAMES_HEADROOM;
	char *text = json_dumps(message, JSON_COMPACT);
	size_t length = text ? strlen(text) : 0;
	json_decref(message);
	if (!text || length > FRAMES_PAYLOAD_MAX) {
		free(text);
		close_transport(f, CLOSE_INTERNAL, "out of memory");
		return false;
	}
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): a frame has a length */
	memcpy(payload, text, length);
	free(text);
	return f->transport->send(f->transport_user, payload, length, FRAME_TEXT);
}

static json_t *cursor_json(const struct follower *f, uint64_t offset)
{
	char text[CURSOR_SIZE];
	cursor_format(f->id, offset, text);
	return json_string(text);
}

static bool tell_ready(struct follower *f)
{
	json_t *m = json_pack("{s:s}", "type", "ready");
	f->ready = true;
	if (m && f->resumes)
		json_object_set_new(m, "cursor", cursor_json(f, f->offset));
	return send_json(f, m);
}

static bool tell_exit(struct follower *f)
{
	const struct session *s = f->session;
	int status = s->exit_status, signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	json_t *m = json_pack("{s:s, s:o}", "type", session_end_is_known(s->end) ? "exit" : "error",
		"cursor", cursor_json(f, f->cursor.offset));
	if (!session_end_is_known(s->end)) {
		json_object_set_new(
			m, "message", json_string("How the program has ended is not known"));
	} else {
		json_t *exit = json_pack("{s:i, s:b}", "code",
			signal ? 128 + signal : WEXITSTATUS(status), "timedOut", 0);
		if (signal)
			json_object_set_new(exit, "signal", json_integer(signal));
		json_object_set_new(m, "exit", exit);
	}
	bool sent = send_json(f, m);
	if (session_end_is_known(s->end))
		close_transport(f, CLOSE_NORMAL, "Terminal exited");
	else
		close_transport(f, CLOSE_INTERNAL, "Terminal error");
	return sent;
}

/* The history */

/* The next thing of it. Returns 1 when something was sent, 0 when there is nothing, -1 when the peer is lost. */
static int tell_history(struct follower *f)
{
	uint8_t *to = f->bytes + FRAMES_HEADROOM;
	struct history_read r = history_read(
		session_history(f->session), &f->cursor, to, FOLLOWER_PIECE);
	switch (r.item) {
	case HISTORY_BYTES:
		f->piece = r.length;
		return send_json(f,
			       json_pack("{s:s, s:o, s:I}", "type", "chunk", "cursor",
				       cursor_json(f, f->cursor.offset), "byteLength",
				       (json_int_t)r.length))
			? 1
			: -1;
	case HISTORY_GAP:
		f->all->metrics->bytes_skipped += r.skipped;
		return send_json(f, json_pack("{s:s}", "type", "truncated")) ? 1 : -1;
	case HISTORY_END:
		return tell_exit(f) ? 1 : -1;
	case HISTORY_SIZE:
		return 1;
	case HISTORY_NOTHING:
		break;
	}
	return 0;
}

static bool send_piece(struct follower *f)
{
	size_t length = f->piece;
	f->piece = 0;
	f->all->metrics->bytes_sent += length;
	return f->transport->send(
		f->transport_user, f->bytes + FRAMES_HEADROOM, length, FRAME_BINARY);
}

/* An error, and what follows it. */
static bool send_error(struct follower *f)
{
	json_t *m = f->error;
	f->error = NULL;
	bool sent = send_json(f, m);
	if (f->code)
		close_transport(f, f->code, "see the error");
	return sent;
}

/* Send while there is room; a full frame at most, then others have their turn. */
static void pump(struct follower *f)
{
	size_t sent = 0;
	bool all = false;
	while (!f->closing && f->transport->room(f->transport_user) >= f->piece + !f->piece) {
		bool good = true;
		int told = 1;
		if (sent >= FRAMES_PAYLOAD_MAX) {
			f->transport->want(f->transport_user);
			break;
		}
		if (f->piece > 0) {
			sent += f->piece;
			good = send_piece(f);
		} else if (f->error) {
			good = send_error(f);
		} else if (f->session && !f->ready) {
			good = tell_ready(f);
		} else if (f->session) {
			told = tell_history(f);
			good = told >= 0;
		} else {
			told = 0;
		}
		if (!good)
			f->closing = true;
		all = told == 0;
		if (all)
			break;
	}
	f->viewer.offset = f->cursor.offset;
	if (all && f->session)
		f->viewer.taken_ms = uv_now(f->all->dispatcher->sessions->loop);
}

/* The session's side */

static void on_more(void *user)
{
	pump(user);
}

static void on_changed(void *user)
{
	(void)user;
}

static void on_gone(void *user, bool deleted)
{
	struct follower *f = user;
	f->session = NULL;
	close_transport(f, deleted ? CLOSE_SESSION_DELETED : CLOSE_GOING_AWAY,
		deleted ? "session deleted" : "server going away");
}

static void follow(struct follower *f, struct session *s, const struct follower_query *q)
{
	f->session = s;
	history_place(session_history(s), &f->cursor, q->resumes ? q->offset : 0);
	session_attach(s, &f->viewer);
	f->transport->want(f->transport_user);
}

struct follower *follower_open(struct followers *all, const struct follower_query *q,
	const struct principal *principal, const char *peer,
	const struct frames_transport *transport, void *transport_user)
{
	struct follower *f = calloc(1, sizeof *f);
	struct session *s = sessions_find(all->dispatcher->sessions, q->id);
	if (f)
		f->bytes = malloc(FRAMES_HEADROOM + FOLLOWER_PIECE);
	if (!f || !f->bytes) {
		free(f);
		return NULL;
	}
	f->all = all;
	f->transport = transport;
	f->transport_user = transport_user;
	f->principal = *principal;
	f->resumes = q->resumes;
	f->offset = q->offset;
	snprintf(f->peer, sizeof f->peer, "%s", peer);
	snprintf(f->id, sizeof f->id, "%s", q->id);
	f->viewer = (struct session_viewer){.more = on_more,
		.changed = on_changed,
		.gone = on_gone,
		.user = f,
		.attendee = {.role = principal->role, .rows = q->rows, .cols = q->cols}};
	auth_author(principal, f->viewer.attendee.author);
	snprintf(f->viewer.attendee.name, sizeof f->viewer.attendee.name, "anonymous");
	DL_APPEND(all->list, f);
	if (!s || !session_is_readable(s) || s->state == SESSION_ENDING ||
		!auth_may_see(principal, session_id(s), session_epoch(s)))
		tell_error(f, "TERMINAL_NOT_FOUND", "Terminal not found", CLOSE_POLICY);
	else if (q->strange)
		tell_error(f, "INVALID_TERMINAL_CURSOR", "The cursor is none of this terminal",
			CLOSE_INTERNAL);
	else if (q->resumes && q->offset > session_head(s))
		tell_error(f, "INVALID_TERMINAL_CURSOR", "The cursor is from the future",
			CLOSE_INTERNAL);
	else
		follow(f, s, q);
	return f;
}

/* What clients say */

static void on_binary(void *self, const void *bytes, size_t length)
{
	struct follower *f = self;
	if (f->closing || length == 0 || !f->session)
		return;
	if (f->principal.role == ROLE_VIEWER) {
		f->all->metrics->viewer_input_refused++;
		tell_error(f, "READ_ONLY", "This link may only watch: input is refused", 0);
		return;
	}
	int rc = session_type(f->session, &f->viewer, NULL, bytes, length);
	if (rc < 0)
		tell_error(f,
			rc == -EACCES            ? "LEASED"
				: rc == -ENOBUFS ? "INPUT_OVERFLOW"
						 : "SESSION_TERMINATED",
			rc == -EACCES            ? "Somebody else has leased the session"
				: rc == -ENOBUFS ? "Too much input waits for a program to read it"
						 : "The terminal has ended: input is refused",
			0);
}

static void end_asked(struct asked *a)
{
	struct follower *f = a->follower;
	struct request *r = a->request;
	DL_DELETE(f->asked, a);
	f->asked_count--;
	free(a);
	request_abandon(r);
}

/* What is refused is told; what has been done shows. */
static void on_answered(void *user)
{
	struct asked *a = user;
	struct follower *f = a->follower;
	const struct reply *reply = &a->request->reply;
	if (reply->status >= 400) {
		json_t *body = json_read(reply->body, reply->length, JSON_ALLOW_NUL, NULL);
		const char *code = json_string_value(json_object_get(body, "code"));
		const char *message = json_string_value(json_object_get(body, "message"));
		tell_error(f, code, message ? message : "It could not be done", 0);
		json_decref(body);
	}
	end_asked(a);
}

/* A request about the session, as over HTTP. body: taken. */
static void ask(struct follower *f, const char *what, json_t *body)
{
	static const struct request_transport transport = {.answered = on_answered};
	char path[NAME_ID_MAX + 32];
	struct asked *a = f->asked_count < FOLLOWER_ASKED_MAX ? calloc(1, sizeof *a) : NULL;
	struct request *r = a ? request_create() : NULL;
	snprintf(path, sizeof path, "/api/session/%s/%s", f->id, what);
	if (r) {
		r->path = strdup(path);
		r->body = strdup("");
	}
	if (!r || !r->path || !r->body) {
		if (r)
			request_unref(r);
		free(a);
		json_decref(body);
		tell_error(f, "LIMIT_REACHED", "Too many requests are under way", 0);
		return;
	}
	r->method = METHOD_POST;
	r->json = body;
	r->principal = f->principal;
	r->auth = AUTH_OK;
	snprintf(r->peer, sizeof r->peer, "%s", f->peer);
	r->transport = &transport;
	r->transport_user = a;
	a->follower = f;
	a->request = r;
	DL_APPEND(f->asked, a);
	f->asked_count++;
	dispatcher_handle(f->all->dispatcher, r);
}

static unsigned side_of(const json_t *message, const char *name)
{
	const json_t *value = json_object_get(message, name);
	double side = json_number_value(value);
	return json_is_number(value) && side >= 1 && side <= PRESENCE_SIDE_MAX ? (unsigned)side : 0;
}

static void resize(struct follower *f, const json_t *message)
{
	unsigned cols = side_of(message, "cols"), rows = side_of(message, "rows");
	if (cols == 0 || rows == 0)
		tell_error(f, "VALIDATION_FAILED", "Invalid control message", 0);
	else if (f->session && !session_window(f->session, &f->viewer, NULL, rows, cols))
		tell_error(f, "LEASED",
			"Somebody else has leased the session: the window counts when that is over",
			0);
}

static void on_text(void *self, const char *text, size_t length)
{
	struct follower *f = self;
	if (f->closing || f->code)
		return;
	json_t *message = text && length <= FOLLOWER_CONTROL_MAX
		? json_read(text, length, JSON_REJECT_DUPLICATES, NULL)
		: NULL;
	const char *type = json_string_value(json_object_get(message, "type"));
	if (type && strcmp(type, "resize") == 0)
		resize(f, message);
	else if (type && strcmp(type, "interrupt") == 0)
		ask(f, "signal", json_pack("{s:s}", "signal", "INT"));
	else if (type && strcmp(type, "terminate") == 0)
		ask(f, "terminate", json_object());
	else
		tell_error(f, "VALIDATION_FAILED", "Invalid control message", 0);
	if (!type)
		f->all->metrics->control_invalid++;
	json_decref(message);
}

/* The transport's side */

static void on_writable(void *self)
{
	pump(self);
}

static void on_too_big(void *self)
{
	close_transport(self, CLOSE_TOO_BIG, "message too big");
}

static void on_closed(void *self)
{
	struct follower *f = self;
	f->closing = true;
	while (f->asked)
		end_asked(f->asked); /* NOLINT(clang-analyzer-*): it leaves the list */
	if (f->session)
		session_detach(f->session, &f->viewer);
	DL_DELETE(f->all->list, f);
	json_decref(f->error);
	free(f->bytes);
	free(f);
}

const struct frames_protocol follower_protocol = {
	.message_max = FOLLOWER_MESSAGE_MAX,
	.text_max = FOLLOWER_CONTROL_MAX,
	.writable = on_writable,
	.binary = on_binary,
	.text = on_text,
	.too_big = on_too_big,
	.closed = on_closed,
};

void followers_expire(struct followers *all, uint64_t now_ms)
{
	struct follower *f, *next;
	DL_FOREACH_SAFE (all->list, f, next)
		if (f->principal.expires_ms > 0 && f->principal.expires_ms <= now_ms)
			close_transport(f, CLOSE_ACCESS_ENDED, "access expired");
}

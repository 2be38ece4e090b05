/*
 * A call is a request that is not over. It waits, begins, and then is answered or streams. Calls with something to send
 * are in the list `line`; each sends one message in its turn.
 */
#include "ws/socket/control_socket.h"

#include "ws/socket/control_frame.h"
#include "ws/socket/control_message.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

enum call_state {
	CALL_WAITING,   /* not begun */
	CALL_BEGUN,     /* a handler has it */
	CALL_ANSWERED,  /* its reply is to be sent */
	CALL_STREAMING, /* its events are sent while they come */
};

/* A request that is not over. */
struct call {
	UT_hash_handle hh;        /* in control->calls, by id */
	struct call *prev, *next; /* in control->waiting or control->line */
	struct control_socket *control;
	struct request *request; /* our reference */
	enum call_state state;
	bool in_line;    /* in control->line */
	bool cancelled;  /* end the stream */
	bool quiet;      /* an empty event is due that keeps the stream alive */
	unsigned silent; /* sweeps since it last sent something */
	char id[CONTROL_ID_MAX + 1];
};

/* An error to be sent. */
struct pending_error {
	struct pending_error *prev, *next;
	const char *code, *message; /* literals */
	char id[];                  /* "" = of no request */
};

struct control_socket {
	struct control_socket *prev, *next;
	struct control_sockets *all;
	const struct frames_transport *transport;
	void *transport_user;
	struct principal principal;
	char peer[LIMITER_PEER_MAX];
	struct call *calls;           /* table */
	struct call *waiting;         /* list: not begun */
	struct call *line;            /* list: have something to send */
	struct pending_error *errors; /* list */
	size_t errors_count;
	size_t bodies;              /* bytes of all calls' bodies */
	size_t replies;             /* bytes of replies that wait */
	struct control_message now; /* being sent */
	bool busy;                  /* pump() will be called anyway */
	bool closing;
};

int control_sockets_open(
	struct control_sockets *all, struct dispatcher *dispatcher, struct metrics *metrics)
{
	*all = (struct control_sockets){.dispatcher = dispatcher, .metrics = metrics};
	all->scratch = malloc(FRAMES_HEADROOM + FRAMES_PAYLOAD_MAX);
	return all->scratch ? 0 : -ENOMEM;
}

void control_sockets_close(struct control_sockets *all)
{
	free(all->scratch);
	all->scratch = NULL;
}

static void close_transport(struct control_socket *c, enum close_code code, const char *reason)
{
	if (c->closing)
		return;
	c->closing = true;
	c->transport->close(c->transport_user, code, reason);
}

/* Errors */

static void send_error(
	struct control_socket *c, const char *id, const char *code, const char *message)
{
	size_t size = strlen(id) + 1;
	struct pending_error *e = NULL;
	if (c->errors_count < CONTROL_REFUSALS_MAX)
		e = malloc(sizeof *e + size);
	if (!e) {
		close_transport(c, CLOSE_POLICY, "errors are not read");
		return;
	}
	e->code = code;
	e->message = message;
	memcpy(e->id, id, size);
	DL_APPEND(c->errors, e);
	c->errors_count++;
	c->all->metrics->control_errors++;
}

static void drop_error(struct control_socket *c, struct pending_error *e)
{
	DL_DELETE(c->errors, e);
	c->errors_count--;
	free(e);
}

/* Calls */

static struct call *find_call(struct control_socket *c, const char *id)
{
	struct call *call;
	HASH_FIND_STR(c->calls, id, call);
	return call;
}

/* Append the call to the line. */
static void call_line_up(struct call *call)
{
	struct control_socket *c = call->control;
	if (call->in_line || c->closing)
		return;
	call->in_line = true;
	DL_APPEND(c->line, call);
	if (!c->busy)
		c->transport->want(c->transport_user);
}

static void call_leave_line(struct call *call)
{
	if (!call->in_line)
		return;
	call->in_line = false;
	/* The first one has a next, or is alone. */
	assert(call != call->control->line || call->next || call->prev == call);
	DL_DELETE(call->control->line, call);
}

/* End the call. Its request is abandoned, and freed unless another reference exists. */
static void call_end(struct call *call)
{
	struct control_socket *c = call->control;
	struct request *r = call->request;
	if (call->state == CALL_WAITING)
		DL_DELETE(c->waiting, call);
	if (call->state == CALL_STREAMING)
		c->all->metrics->streams--;
	call_leave_line(call);
	HASH_DEL(c->calls, call);
	c->bodies -= r->body_length;
	free(call);
	request_abandon(r);
}

static void on_answered(void *user)
{
	struct call *call = user;
	call->state = CALL_ANSWERED;
	call->control->replies += call->request->reply.length;
	call_line_up(call);
}

static void on_streaming(void *user)
{
	struct call *call = user;
	call->state = CALL_STREAMING;
	call->control->all->metrics->streams++;
	call_line_up(call);
}

static void on_more(void *user)
{
	struct call *call = user;
	if (call->state == CALL_STREAMING)
		call_line_up(call);
}

static const struct request_transport request_transport = {
	.answered = on_answered, .streaming = on_streaming, .more = on_more};

static void begin_waiting(struct control_socket *c)
{
	while (c->waiting && c->replies < CONTROL_REPLIES_MAX && !c->closing) {
		struct call *call = c->waiting;
		DL_DELETE(c->waiting, call);
		call->state = CALL_BEGUN;
		dispatcher_handle(c->all->dispatcher, call->request);
	}
}

/* Sending */

/* Make the next message of a call; *m stays empty when there is none. */
static void call_next_message(struct call *call, struct control_message *m)
{
	struct control_socket *c = call->control;
	struct request *r = call->request;
	call_leave_line(call);
	if (call->state == CALL_ANSWERED) {
		c->replies -= r->reply.length;
		control_message_reply(m, call->id, request_ref(r));
		call_end(call);
		return;
	}
	char *event = call->cancelled ? NULL : r->stream.next(r->stream.user);
	if (!event && !call->cancelled && !r->stream_complete && !call->quiet)
		return;
	if (!event && (call->cancelled || r->stream_complete)) {
		control_message_end(m, call->id);
		call_end(call);
		return;
	}
	/* Without an event an empty one is sent to keep the stream alive; clients ignore it. */
	if (control_message_event(m, call->id, event ? event : "") < 0) {
		send_error(c, call->id, "STREAM_ERROR", "An event could not be sent");
		call_end(call);
	} else {
		call->quiet = false;
		call->silent = 0;
		if (event || r->stream_complete)
			call_line_up(call);
	}
	free(event);
}

/* Make the next message; c->now stays empty when there is none. */
static void next_message(struct control_socket *c)
{
	while (control_message_is_empty(&c->now)) {
		if (c->errors) {
			const struct pending_error *e = c->errors;
			control_message_error(&c->now, e->id, e->code, e->message);
			drop_error(c, c->errors);
		} else if (c->line) {
			call_next_message(c->line, &c->now);
		} else {
			return;
		}
		begin_waiting(c);
		if (c->now.failed) {
			close_transport(c, CLOSE_INTERNAL, "out of memory");
			return;
		}
	}
}

/* Send while there is room. */
static void pump(struct control_socket *c)
{
	size_t sent = 0, room;
	while (!c->closing && (room = c->transport->room(c->transport_user)) > 0) {
		if (sent >= CONTROL_TURN_MAX) {
			c->transport->want(c->transport_user);
			return;
		}
		next_message(c);
		if (c->closing || control_message_is_empty(&c->now))
			return;
		uint8_t *payload = c->all->scratch + FRAMES_HEADROOM;
		enum frame_kind kind;
		size_t length = control_message_next_piece(&c->now, payload,
			room < FRAMES_PAYLOAD_MAX ? room : FRAMES_PAYLOAD_MAX, &kind);
		if (!c->transport->send(c->transport_user, payload, length, kind)) {
			c->closing = true;
			return;
		}
		sent += length;
	}
}

static void on_writable(void *self)
{
	struct control_socket *c = self;
	c->busy = true;
	pump(c);
	c->busy = false;
}

/* Receiving */

static struct call *create_call(struct control_socket *c, const struct control_frame *f)
{
	struct call *call = calloc(1, sizeof *call);
	struct request *r = call ? request_create() : NULL;
	char *body = r ? malloc(f->body_length + 1) : NULL;
	if (!body) {
		free(call);
		if (r)
			request_unref(r);
		return NULL;
	}
	/* The body of a GET is ignored, as over HTTP. */
	size_t length = f->method == METHOD_GET ? 0 : f->body_length;
	if (length > 0)
		memcpy(body, f->body, length);
	body[length] = '\0';
	r->body = body;
	r->body_length = length;
	r->method = f->method;
	r->principal = c->principal;
	r->auth = AUTH_OK;
	r->transport = &request_transport;
	r->transport_user = call;
	snprintf(r->peer, sizeof r->peer, "%s", c->peer);
	request_set_session_header(r, f->session);
	r->accepts_events = f->accepts_events;
	call->control = c;
	call->request = r;
	snprintf(call->id, sizeof call->id, "%s", f->id);
	return call;
}

/* The largest body of the request's route. */
static size_t body_most(const struct control_socket *c, const struct control_frame *f)
{
	struct route_match m = {0};
	char path[128];
	snprintf(path, sizeof path, "%.*s", (int)strcspn(f->target, "?"), f->target);
	route_parse(&c->all->dispatcher->routes, f->method, path, &m);
	return m.row && m.row->body_max > 0 ? m.row->body_max : REQUEST_BODY_MAX;
}

static void receive_request(struct control_socket *c, const struct control_frame *f)
{
	if (f->body_length > REQUEST_BODY_MAX && f->body_length > body_most(c, f)) {
		send_error(c, f->id, "REQUEST_TOO_LARGE", "The request's body is too large");
		return;
	}
	if (HASH_COUNT(c->calls) >= CONTROL_PENDING_MAX ||
		c->bodies + f->body_length > CONTROL_BODIES_MAX) {
		send_error(c, f->id, "LIMIT_REACHED", "Too many requests are under way");
		return;
	}
	struct call *call = create_call(c, f);
	if (call)
		HASH_ADD_STR(c->calls, id, call);
	if (call && !call->hh.tbl) {
		request_abandon(call->request);
		free(call);
		call = NULL;
	}
	if (!call) {
		send_error(c, f->id, "OUT_OF_MEMORY", "Out of memory");
		return;
	}
	c->bodies += call->request->body_length;
	DL_APPEND(c->waiting, call);
	int rc = request_parse_target(call->request, f->target);
	if (rc == 0)
		return;
	call_end(call);
	send_error(c, f->id,
		rc == -EINVAL          ? "INVALID_REQUEST"
			: rc == -E2BIG ? "REQUEST_TOO_LARGE"
				       : "OUT_OF_MEMORY",
		rc == -EINVAL          ? "path has an invalid percent-encoding"
			: rc == -E2BIG ? "The query has too many parameters"
				       : "Out of memory");
}

static void receive_cancel(struct control_socket *c, const struct control_frame *f)
{
	struct call *call = find_call(c, f->id);
	if (!call)
		return; /* it may have just ended */
	if (call->state == CALL_WAITING) {
		call_end(call);
		send_error(c, f->id, "OPERATION_INTERRUPTED", "Cancelled before it began");
		return;
	}
	/* A call that does not stream continues and is answered, so that its result is known. */
	call->cancelled = true;
	if (call->state == CALL_STREAMING)
		call_line_up(call);
}

static void receive(struct control_socket *c, const struct control_frame *f)
{
	c->busy = true;
	/* An error with the id of a pending request would end that, so the id is omitted. */
	bool taken = f->type != CONTROL_CANCEL && find_call(c, f->id);
	if (f->type == CONTROL_INVALID)
		send_error(c, taken ? "" : f->id, f->code, f->message);
	else if (f->type == CONTROL_CANCEL)
		receive_cancel(c, f);
	else if (taken)
		send_error(c, "", "INVALID_REQUEST", "A request with this id is under way");
	else
		receive_request(c, f);
	begin_waiting(c);
	pump(c);
	c->busy = false;
}

static void on_text(void *self, const char *text, size_t length)
{
	struct control_socket *c = self;
	struct control_frame f;
	if (c->closing)
		return;
	control_frame_parse(text, length, &f);
	receive(c, &f);
	control_frame_free(&f);
}

static void *on_read(const char *text, size_t length)
{
	struct control_frame *f = malloc(sizeof *f);
	if (f)
		control_frame_parse(text, length, f);
	return f;
}

static void on_forget(void *sense)
{
	if (sense)
		control_frame_free(sense);
	free(sense);
}

static void on_take(void *self, void *sense, const char *text, size_t length)
{
	struct control_socket *c = self;
	(void)text; /* the frame's body points into it */
	(void)length;
	if (!sense)
		close_transport(c, CLOSE_INTERNAL, "out of memory");
	else if (!c->closing)
		receive(c, sense);
	on_forget(sense);
}

static void on_too_big(void *self)
{
	struct control_socket *c = self;
	if (!c->closing && control_message_is_empty(&c->now)) {
		send_error(c, "", "REQUEST_TOO_LARGE", "The message is too large");
		pump(c);
	}
	close_transport(c, CLOSE_TOO_BIG, "message too big");
}

static void on_closed(void *self)
{
	struct control_socket *c = self;
	struct call *call, *next;
	c->closing = true;
	DL_DELETE(c->all->list, c);
	HASH_ITER (hh, c->calls, call, next)
		call_end(call);
	while (c->errors)
		drop_error(c, c->errors);
	control_message_finish(&c->now);
	c->all->metrics->control_sockets--;
	free(c);
}

const struct frames_protocol control_socket_protocol = {
	.message_max = CONTROL_MESSAGE_MAX,
	.text_max = CONTROL_MESSAGE_MAX,
	.writable = on_writable,
	.text = on_text,
	.read = on_read,
	.take = on_take,
	.forget = on_forget,
	.too_big = on_too_big,
	.closed = on_closed,
};

struct control_socket *control_socket_open(struct control_sockets *all,
	const struct principal *principal, const char *peer,
	const struct frames_transport *transport, void *transport_user)
{
	struct control_socket *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->all = all;
	c->transport = transport;
	c->transport_user = transport_user;
	c->principal = *principal;
	snprintf(c->peer, sizeof c->peer, "%s", peer);
	DL_APPEND(all->list, c);
	all->metrics->control_sockets++;
	return c;
}

void control_sockets_sweep(struct control_sockets *all, unsigned quiet_s)
{
	struct control_socket *c, *next_socket;
	DL_FOREACH_SAFE (all->list, c, next_socket) {
		struct call *call, *next;
		HASH_ITER (hh, c->calls, call, next) {
			if (call->state != CALL_STREAMING || call->silent++ < quiet_s)
				continue;
			call->quiet = true;
			call_line_up(call);
		}
	}
}

void control_sockets_revoke(struct control_sockets *all, const char *link)
{
	struct control_socket *c;
	DL_FOREACH (all->list, c)
		if (strcmp(c->principal.link, link) == 0)
			close_transport(c, CLOSE_ACCESS_ENDED, "access revoked");
}

void control_sockets_log_out(struct control_sockets *all, const char *login)
{
	struct control_socket *c;
	DL_FOREACH (all->list, c)
		if (strcmp(c->principal.login, login) == 0)
			close_transport(c, CLOSE_ACCESS_ENDED, "logged out");
}
